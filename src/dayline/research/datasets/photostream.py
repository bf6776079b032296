"""A simulated day with a camera, made from real photographs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dayline.arrays import FloatArray
from dayline.events import Segmentation
from dayline.files import writing_whole
from dayline.installation import needs_extra

if TYPE_CHECKING:
    from PIL import Image

PHOTO_SIZE = (640, 480)
PHOTOGRAPHS = Path(__file__).with_name("photographs")
"""Folder of the photographs; CREDITS.md in it names the author and the license of each."""


@dataclass(frozen=True)
class Glance:
    """Camera settings of one photo of a place.

    Attributes
    ----------
    x, y : float
        Center of the crop, in [-1, 1]; at -1 and 1 the crop touches the edge of the photograph.
    zoom : float
        Width of the crop as a fraction of the widest possible one.
    angle : float
        Roll of the camera in degrees.
    exposure : float
        Factor on the brightness of the photograph.
    warmth : float
        Factor on red, and its inverse on blue.
    blur : int
        Length of the motion blur in pixels; no blur below 2.
    blur_axis : int
        0 for vertical, 1 for horizontal motion.
    """

    x: float
    y: float
    zoom: float
    angle: float
    exposure: float
    warmth: float
    blur: int
    blur_axis: int


def visit(n_photos: int, *, zoom: tuple[float, float], rng: np.random.Generator) -> list[Glance]:
    """Draw the camera settings of a visit: a slow drift, small movements, and varying light.

    Parameters
    ----------
    n_photos : int
        Number of photos of the visit.
    zoom : tuple of float
        Narrowest and widest crop, as fractions of the widest possible one.
    rng : numpy.random.Generator
        Random number generator.
    """
    drift = rng.uniform(-0.7, 0.7, 4) + np.cumsum(rng.normal(0.0, 0.3, (n_photos, 4)), axis=0)
    drift = np.sin(drift) + rng.normal(0.0, 0.05, (n_photos, 4))
    light = rng.normal(0.0, 0.06) + 0.03 * np.cumsum(rng.normal(0.0, 1.0, n_photos))
    light += np.where(rng.random(n_photos) < 0.06, rng.choice([-0.35, 0.3], n_photos), 0.0)
    warmth = float(np.exp(rng.normal(0.0, 0.04)))

    # People turn when they arrive and leave, so the first and last photos of a visit are blurred
    # more often.
    chance = np.full(n_photos, 0.06)
    chance[[0, -1]] = 0.3
    blur = np.where(rng.random(n_photos) < chance, rng.integers(6, 26, n_photos), 0)
    axis = rng.choice([0, 1, 1], n_photos)

    middle, reach = (zoom[0] + zoom[1]) / 2, (zoom[1] - zoom[0]) / 2
    return [
        Glance(
            x=float(np.clip(drift[k, 0], -1, 1)),
            y=float(np.clip(drift[k, 1], -1, 1)),
            zoom=float(middle + reach * np.clip(drift[k, 2], -1, 1)),
            angle=float(4.0 * drift[k, 3]),
            exposure=float(np.exp(np.clip(light[k], -0.7, 0.5))),
            warmth=warmth,
            blur=int(blur[k]),
            blur_axis=int(axis[k]),
        )
        for k in range(n_photos)
    ]


def take_photo(photograph: Image.Image, glance: Glance, *, rng: np.random.Generator) -> Image.Image:
    """Simulate one photo of a place.

    Parameters
    ----------
    photograph : PIL.Image.Image
        A photograph of the place, in RGB.
    glance : Glance
        The camera settings.
    rng : numpy.random.Generator
        Random number generator for the sensor noise.
    """
    from PIL import Image

    light = np.asarray(_crop(photograph, glance), dtype=np.float32)
    if glance.blur > 1:
        from scipy.ndimage import uniform_filter1d

        light = uniform_filter1d(light, glance.blur, axis=glance.blur_axis)
    gain = glance.exposure * np.asarray([glance.warmth, 1.0, 1.0 / glance.warmth], dtype=np.float32)
    light = light * gain * _vignette()[:, :, None]
    # Short exposures are noisier.
    grain = rng.standard_normal(light.shape[:2], dtype=np.float32) * (
        2.0 / min(glance.exposure, 1.0)
    )
    light += grain[:, :, None]
    return Image.fromarray(np.clip(light, 0, 255).astype(np.uint8))


def _crop(photograph: Image.Image, glance: Glance) -> Image.Image:
    from PIL import Image

    width, height = PHOTO_SIZE
    # The widest crop that stays inside the photograph when the camera rolls by a few degrees.
    scale = 0.94 * glance.zoom * min(photograph.width / width, photograph.height / height)
    reach_x = max(photograph.width - scale * width * 1.06, 0.0) / 2
    reach_y = max(photograph.height - scale * height * 1.08, 0.0) / 2
    center_x = photograph.width / 2 + glance.x * reach_x
    center_y = photograph.height / 2 + glance.y * reach_y
    angle = np.deg2rad(np.clip(glance.angle, -4.0, 4.0) * 0.5)
    cos, sin = float(scale * np.cos(angle)), float(scale * np.sin(angle))
    affine = (
        cos,
        sin,
        center_x - cos * width / 2 - sin * height / 2,
        -sin,
        cos,
        center_y + sin * width / 2 - cos * height / 2,
    )
    return photograph.transform(
        PHOTO_SIZE, Image.Transform.AFFINE, affine, Image.Resampling.BICUBIC
    )


@cache
def _vignette() -> FloatArray:
    """Return factors that darken the corners, as a small wide-angle lens does."""
    width, height = PHOTO_SIZE
    x, y = np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)
    return 1.0 - 0.1 * (x[None, :] ** 2 + y[:, None] ** 2)


SOFTWARE = "dayline made photo stream"
FIRST_PHOTO = datetime(2024, 5, 12, 7, 12, 10, tzinfo=UTC)
SECONDS_BETWEEN = 180.0
PAUSE = timedelta(minutes=82)
FEWEST_PER_EVENT = 4
TURN = 0.4
"""Probability that the camera turns to the next photograph of a place between two photos."""


@dataclass(frozen=True)
class Place:
    """Photographs that represent a place.

    Attributes
    ----------
    photographs : tuple of str
        Names in `PHOTOGRAPHS`, without the suffix.
    zoom : tuple of float
        Narrowest and widest crop, as fractions of the widest possible one.
    """

    photographs: tuple[str, ...]
    zoom: tuple[float, float] = (0.75, 1.0)


PLACES = {
    "meadow": Place(("meadow", "sunrise")),
    "cafe": Place(("espresso",)),
    "train": Place(("train",)),
    "old town": Place(("photographing", "square", "colosseum"), (0.85, 1.0)),
    "museum": Place(("stairs",), (0.6, 1.0)),
    "market": Place(("spices",), (0.55, 1.0)),
    "garden": Place(("tulips", "blossoms")),
    "lake": Place(("lake",), (0.6, 1.0)),
    "hills": Place(("tea",), (0.6, 1.0)),
    "zoo": Place(("otters", "heron", "osprey")),
    "sea": Place(("surf", "cliffs"), (0.85, 1.0)),
    "bay": Place(("shore", "dusk")),
    "roofs": Place(("roofs",)),
    "harbor": Place(("skyline",)),
}

DAY = (
    ("meadow", 1.0), ("cafe", 0.9), ("train", 0.7), ("old town", 1.1), ("museum", 1.1),
    ("market", 1.0), ("garden", 1.1), ("old town", 0.8),
    ("lake", 1.2), ("hills", 1.0), ("zoo", 1.2), ("sea", 1.1), ("train", 0.7), ("bay", 1.1),
    ("roofs", 0.9), ("harbor", 1.0),
)  # fmt: skip
"""Places in the order of the visits, with the relative duration of each."""

PAUSE_BEFORE = 8
"""Number of the visit before which the camera is off."""


@dataclass(frozen=True)
class Photostream:
    """A synthetic sequence of photos and its truth.

    Attributes
    ----------
    folder : Path
        Folder of the photos.
    names : tuple of str
        File name of every photo, in temporal order.
    times : tuple of float
        Seconds since 1970 on the camera's own clock, as in the EXIF data.
    boundaries : tuple of int
        First photo of every visit but the first.
    places : tuple of str
        Name of the place of every visit.
    """

    folder: Path
    names: tuple[str, ...]
    times: tuple[float, ...]
    boundaries: tuple[int, ...]
    places: tuple[str, ...]

    @property
    def segmentation(self) -> Segmentation:
        """The truth as a segmentation."""
        edges = [0, *self.boundaries, len(self.names)]
        numbers = [list(PLACES).index(place) for place in self.places]
        communities = np.repeat(numbers, np.diff(edges)).tolist()
        return Segmentation.from_boundaries(
            self.boundaries,
            len(self.names),
            communities=communities,
            times=self.times,
            clock="wall",
            names=self.names,
            source=self.folder.name,
        )


@needs_extra("demo", "the demo's sequence of photos")
def make_photostream(
    folder: str | Path, *, random_state: int = 0, n_photos: int = 240
) -> Photostream:
    """Make the photos of 16 visits to 14 places, one about every 3 minutes, with one pause.

    Parameters
    ----------
    folder : str or Path
        Where to write; created if missing. Photos of an earlier call are replaced; a folder that
        contains anything else is refused.
    random_state : int
        Seed; the same seed gives the same photos.
    n_photos : int
        Number of photos, at least 4 per visit.

    Returns
    -------
    Photostream
        Names, times, true boundaries and places.
    """
    if n_photos < FEWEST_PER_EVENT * len(DAY):
        raise ValueError(
            f"n_photos={n_photos} is too few for {len(DAY)} visits; use at least"
            f" {FEWEST_PER_EVENT * len(DAY)}"
        )
    folder = Path(folder)
    pictures = {name: open_photographs(name) for name in PLACES}
    _remove_previous_photos(folder)
    rng = np.random.default_rng(random_state)
    edges = _edges(n_photos, rng)
    moments = _moments(n_photos, edges[PAUSE_BEFORE], rng)
    names = tuple(f"photo_{k:04d}.jpg" for k in range(n_photos))
    for (place, _), (start, stop) in zip(DAY, pairwise(edges), strict=True):
        turned = np.cumsum(rng.random(stop - start) < TURN)
        for k, glance in enumerate(visit(stop - start, zoom=PLACES[place].zoom, rng=rng)):
            seen = pictures[place][turned[k] % len(pictures[place])]
            photo = take_photo(seen, glance, rng=rng)
            _save(photo, folder / names[start + k], moments[start + k])
    places = tuple(place for place, _ in DAY)
    times = tuple(moment.timestamp() for moment in moments)
    return Photostream(folder, names, times, tuple(edges[1:-1]), places)


def open_photographs(place: str) -> tuple[Image.Image, ...]:
    """Return the photographs of a place, in RGB."""
    from PIL import Image

    paths = [PHOTOGRAPHS / f"{name}.webp" for name in PLACES[place].photographs]
    return tuple(Image.open(path).convert("RGB") for path in paths)


def _remove_previous_photos(folder: Path) -> None:
    """Remove the photos of an earlier call; raise if the folder contains anything else."""
    folder.mkdir(parents=True, exist_ok=True)
    found = sorted(folder.iterdir())
    for path in found:
        if not _is_ours(path):
            raise ValueError(
                f"{folder} contains {path.name!r}, which is not from the demo; use a new or empty"
                " folder"
            )
    for path in found:
        path.unlink()


def _is_ours(path: Path) -> bool:
    from PIL import Image, UnidentifiedImageError
    from PIL.ExifTags import Base

    if not path.is_file() or path.is_symlink():
        return False
    try:
        with Image.open(path, formats=["JPEG"]) as image:
            return image.getexif().get(Base.Software) == SOFTWARE
    except UnidentifiedImageError:
        return False


def _edges(n_photos: int, rng: np.random.Generator) -> list[int]:
    """Divide the photos among the visits; each share varies randomly by up to a quarter."""
    shares = np.asarray([share for _, share in DAY]) * rng.uniform(0.75, 1.25, len(DAY))
    spare = n_photos - FEWEST_PER_EVENT * len(DAY)
    inner = np.round(np.cumsum(shares / shares.sum())[:-1] * spare).astype(int)
    counted = inner + FEWEST_PER_EVENT * np.arange(1, len(DAY))
    return [0, *counted.tolist(), n_photos]


def _moments(n_photos: int, pause: int, rng: np.random.Generator) -> list[datetime]:
    """Draw the times of the photos: one about every 3 minutes, with one pause."""
    waits = SECONDS_BETWEEN * np.clip(rng.normal(1.0, 0.08, n_photos), 0.7, 1.3)
    waits[0] = 0.0
    waits[pause] += PAUSE.total_seconds()
    return [FIRST_PHOTO + timedelta(milliseconds=int(t)) for t in np.round(np.cumsum(waits) * 1000)]


def _save(photo: Image.Image, path: Path, moment: datetime) -> None:
    from PIL import Image
    from PIL.ExifTags import IFD, Base

    exif = Image.Exif()
    stamp = moment.strftime("%Y:%m:%d %H:%M:%S")
    exif[Base.Software] = SOFTWARE
    exif[Base.DateTime] = stamp
    details = exif.get_ifd(IFD.Exif)
    details[Base.DateTimeOriginal] = stamp
    details[Base.SubsecTimeOriginal] = f"{moment.microsecond // 1000:03d}"
    details[Base.OffsetTimeOriginal] = "+00:00"
    with writing_whole(path, "wb") as file:
        photo.save(file, format="JPEG", quality=87, exif=exif)
