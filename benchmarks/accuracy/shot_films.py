"""Make films whose shots and scenes are known, from code and the demo's photographs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter

from dayline.research.datasets.photostream import PHOTOGRAPHS

Pixels = NDArray[np.float32]
Generator = np.random.Generator

RATE = 25
WIDTH, HEIGHT = 256, 144


@dataclass(frozen=True)
class Transition:
    """Frames `first` .. `last`, one of which begins a new shot; equal at a hard cut."""

    first: int
    last: int


@dataclass(frozen=True)
class Film:
    """A film and what is known about it.

    Attributes
    ----------
    kind : str
    frames : list of ndarray of uint8, shape (HEIGHT, WIDTH, 3)
    shots : list of Transition
        Where shots begin, but for the first.
    scenes : list of int or None
        First frames of scenes but the first; None if the kind has no scenes that people would
        agree on.
    """

    kind: str
    frames: list[NDArray[np.uint8]]
    shots: list[Transition]
    scenes: list[int] | None = None


@dataclass
class Reel:
    """Shots joined one after the other, and where they begin."""

    frames: list[Pixels]
    shots: list[Transition]

    def add(self, shot: Sequence[Pixels], *, mixed: int = 0) -> int:
        """Append a shot by a hard cut, or a dissolve of so many mixed frames; return its start."""
        if not self.frames:
            self.frames += shot
            return 0
        start = len(self.frames) - mixed
        self.shots.append(Transition(start, start + mixed))
        for k in range(mixed):
            share = (k + 1) / (mixed + 1)
            self.frames[start + k] = (1 - share) * self.frames[start + k] + share * shot[k]
        self.frames += shot[mixed:]
        return start + mixed // 2

    def add_through(self, shot: Sequence[Pixels], color: float, *, ramp: int, hold: int) -> None:
        """Append a shot after a fade to a color and from it."""
        last = len(self.frames)
        for k in range(ramp):
            share = (k + 1) / (ramp + 1)
            self.frames[last - ramp + k] = (1 - share) * self.frames[
                last - ramp + k
            ] + share * color
        self.frames += [np.full((HEIGHT, WIDTH, 3), color, np.float32)] * hold
        faded = list(shot)
        for k in range(ramp):
            share = (k + 1) / (ramp + 1)
            faded[k] = share * faded[k] + (1 - share) * color
        self.shots.append(Transition(last - ramp, last + hold + ramp))
        self.frames += faded


@cache
def photograph(number: int) -> Pixels:
    """Return a photograph, large enough to move in."""
    paths = sorted(Path(PHOTOGRAPHS).glob("*.webp"))
    with Image.open(paths[number % len(paths)]) as image:
        picture = image.convert("RGB").resize((WIDTH * 3, HEIGHT * 4))
    return np.asarray(picture, dtype=np.float32)


def camera(
    picture: Pixels,
    n_frames: int,
    rng: Generator,
    *,
    pan: float = 0.4,
    shake: float = 0.0,
    light: float = 1.0,
    noise: float = 2.0,
    things: int = 1,
    start: tuple[float, float] | None = None,
) -> list[Pixels]:
    """Film a picture: the camera pans and shakes by pixels a frame, things cross, pixels are noisy."""
    high, wide = picture.shape[0] - HEIGHT, picture.shape[1] - WIDTH
    x, y = (rng.uniform(0, wide), rng.uniform(0, high)) if start is None else start
    angle = rng.uniform(0, 2 * np.pi)
    dx, dy = pan * np.cos(angle), 0.4 * pan * np.sin(angle)
    sway = np.cumsum(rng.normal(scale=1.0, size=(n_frames, 2)), axis=0)
    sway = shake * (sway - gaussian_filter(sway, (12, 0)))
    moving = [
        (
            rng.uniform(0, WIDTH),
            rng.uniform(30, HEIGHT - 30),
            rng.uniform(-3, 3),
            rng.uniform(0, 255, 3),
        )
        for _ in range(things)
    ]
    frames = []
    for k in range(n_frames):
        x, y = x + dx, y + dy
        if not 0 <= x <= wide:
            dx, x = -dx, np.clip(x, 0, wide)
        if not 0 <= y <= high:
            dy, y = -dy, np.clip(y, 0, high)
        left = int(np.clip(x + sway[k, 0], 0, wide))
        top = int(np.clip(y + sway[k, 1], 0, high))
        pixels = picture[top : top + HEIGHT, left : left + WIDTH].copy()
        for at, row, speed, color in moving:
            column, line = int(at + speed * k) % WIDTH, int(row)
            pixels[line : line + 24, column : column + 18] = color
        frames.append(
            light * pixels + rng.normal(scale=noise, size=pixels.shape).astype(np.float32)
        )
    return frames


def fast_cuts(rng: Generator) -> Film:
    """Shots of 3 to 15 frames."""
    reel = Reel([], [])
    for number in rng.integers(0, 22, size=45):
        reel.add(camera(photograph(number), int(rng.integers(3, 16)), rng, pan=1.0))
    return film("fast cuts", reel)


def dissolves(rng: Generator) -> Film:
    """Dissolves of 8 to 40 frames, and some hard cuts."""
    reel = Reel([], [])
    for number in rng.permutation(22)[:9]:
        mixed = 0 if rng.uniform() < 0.25 else int(rng.integers(8, 41))
        reel.add(camera(photograph(number), int(rng.integers(90, 140)), rng), mixed=mixed)
    return film("dissolves", reel)


def fades(rng: Generator) -> Film:
    """Fades through black or white."""
    reel = Reel([], [])
    for k, number in enumerate(rng.permutation(22)[:8]):
        shot = camera(photograph(number), int(rng.integers(80, 120)), rng)
        if k == 0 or rng.uniform() < 0.25:
            reel.add(shot)
        else:
            color = 0.0 if rng.uniform() < 0.7 else 255.0
            reel.add_through(
                shot, color, ramp=int(rng.integers(6, 25)), hold=int(rng.integers(2, 15))
            )
    return film("fades", reel)


def flashes(rng: Generator) -> Film:
    """Flashes of 1 to 5 frames, and light that is switched on and off, within shots."""
    reel = Reel([], [])
    for number in rng.permutation(22)[:7]:
        shot = camera(photograph(number), 90, rng)
        for at in rng.choice(np.arange(12, 78, 12), size=3, replace=False):
            for k in range(int(rng.integers(1, 6))):
                shot[at + k] = shot[at + k] + 200 * 0.6**k
        reel.add(shot)
    return film("flashes", reel)


def pans(rng: Generator) -> Film:
    """Pans of up to an eighth of the picture a frame, and hard cuts."""
    reel = Reel([], [])
    for number in rng.permutation(22)[:8]:
        pan = rng.uniform(6, WIDTH / 8)
        reel.add(camera(photograph(number), int(rng.integers(40, 80)), rng, pan=pan))
    return film("pans", reel)


def hand_held(rng: Generator) -> Film:
    """A camera that shakes, half of the shots in low light."""
    reel = Reel([], [])
    for number in rng.permutation(22)[:8]:
        light, noise = (0.2, 6.0) if rng.uniform() < 0.5 else (1.0, 3.0)
        shot = camera(
            photograph(number),
            int(rng.integers(50, 90)),
            rng,
            shake=rng.uniform(2, 5),
            pan=1.0,
            light=light,
            noise=noise,
            things=3,
        )
        reel.add(shot)
    return film("hand-held", reel)


def dialogue(rng: Generator) -> Film:
    """Scenes in which two or three cameras take turns."""
    reel, scenes = Reel([], []), []
    for number in rng.permutation(22)[:5]:
        picture = photograph(number)
        views = [
            (rng.uniform(0, WIDTH * 2), rng.uniform(0, HEIGHT * 3))
            for _ in range(int(rng.integers(2, 4)))
        ]
        for k in range(int(rng.integers(6, 10))):
            shot = camera(
                picture, int(rng.integers(30, 75)), rng, pan=0.1, start=views[k % len(views)]
            )
            start = reel.add(shot)
            if k == 0 and start:
                scenes.append(start)
    return film("dialogue", reel, scenes)


def slides(rng: Generator) -> Film:
    """Slides with text that comes line by line; only another slide is a shot."""
    reel = Reel([], [])
    for _ in range(8):
        dark = rng.uniform() < 0.3
        paper, ink = ((25, 30, 45), (230, 230, 230)) if dark else ((250, 250, 250), (30, 30, 30))
        image = Image.new("RGB", (WIDTH, HEIGHT), paper)
        draw = ImageDraw.Draw(image)
        color = tuple(rng.integers(0, 255, 3).tolist())
        draw.rectangle((0, 0, WIDTH, 22), fill=color)
        if rng.uniform() < 0.6:
            picture = photograph(int(rng.integers(22)))[100:172, 100:200]
            image.paste(Image.fromarray(picture.astype(np.uint8)), (int(rng.integers(8, 140)), 60))
        shot: list[Pixels] = []
        for line in range(int(rng.integers(2, 6))):
            draw.rectangle(
                (14, 30 + 12 * line, int(rng.uniform(90, 220)), 36 + 12 * line), fill=ink
            )
            still = np.asarray(image, dtype=np.float32)
            shot += [still + rng.normal(scale=0.5, size=still.shape)] * int(rng.integers(15, 35))
        reel.add(shot)
    return film("slides", reel)


def screen_recordings(rng: Generator) -> Film:
    """Windows with text that is typed and scrolls, menus that open; only another window is a shot."""
    reel = Reel([], [])
    for _ in range(8):
        paper = tuple(int(v) for v in rng.choice([20, 40, 235, 250]) + rng.integers(-10, 6, 3))
        ink = (215, 215, 215) if paper[0] < 128 else (40, 40, 40)
        lines = rng.uniform(30, 200, size=200)
        panel = tuple(rng.integers(0, 255, 3).tolist())
        side = int(rng.integers(20, 90))
        shot = []
        offset, menu = 0.0, (0, 0, 0)
        for k in range(int(rng.integers(60, 100))):
            offset += rng.choice([0, 0, 0, 8, 30]) if k % 10 < 5 else 0
            image = Image.new("RGB", (WIDTH, HEIGHT), paper)
            draw = ImageDraw.Draw(image)
            for row in range(20):
                y = row * 8 - offset % 8
                length = lines[int(offset // 8 + row) % len(lines)]
                draw.rectangle((side + 6, y, min(side + 6 + length, WIDTH), y + 3), fill=ink)
            draw.rectangle((0, 0, side, HEIGHT), fill=panel)
            if k % 30 == 20:
                menu = (*rng.integers(20, 120, 2).tolist(), k + 8)
            if k < menu[2]:
                x, y = menu[:2]
                draw.rectangle((x, y, x + 80, y + 60), fill=(200, 205, 210), outline=ink)
            shot.append(np.asarray(image, dtype=np.float32))
        reel.add(shot)
    return film("screen recordings", reel)


def mixed(rng: Generator) -> Film:
    """Scenes in wide screen with bars, with cuts, dissolves, fades, pans and flashes."""
    reel, scenes = Reel([], []), []
    for scene, number in enumerate(rng.permutation(22)[:4]):
        for k in range(int(rng.integers(4, 8))):
            shake = rng.choice([0.0, 0.0, 2.0])
            shot = camera(
                photograph(number),
                int(rng.integers(40, 90)),
                rng,
                pan=rng.choice([0.2, 0.5, 8.0]),
                shake=shake,
            )
            if rng.uniform() < 0.3:
                shot[20] = shot[20] + 180
            if k == 0 and scene and rng.uniform() < 0.6:
                scenes.append(len(reel.frames) + 4)
                reel.add_through(shot, 0.0, ramp=12, hold=8)
                continue
            start = reel.add(shot, mixed=int(rng.choice([0, 0, 16, 24])))
            if k == 0 and scene:
                scenes.append(start)
    for frame in reel.frames:
        frame[:18] = frame[-18:] = 0
    return film("mixed", reel, scenes)


def many_places(rng: Generator) -> Film:
    """Scenes of two or three cameras that show other photographs, mostly in turns."""
    reel, scenes = Reel([], []), []
    photographs = rng.permutation(22)
    for _ in range(6):
        n = int(rng.integers(2, 4))
        views, photographs = photographs[:n], photographs[n:]
        starts = [(rng.uniform(0, WIDTH * 2), rng.uniform(0, HEIGHT * 3)) for _ in views]
        for k in range(int(rng.integers(5, 10))):
            view = k % n if rng.uniform() < 0.8 else int(rng.integers(n))
            n_frames = int(rng.integers(25, 90))
            shot = camera(photograph(views[view]), n_frames, rng, pan=0.2, start=starts[view])
            start = reel.add(shot)
            if k == 0 and start:
                scenes.append(start)
    return film("many places", reel, scenes)


def few_shots(rng: Generator) -> Film:
    """Scenes of one shot each, some at a place seen before, with cuts and dissolves."""
    reel, scenes = Reel([], []), []
    photographs, place = rng.permutation(22), 0
    for _ in range(8):
        place = (place + int(rng.integers(1, 5))) % 5
        shot = camera(photograph(photographs[place]), int(rng.integers(150, 300)), rng, pan=0.5)
        start = reel.add(shot, mixed=int(rng.choice([0, 0, 20])))
        if start:
            scenes.append(start)
    return film("few shots", reel, scenes)


def long_takes(rng: Generator) -> Film:
    """Dialogues, and between them scenes of one take of a minute."""
    reel, scenes = Reel([], []), []
    for scene, number in enumerate(rng.permutation(22)[:6]):
        views = [(rng.uniform(0, WIDTH * 2), rng.uniform(0, HEIGHT * 3)) for _ in range(2)]
        is_take = scene in (2, 4)
        for k in range(1 if is_take else int(rng.integers(5, 10))):
            n_frames, pan = (60 * RATE, 0.3) if is_take else (int(rng.integers(40, 90)), 0.1)
            shot = camera(photograph(number), n_frames, rng, pan=pan, start=views[k % 2])
            start = reel.add(shot)
            if k == 0 and start:
                scenes.append(start)
    return film("long takes", reel, scenes)


def many_scenes(rng: Generator) -> Film:
    """Twelve scenes of two to four cameras that show one photograph each, in any order."""
    reel, scenes = Reel([], []), []
    for number in rng.permutation(22)[:12]:
        views = [
            (rng.uniform(0, WIDTH * 2), rng.uniform(0, HEIGHT * 3))
            for _ in range(int(rng.integers(2, 5)))
        ]
        for k in range(int(rng.integers(5, 10))):
            view = views[int(rng.integers(len(views)))]
            pan = rng.choice([0.1, 0.5, 2.0])
            n_frames = int(rng.integers(25, 100))
            start = reel.add(camera(photograph(number), n_frames, rng, pan=pan, start=view))
            if k == 0 and start:
                scenes.append(start)
    return film("many scenes", reel, scenes)


def film(kind: str, reel: Reel, scenes: list[int] | None = None) -> Film:
    """Round the frames of a reel."""
    frames = [np.clip(frame, 0, 255).astype(np.uint8) for frame in reel.frames]
    return Film(kind, frames, reel.shots, scenes)


Maker = Callable[[Generator], Film]

KINDS: tuple[Maker, ...] = (
    fast_cuts,
    dissolves,
    fades,
    flashes,
    pans,
    hand_held,
    dialogue,
    slides,
    screen_recordings,
    mixed,
)


OF_SCENES = (dialogue, mixed, many_places, few_shots, long_takes, many_scenes)
"""Kinds whose scenes people would agree on."""


def made_films(n_each: int = 4, *, kinds: Sequence[Maker] = KINDS) -> Iterator[Film]:
    """Make so many films of each kind, the same ones each time."""
    for make in kinds:
        known = KINDS.index(make) if make in KINDS else len(KINDS) + OF_SCENES.index(make)
        for seed in range(n_each):
            yield make(np.random.default_rng([2026, known, seed]))


def write_film(film: Film, path: Path, *, rate: int = RATE) -> Path:
    """Write a film as H.264."""
    with av.open(str(path), "w") as container:
        options = {"preset": "veryfast", "crf": "23", "x264-params": "mbtree=0"}
        stream = container.add_stream("libx264", rate=rate, options=options)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for pixels in film.frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        container.mux(stream.encode())
    return path
