"""How well the offset of two cameras' clocks is found, and how often one that is not there.

    python benchmarks/album/two_cameras.py [--worlds 4] [--seed 0] [--folder PHOTOS]

Two people spend days at made places (photographs of the demo, seen from changing angles in changing
light). They are together for about two thirds of the visits, and each takes a photo every minute or
two; camera b has other colors and another field of view. The clock of camera b is right, or 47
minutes, -1, 2 or 13 hours ahead. As a control, the two people never meet and see different places.
With --folder, the photos of a folder are dealt out to two cameras.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dayline.album.extraction import FrameReader, features_of, read_source
from dayline.album.settings import Settings
from dayline.features.extract import extract_features, load_extractor
from dayline.media.clocks import ClockOffset, clock_offset
from dayline.research.datasets.photostream import PLACES, open_photographs, take_photo, visit

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
OFFSETS = {"right": 0.0, "47 min": 47 * MINUTE, "-1 h": -HOUR, "2 h": 2 * HOUR, "13 h": 13 * HOUR}
CAMERA_B = np.asarray([1.06, 1.0, 0.9])

World = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def photos(
    rng: np.random.Generator, n_days: int, *, together: float
) -> Iterator[tuple[float, int, np.ndarray]]:
    """Yield time, camera and pixels of each photo."""
    places = list(PLACES)
    pictures = {name: open_photographs(name)[0] for name in places}
    alone = set(places[: len(places) // 2])  # where only the first person goes, if they never meet
    for day in range(n_days):
        moment = day * DAY + 9 * HOUR + rng.uniform(0, HOUR)
        while moment < day * DAY + 19 * HOUR:
            n_photos = int(rng.integers(8, 22))
            meets = rng.random() < together
            first = str(rng.choice(places if together else sorted(alone)))
            other = (
                first
                if meets
                else str(
                    rng.choice([p for p in places if p != first and (together or p not in alone)])
                )
            )
            glances = {
                camera: visit(n_photos, zoom=PLACES[p].zoom, rng=rng)
                for camera, p in ((0, first), (1, other))
            }
            for k in range(n_photos):
                camera = int(rng.random() < 0.5)
                glance = glances[0 if meets else camera][k]
                pixels = np.asarray(
                    take_photo(pictures[other if camera else first], glance, rng=rng),
                    dtype=np.float32,
                )
                if camera:
                    margin = pixels.shape[1] // 8
                    pixels = 255 * (pixels[:, margin:-margin] / 255) ** 0.85 * CAMERA_B
                yield moment, camera, np.clip(pixels, 0, 255).astype(np.uint8)
                moment += rng.uniform(20, 100)
            moment += rng.uniform(3, 25) * MINUTE


def world(seed: int, n_days: int, *, together: float, model: str) -> World:
    """Return the times and features of the photos of each camera, on one clock."""
    made = list(photos(np.random.default_rng([seed, n_days]), n_days, together=together))
    features = extract_features([pixels for _, _, pixels in made], load_extractor(model))
    times, cameras = (np.asarray([photo[k] for photo in made]) for k in (0, 1))
    return split(times, cameras, features)


def split(times: np.ndarray, cameras: np.ndarray, features: np.ndarray) -> World:
    """Deal out photos to their cameras."""
    a, b = cameras == 0, cameras == 1
    return times[a], features[a], times[b], features[b]


def real(folder: Path, seed: int, model: str) -> World:
    """Deal out the photos of a folder at random."""
    sequence = read_source(folder, FrameReader(load_extractor(model, threads=1)), Settings())
    cameras = np.random.default_rng(seed).integers(0, 2, sequence.n_frames)
    return split(np.asarray(sequence.times), cameras, features_of(sequence))


def row(name: str, found: list[tuple[float, ClockOffset | None]]) -> str:
    """Format a row of the table: offsets found, errors, and clocks corrected wrongly."""
    corrected = [(true, 0.0 if o is None else o.correction) for true, o in found]
    n_found = sum(true != 0 and value != 0 for true, value in corrected)
    errors = [abs(value - true) for true, value in corrected if true != 0 and value != 0]
    wrong = sum(abs(value - true) > 300 and value != 0 for true, value in corrected)
    n_wrong = sum(true != 0 for true, _ in corrected)
    median = f"{np.median(errors):.0f} s" if errors else "-"
    largest = f"{max(errors):.0f} s" if errors else "-"
    return (
        f"| {name} | {n_found} of {n_wrong} | {median} | {largest} | {wrong} of {len(corrected)} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="lite0")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()

    print("| days | offsets found | median error | largest error | corrected wrongly |")
    print("| --- | --- | --- | --- | --- |")
    for name, n_days, together in (
        ("one day", 1, 0.65),
        ("three days", 3, 0.65),
        ("never together", 1, 0.0),
    ):
        found = []
        for seed in range(options.seed, options.seed + options.worlds):
            a, x, b, y = world(seed, n_days, together=together, model=options.model)
            offsets = OFFSETS.values() if together else (0.0,)
            found.extend((offset, clock_offset(a, x, b + offset, y)) for offset in offsets)
        print(row(name, found), flush=True)
    if options.folder is not None:
        a, x, b, y = real(options.folder, options.seed, options.model)
        print(
            row(options.folder.name, [(o, clock_offset(a, x, b + o, y)) for o in OFFSETS.values()])
        )


if __name__ == "__main__":
    main()
