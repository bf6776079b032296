"""Make a year of photos: 365 days of 40 at 12 recurring places, with one camera or two.

    python benchmarks/album/made_year.py FOLDER [--days 365] [--photos 40] [--places 12]
    [--one-camera] [--seed 0]

A place is a room or a view with its own walls, floor, pattern and furniture. From day to day and
from photo to photo the light, the point of view, the clutter and the noise differ, and most places
are seen several times a day.

With two cameras, FOLDER/camera-a and FOLDER/camera-b hold the photos of the whole year, taken in
turn; the clock of camera b is 47 minutes ahead. With --one-camera, FOLDER has one folder per day.
FOLDER-truth.json names the place and the true time of every photo.
"""

from __future__ import annotations

import argparse
import colorsys
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

WIDTH, HEIGHT = 320, 240
MARGIN = 60  # drawn around the picture, so that the point of view can move
FIRST_DAY = datetime(2023, 1, 1, tzinfo=UTC)
CLOCK_OFFSET = 47 * 60
TRUTH = "truth.json"
PATTERNS = ("plain", "stripes", "tiles", "dots", "boards", "speckle")


@dataclass(frozen=True)
class Scene:
    """A place: its picture without light, clutter and noise, and its movable furniture."""

    picture: Image.Image
    furniture: tuple[tuple[str, tuple[int, int, int, int], tuple[int, int, int]], ...]


def _color(
    random: np.random.Generator, *, light: tuple[float, float] = (0.25, 0.95)
) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(
        random.random(), random.uniform(0.1, 0.75), random.uniform(*light)
    )
    return int(255 * red), int(255 * green), int(255 * blue)


def _paint(
    draw: ImageDraw.ImageDraw,
    box: tuple[int, int, int, int],
    pattern: str,
    random: np.random.Generator,
) -> None:
    """Fill a box with one of the patterns."""
    left, top, right, bottom = box
    ground, ink = _color(random), _color(random)
    draw.rectangle(box, fill=ground)
    step = int(random.integers(10, 34))
    if pattern == "stripes":
        for x in range(left, right, step):
            draw.rectangle((x, top, x + step // 2, bottom), fill=ink)
    elif pattern == "boards":
        for y in range(top, bottom, step):
            draw.line((left, y, right, y), fill=ink, width=2)
    elif pattern == "tiles":
        for row, y in enumerate(range(top, bottom, step)):
            draw.line((left, y, right, y), fill=ink, width=2)
            for x in range(left + (row % 2) * step, right, 2 * step):
                draw.line((x, y, x, y + step), fill=ink, width=2)
    elif pattern == "dots":
        for y in range(top, bottom, step):
            for x in range(left, right, step):
                draw.ellipse((x, y, x + step // 2, y + step // 2), fill=ink)
    elif pattern == "speckle":
        for x, y in random.integers((left, top), (right, bottom), (400, 2)).tolist():
            draw.rectangle((x, y, x + 4, y + 4), fill=ink)


def make_scene(place: int, seed: int) -> Scene:
    """Draw a place; the number and the seed decide everything."""
    random = np.random.default_rng([seed, 1, place])
    width, height = WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN
    picture = Image.new("RGB", (width, height))
    draw = ImageDraw.Draw(picture)
    horizon = int(random.uniform(0.45, 0.75) * height)
    # Patterns in a fixed turn: no two places share both wall and floor by chance.
    _paint(draw, (0, 0, width, horizon), PATTERNS[place % len(PATTERNS)], random)
    _paint(
        draw,
        (0, horizon, width, height),
        PATTERNS[(place // len(PATTERNS) + 2 * place + 1) % len(PATTERNS)],
        random,
    )
    furniture = []
    for _ in range(int(random.integers(3, 7))):
        w, h = (int(v) for v in random.integers((50, 40), (170, 150)))
        x, y = (
            int(random.integers(0, width - w)),
            int(np.clip(horizon + random.integers(-120, 40), 10, height - h)),
        )
        kind = str(random.choice(["box", "round", "shelf", "window"]))
        furniture.append((kind, (x, y, x + w, y + h), _color(random)))
    return Scene(picture, tuple(furniture))


def _furnish(picture: Image.Image, scene: Scene, random: np.random.Generator) -> None:
    draw = ImageDraw.Draw(picture)
    for kind, box, color in scene.furniture:
        dx, dy = (int(v) for v in random.integers(-5, 6, 2))
        left, top, right, bottom = box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy
        edge = tuple(c // 2 for c in color)
        if kind == "round":
            draw.ellipse((left, top, right, bottom), fill=color, outline=edge, width=3)
            continue
        draw.rectangle((left, top, right, bottom), fill=color, outline=edge, width=3)
        if kind == "shelf":
            for y in range(top, bottom, 18):
                draw.line((left, y, right, y), fill=edge, width=3)
        if kind == "window":
            draw.line(((left + right) // 2, top, (left + right) // 2, bottom), fill=edge, width=4)
            draw.line((left, (top + bottom) // 2, right, (top + bottom) // 2), fill=edge, width=4)


def _clutter(picture: Image.Image, objects: int, random: np.random.Generator) -> None:
    """Add things that were not there last time: bags, cups, people passing."""
    draw = ImageDraw.Draw(picture)
    for _ in range(objects):
        w, h = (int(v) for v in random.integers(12, 60, 2))
        x, y = (
            int(random.integers(0, picture.width - w)),
            int(random.integers(picture.height // 3, picture.height - h)),
        )
        shape = draw.ellipse if random.random() < 0.5 else draw.rectangle
        shape((x, y, x + w, y + h), fill=_color(random, light=(0.1, 1.0)))


def take_photo(
    scene: Scene, day: np.random.Generator, photo: np.random.Generator, visit: dict[str, float]
) -> Image.Image:
    """Take one photo of a place.

    Parameters
    ----------
    scene : Scene
        The place.
    day, photo : numpy.random.Generator
        What differs from visit to visit (clutter), and from photo to photo (point of view, noise).
    visit : dict
        Light of this visit: brightness, warmth, contrast, and where the photographer stands.
    """
    picture = scene.picture.copy()
    _furnish(picture, scene, day)
    _clutter(picture, int(day.integers(2, 7)), day)
    _clutter(picture, int(photo.integers(0, 3)), photo)
    zoom = visit["zoom"] * photo.uniform(0.94, 1.06)
    width, height = WIDTH / zoom, HEIGHT / zoom
    x = MARGIN + visit["x"] + photo.normal(scale=7) + (WIDTH - width) / 2
    y = MARGIN + visit["y"] + photo.normal(scale=5) + (HEIGHT - height) / 2
    x, y = (
        float(np.clip(x, 0, picture.width - width)),
        float(np.clip(y, 0, picture.height - height)),
    )
    picture = picture.rotate(photo.normal(scale=1.5), Image.Resampling.BILINEAR)
    picture = picture.resize(
        (WIDTH, HEIGHT), Image.Resampling.BILINEAR, box=(x, y, x + width, y + height)
    )
    picture = ImageEnhance.Brightness(picture).enhance(visit["light"] * photo.uniform(0.93, 1.07))
    picture = ImageEnhance.Contrast(picture).enhance(visit["contrast"])
    if photo.random() < 0.1:
        picture = picture.filter(ImageFilter.GaussianBlur(photo.uniform(0.5, 1.8)))
    pixels = np.asarray(picture, dtype=np.float32)
    warm = visit["warmth"]
    pixels = pixels * np.asarray([1 + warm, 1, 1 - warm], dtype=np.float32)
    pixels = pixels + photo.normal(scale=6, size=pixels.shape).astype(np.float32)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def plan_day(number: int, *, n_photos: int, n_places: int, seed: int) -> list[tuple[int, int]]:
    """Return the visits of a day: place and number of photos.

    The first place of a day is often the last one too.
    """
    random = np.random.default_rng([seed, 2, number])
    # Some places are seen nearly every day (home, work), others now and then.
    weights = 1 / np.arange(1, n_places + 1) ** 0.7
    many = int(min(n_places, random.integers(3, 6)))
    places = random.choice(n_places, size=many, replace=False, p=weights / weights.sum()).tolist()
    order = list(places)
    if n_photos >= 8 * (many + 1) and random.random() < 0.6:
        order.append(order[0])
    # At least four photos of each visit, and no visit of nearly the whole day.
    shares = random.dirichlet([3.0] * len(order))
    counts = 4 + np.floor(shares * (n_photos - 4 * len(order))).astype(int)
    counts[int(np.argmax(counts))] += n_photos - counts.sum()
    return [(int(place), int(count)) for place, count in zip(order, counts, strict=True)]


def make_year(
    folder: Path,
    *,
    n_days: int = 365,
    n_photos: int = 40,
    n_places: int = 12,
    two_cameras: bool = True,
    seed: int = 0,
) -> dict[str, object]:
    """Write the photos and truth.json, and return the truth."""
    scenes = [make_scene(place, seed) for place in range(n_places)]
    photos = []
    numbers = {"camera-a": 0, "camera-b": 0}
    for day in range(n_days):
        date = FIRST_DAY + timedelta(days=day)
        moment = date + timedelta(
            hours=8, minutes=int(np.random.default_rng([seed, 3, day]).integers(0, 90))
        )
        taken = 0
        for number, (place, count) in enumerate(
            plan_day(day, n_photos=n_photos, n_places=n_places, seed=seed)
        ):
            random = np.random.default_rng([seed, 4, day, number])
            visit = {
                "light": random.uniform(0.6, 1.3),
                "warmth": random.normal(scale=0.09),
                "contrast": random.uniform(0.75, 1.2),
                "zoom": random.uniform(0.88, 1.25),
                "x": random.normal(scale=18),
                "y": random.normal(scale=10),
            }
            for k in range(count):
                camera = "camera-b" if two_cameras and taken % 2 else "camera-a"
                photo_random = np.random.default_rng([seed, 5, day, number, k])
                # The same generator for every photo of a visit: the clutter stays for the visit.
                clutter = np.random.default_rng([seed, 6, day, number])
                picture = take_photo(scenes[place], clutter, photo_random, visit)
                shown = moment + timedelta(seconds=CLOCK_OFFSET if camera == "camera-b" else 0)
                numbers[camera] += 1
                name = f"IMG_{numbers[camera]:05d}.jpg"
                path = f"{camera}/{name}" if two_cameras else f"{date:%Y-%m-%d}/{name}"
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                exif = Image.Exif()
                exif.get_ifd(0x8769)[0x9003] = f"{shown:%Y:%m:%d %H:%M:%S}"
                picture.save(folder / path, quality=80, exif=exif)
                photos.append(
                    {
                        "photo": path,
                        "place": place,
                        "time": moment.timestamp(),
                        "day": f"{date:%Y-%m-%d}",
                    }
                )
                moment += timedelta(seconds=int(photo_random.integers(60, 240)))
                taken += 1
            moment += timedelta(seconds=int(random.integers(300, 2400)))
    truth = {
        "seed": seed,
        "offset": CLOCK_OFFSET if two_cameras else 0,
        "n_places": n_places,
        "photos": photos,
    }
    # Beside the folder of photos, or a run would list it as a file that is not a photo.
    folder.with_name(f"{folder.name}-{TRUTH}").write_text(
        json.dumps(truth) + "\n", encoding="utf-8"
    )
    return truth


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--photos", type=int, default=40)
    parser.add_argument("--places", type=int, default=12)
    parser.add_argument("--one-camera", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    truth = make_year(
        chosen.folder,
        n_days=chosen.days,
        n_photos=chosen.photos,
        n_places=chosen.places,
        two_cameras=not chosen.one_camera,
        seed=chosen.seed,
    )
    print(
        f"{len(truth['photos'])} photos of {chosen.days} days at {chosen.places} places in"
        f" {chosen.folder}"
    )  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
