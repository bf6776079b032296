"""Count the known cuts and dissolves of a made film that are found, and those that are exact.

    python benchmarks/accuracy/exact_cuts.py --minutes 100

The camera pans and shakes, things move, the light drifts and the sensor is noisy: a cut is not the
only change.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

Pixels = NDArray[np.uint8]

RATE = 25
SIZE = (320, 180)
DISSOLVE_SECONDS = 1.2


@dataclass(frozen=True)
class Truth:
    """What was put into the film.

    Attributes
    ----------
    n_frames : int
        Length of the film.
    cuts : tuple of int
        First frame of every scene that starts with a hard cut.
    dissolves : tuple of (int, int)
        First mixed frame and first frame of the new scene alone.
    """

    n_frames: int
    cuts: tuple[int, ...]
    dissolves: tuple[tuple[int, int], ...]


def plan_film(*, minutes: float, n_cuts: int, n_dissolves: int, seed: int) -> Truth:
    """Choose scenes of varying length, and which of them start with a cut."""
    rng = np.random.default_rng(seed)
    n_frames = round(minutes * 60 * RATE)
    n_scenes = n_cuts + n_dissolves + 1
    lengths = 0.25 + rng.exponential(size=n_scenes)
    starts = np.round(np.cumsum(lengths)[:-1] / lengths.sum() * n_frames).astype(int)
    fades = set(rng.choice(len(starts), n_dissolves, replace=False).tolist())
    half = round(DISSOLVE_SECONDS * RATE / 2)
    return Truth(
        n_frames,
        tuple(int(start) for k, start in enumerate(starts) if k not in fades),
        tuple(
            (int(start) - half, int(start) + half) for k, start in enumerate(starts) if k in fades
        ),
    )


class Scene:
    """One place, filmed by a moving camera."""

    def __init__(self, rng: np.random.Generator) -> None:
        width, height = SIZE
        shape = (height * 3 // 2, width * 3 // 2)
        colors = rng.uniform(20, 235, (3, 3))
        fine, coarse = (
            _texture(rng, shape, width=w) for w in (rng.uniform(1.5, 5), rng.uniform(12, 50))
        )
        if rng.random() < 0.4:
            # Rows of windows, shelves, fields: regular structures.
            rows, columns = np.mgrid[: shape[0], : shape[1]]
            fine = 0.5 + 0.5 * np.sin(
                (rows * rng.normal() + columns * rng.normal()) / rng.uniform(3, 12)
            )
        mix = colors[0] + coarse[..., None] * (colors[1] - colors[0])
        mix = mix + 0.5 * fine[..., None] * (colors[2] - mix)
        self.place = np.clip(mix, 0, 255).astype(np.uint8)
        self.slack = np.asarray([shape[0] - height, shape[1] - width]) / 2
        self.periods = rng.uniform(6, 40, 2) * RATE
        self.phases = rng.uniform(0, 2 * np.pi, 2)
        self.things = [
            (
                rng.uniform(0, 255, 3),
                rng.integers(10, 50, 2),
                rng.uniform(-1.5, 1.5, 2),
                rng.uniform(0, 999, 2),
            )
            for _ in range(3)
        ]
        self.light = rng.uniform(5, 30) * RATE
        self.shake = rng.integers(-2, 3, (4096, 2))
        self.noise = rng.integers(-6, 7, (8, height, width, 3)).astype(np.int16)

    def frame(self, number: int) -> Pixels:
        """Return one frame."""
        width, height = SIZE
        swing = np.sin(2 * np.pi * number / self.periods + self.phases)
        top, left = np.clip(
            np.round(self.slack * (1 + 0.9 * swing)).astype(int) + self.shake[number % 4096],
            0,
            2 * self.slack,
        ).astype(int)
        pixels = self.place[top : top + height, left : left + width].astype(np.int16)
        for color, (tall, wide), speed, origin in self.things:
            y, x = ((origin + speed * number) % (height + tall, width + wide)).astype(int)
            pixels[max(0, y - tall) : y, max(0, x - wide) : x] = color.astype(np.int16)
        pixels += self.noise[number % 8] + round(8 * np.sin(number / self.light))
        return np.clip(pixels, 0, 255).astype(np.uint8)


def _texture(
    rng: np.random.Generator, shape: tuple[int, int], *, width: float
) -> NDArray[np.float64]:
    smooth = gaussian_filter(rng.normal(size=shape), width)
    low, high = np.quantile(smooth, [0.02, 0.98])
    return np.clip((smooth - low) / (high - low), 0, 1)


def film_frames(truth: Truth, *, seed: int) -> Iterator[Pixels]:
    """Yield all frames of the film."""
    rng = np.random.default_rng([seed, 1])
    ends = dict(truth.dissolves)
    scene, old, since, until = Scene(rng), None, 0, 0
    cuts = set(truth.cuts)
    for number in range(truth.n_frames):
        if number in cuts:
            scene, old = Scene(rng), None
        elif number in ends:
            scene, old, since, until = Scene(rng), scene, number, ends[number]
        pixels = scene.frame(number)
        if old is not None and number < until:
            share = (number - since + 1) / (until - since + 1)
            pixels = np.round((1 - share) * old.frame(number) + share * pixels).astype(np.uint8)
        yield pixels


def write_film(path: Path, truth: Truth, *, seed: int, codec: str) -> None:
    """Encode the film."""
    options = (
        {"preset": "ultrafast", "crf": "28", "g": "250"} if codec == "libx264" else {"g": "250"}
    )
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=RATE, options=options)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_type = "AUTO"
        for pixels in film_frames(truth, seed=seed):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        container.mux(stream.encode())


def main() -> None:
    """Make the film if it is not there, segment it, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=100.0)
    parser.add_argument("--cuts", type=int, default=30)
    parser.add_argument("--dissolves", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--codec", default="libx264", help="libx264 or mpeg4")
    parser.add_argument(
        "--every", type=float, help="seconds between frames; the default of dayline if not given"
    )
    parser.add_argument("--model", default="lite0")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/exact-cuts"))
    options = parser.parse_args()

    options.folder.mkdir(parents=True, exist_ok=True)
    what = f"{options.minutes:g}-{options.cuts}-{options.dissolves}-{options.seed}-{options.codec}"
    film = options.folder / f"film-{what}.mp4"
    truth = plan_film(
        minutes=options.minutes,
        n_cuts=options.cuts,
        n_dissolves=options.dissolves,
        seed=options.seed,
    )
    if not film.exists():
        begun = time.monotonic()
        unfinished = film.with_name(f"unfinished-{film.name}")
        write_film(unfinished, truth, seed=options.seed, codec=options.codec)
        unfinished.rename(film)
        print(
            f"film made in {(time.monotonic() - begun) / 60:.1f} min,"
            f" {film.stat().st_size / 1e6:.0f} MB"
        )
    report = options.folder / f"report-{what}.json"
    # Pictures of an earlier run would be reused, and their time would be missing.
    shutil.rmtree(report.with_suffix(""), ignore_errors=True)
    # A process of its own, so that its peak memory is that of dayline alone.
    command = [
        sys.executable,
        __file__,
        "--segment",
        str(film),
        str(report),
        options.model,
        str(options.every or 0),
    ]
    subprocess.run(command, check=True)
    print_figures(truth, json.loads(report.read_text()))


def segment(film: Path, report: Path, model: str, every: float) -> None:
    """Segment the film and write what the figures are made of; runs in its own process."""
    from dayline.album.segment import segment_source
    from dayline.album.write import write_result

    stages: dict[str, float] = {}
    last = {"what": "frames listed", "at": time.monotonic()}

    def on_step(what: str, _done: int, _total: int) -> None:
        now = time.monotonic()
        stages[last["what"]] = stages.get(last["what"], 0.0) + now - last["at"]
        last.update(what=what, at=now)

    result = segment_source(film, model=model, every=every or None, on_step=on_step)
    on_step("written", 0, 1)
    write_result(result, report.with_suffix(""), formats=("webvtt",), on_step=on_step)
    on_step("", 0, 1)
    found = result.segmentation
    report.write_text(
        json.dumps(
            {
                "starts": [event.start_time for event in found.events[1:]],
                "step": float(np.median(np.diff(found.times))),
                "n_frames": found.n_frames,
                "stages": stages,
                "notes": found.notes,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
    )


def print_figures(truth: Truth, report: dict) -> None:
    """Print what was found, what is exact, and what it cost."""
    starts, step = np.asarray(report["starts"]), report["step"]
    print(
        f"{truth.n_frames / RATE / 60:g} min, {report['n_frames']} frames looked at, {len(starts)}"
        " boundaries"
    )
    used: set[int] = set()
    exact, off = 0, []
    for cut in truth.cuts:
        nearest = int(np.argmin(np.abs(starts - cut / RATE))) if len(starts) else -1
        if nearest < 0 or abs(starts[nearest] - cut / RATE) > step:
            continue
        used.add(nearest)
        error = round((starts[nearest] - cut / RATE) * RATE)
        exact += error == 0
        off += [] if error == 0 else [(cut, error)]
    n_found = len(used)
    print(
        f"hard cuts: {n_found} of {len(truth.cuts)} found within {step:.1g} s, {exact} of these"
        " exact to the frame"
    )
    for cut, error in off:
        print(f"  the cut at frame {cut} is off by {error} frames")
    dissolved = [
        (first, end)
        for first, end in truth.dissolves
        if np.any((starts >= first / RATE - step) & (starts <= end / RATE + step))
    ]
    print(
        f"dissolves: {len(dissolved)} of {len(truth.dissolves)} found, a boundary within them or"
        f" {step:.1g} s"
    )
    print(f"boundaries elsewhere: {len(starts) - n_found - len(dissolved)}")
    for what, seconds in report["stages"].items():
        print(f"  {what:20s} {seconds / 60:6.2f} min")
    print(
        f"all {sum(report['stages'].values()) / 60:.2f} min, peak memory"
        f" {report['peak'] / 2**30:.2f} GiB"
    )
    for note in report["notes"]:
        print(f"note: {note}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--segment"]:
        segment(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], float(sys.argv[5]))
    else:
        main()
