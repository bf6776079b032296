"""A simulated afternoon with a wearable camera, made from real photographs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.util import find_spec
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

PHOTO_SIZE = (448, 336)
COATS = ((38, 44, 62), (92, 36, 40), (58, 70, 58), (120, 112, 100), (30, 30, 32))
SKINS = ((224, 186, 160), (160, 112, 82), (96, 66, 50))


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
    drift = rng.uniform(-0.7, 0.7, 4) + np.cumsum(rng.normal(0.0, 0.16, (n_photos, 4)), axis=0)
    drift = np.sin(drift) + rng.normal(0.0, 0.05, (n_photos, 4))
    light = rng.normal(0.0, 0.08) + 0.04 * np.cumsum(rng.normal(0.0, 1.0, n_photos))
    light += np.where(rng.random(n_photos) < 0.06, rng.choice([-0.45, 0.4], n_photos), 0.0)
    warmth = float(np.exp(rng.normal(0.0, 0.05)))

    # People turn when they arrive and leave, so the first and last photos of a visit are blurred
    # more often.
    chance = np.full(n_photos, 0.09)
    chance[[0, -1]] = 0.4
    blur = np.where(rng.random(n_photos) < chance, rng.integers(6, 26, n_photos), 0)
    axis = rng.choice([0, 1, 1], n_photos)

    middle, reach = (zoom[0] + zoom[1]) / 2, (zoom[1] - zoom[0]) / 2
    return [
        Glance(
            x=float(np.clip(drift[k, 0], -1, 1)),
            y=float(np.clip(drift[k, 1], -1, 1)),
            zoom=float(middle + reach * np.clip(drift[k, 2], -1, 1)),
            angle=float(4.0 * drift[k, 3]),
            exposure=float(np.exp(np.clip(light[k], -0.8, 0.6))),
            warmth=warmth,
            blur=int(blur[k]),
            blur_axis=int(axis[k]),
        )
        for k in range(n_photos)
    ]


def color_of_gray(
    gray: Image.Image, above: tuple[float, ...], below: tuple[float, ...]
) -> Image.Image:
    """Color a gray photograph with two tints, one above the other, blended in between.

    Parameters
    ----------
    gray : PIL.Image.Image
        A grayscale photograph.
    above, below : tuple of float
        Factors on red, green and blue.
    """
    from PIL import Image

    values = np.asarray(gray.convert("L"), dtype=np.float32)
    height = np.linspace(0.0, 1.0, len(values), dtype=np.float32)
    share = 1.0 / (1.0 + np.exp(-(height - 0.6) * 24.0))
    tint = (1 - share)[:, None] * np.asarray(above) + share[:, None] * np.asarray(below)
    return Image.fromarray(np.clip(values[:, :, None] * tint[:, None, :], 0, 255).astype(np.uint8))


def take_photo(
    place: Image.Image,
    glance: Glance,
    *,
    rng: np.random.Generator,
    in_the_way: Image.Image | None = None,
) -> Image.Image:
    """Simulate one photo of a place.

    Parameters
    ----------
    place : PIL.Image.Image
        The photograph that represents the place, in RGB.
    glance : Glance
        The camera settings.
    rng : numpy.random.Generator
        Random number generator for the sensor noise.
    in_the_way : PIL.Image.Image, optional
        A transparent layer to draw over the scene, of `PHOTO_SIZE`.
    """
    from PIL import Image

    scene = _crop(place, glance)
    if in_the_way is not None:
        scene = Image.alpha_composite(scene.convert("RGBA"), in_the_way).convert("RGB")
    light = np.asarray(scene, dtype=np.float32)
    if glance.blur > 1:
        from scipy.ndimage import uniform_filter1d

        light = uniform_filter1d(light, glance.blur, axis=glance.blur_axis)
    gain = glance.exposure * np.asarray([glance.warmth, 1.0, 1.0 / glance.warmth], dtype=np.float32)
    light = light * gain * _vignette()[:, :, None]
    # Short exposures are noisier.
    grain = rng.standard_normal(light.shape[:2], dtype=np.float32) * (
        2.5 / min(glance.exposure, 1.0)
    )
    light += grain[:, :, None]
    return Image.fromarray(np.clip(light, 0, 255).astype(np.uint8))


def _crop(place: Image.Image, glance: Glance) -> Image.Image:
    from PIL import Image

    width, height = PHOTO_SIZE
    # The widest crop that stays inside the photograph when the camera rolls by a few degrees.
    scale = 0.94 * glance.zoom * min(place.width / width, place.height / height)
    reach_x = max(place.width - scale * width * 1.06, 0.0) / 2
    reach_y = max(place.height - scale * height * 1.08, 0.0) / 2
    center_x = place.width / 2 + glance.x * reach_x
    center_y = place.height / 2 + glance.y * reach_y
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
    return place.transform(PHOTO_SIZE, Image.Transform.AFFINE, affine, Image.Resampling.BILINEAR)


@cache
def _vignette() -> FloatArray:
    """Return factors that darken the corners, as a small wide-angle lens does."""
    width, height = PHOTO_SIZE
    x, y = np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)
    return 1.0 - 0.16 * (x[None, :] ** 2 + y[:, None] ** 2)


def passer_by(place_in_photo: float, *, rng: np.random.Generator) -> Image.Image:
    """Draw a person close to the camera, out of focus, as a transparent layer.

    Parameters
    ----------
    place_in_photo : float
        Position of the person: 0 at the left edge, 1 at the right.
    rng : numpy.random.Generator
        Random number generator for size, coat and skin.
    """
    from PIL import Image, ImageDraw, ImageFilter

    width, height = PHOTO_SIZE
    layer = Image.new("RGBA", PHOTO_SIZE, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    coat, skin = COATS[rng.integers(len(COATS))], SKINS[rng.integers(len(SKINS))]
    x, shoulders = place_in_photo * width, rng.uniform(0.5, 0.75) * width
    top = rng.uniform(-0.35, 0.0) * height
    head = shoulders * 0.42
    neck = top + head * 1.2
    body = (x - shoulders / 2, neck, x + shoulders / 2, height * 1.6)
    draw.rounded_rectangle(body, radius=shoulders * 0.3, fill=(*coat, 255))
    shade = tuple(int(value * 0.7) for value in coat)
    for side in (-1, 1):  # shade the arms
        arm = x + side * shoulders * 0.36
        draw.line(
            (arm, neck + shoulders * 0.3, arm, height * 1.6),
            fill=(*shade, 255),
            width=int(shoulders * 0.05),
        )
    draw.rectangle(
        (x - head * 0.2, neck - head * 0.25, x + head * 0.2, neck + head * 0.1), fill=(*skin, 255)
    )
    draw.ellipse((x - head / 2, top, x + head / 2, top + head * 1.25), fill=(*skin, 255))
    hair = (x - head * 0.55, top - head * 0.15, x + head * 0.55, top + head)
    draw.pieslice(hair, 180, 360, fill=(40, 30, 26, 255))
    return layer.filter(ImageFilter.GaussianBlur(8)).filter(ImageFilter.BoxBlur((14, 0)))


SOFTWARE = "dayline made photo stream"
FIRST_PHOTO = datetime(2024, 5, 12, 16, 42, 10, tzinfo=UTC)
SECONDS_BETWEEN = 30.0
PAUSE = timedelta(minutes=52)
FEWEST_PER_EVENT = 4

Tints = tuple[tuple[float, float, float], tuple[float, float, float]]


@dataclass(frozen=True)
class Place:
    """A photograph that represents a place.

    Attributes
    ----------
    package, file : str
        The installed package and the path of the photograph inside it.
    zoom : tuple of float
        Narrowest and widest crop, as fractions of the widest possible one.
    tints : tuple, optional
        For gray photographs: colors of the upper and the lower part.
    """

    package: str
    file: str
    zoom: tuple[float, float] = (0.6, 0.95)
    tints: Tints | None = None


PLACES = {
    "home": Place("skimage", "data/chelsea.png", (0.7, 1.0)),
    "pavement": Place(
        "skimage", "data/brick.png", (0.6, 1.0), ((1.3, 0.95, 0.82), (1.3, 0.95, 0.82))
    ),
    "cafe": Place("skimage", "data/coffee.png"),
    "hall": Place("skimage", "data/astronaut.png", (0.65, 1.0)),
    "showcase": Place(
        "skimage", "data/coins.png", (0.65, 1.0), ((1.1, 0.9, 0.62), (1.1, 0.9, 0.62))
    ),
    "park": Place(
        "skimage", "data/camera.png", (0.65, 1.0), ((0.86, 0.96, 1.12), (0.82, 0.98, 0.6))
    ),
    "garden": Place("sklearn", "datasets/images/flower.jpg"),
    "lake": Place("sklearn", "datasets/images/china.jpg"),
    "path": Place(
        "skimage", "data/gravel.png", (0.6, 1.0), ((1.15, 1.07, 0.94), (1.15, 1.07, 0.94))
    ),
    "lawn": Place(
        "skimage", "data/grass.png", (0.6, 1.0), ((0.76, 1.02, 0.48), (0.76, 1.02, 0.48))
    ),
    "launch pad": Place("skimage", "data/rocket.jpg"),
}

DAY = (
    ("home", 1.2), ("pavement", 0.6), ("cafe", 1.3), ("hall", 1.1), ("showcase", 0.9),
    ("pavement", 0.6),
    ("park", 1.1), ("garden", 1.0), ("lake", 1.5), ("park", 0.8), ("path", 0.7), ("lawn", 0.8),
    ("launch pad", 1.5), ("path", 0.6), ("cafe", 1.0), ("home", 1.3),
)  # fmt: skip
"""Places in the order of the visits, with the relative duration of each."""

PAUSE_BEFORE = 10
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
    """Make the photos of 16 visits to 11 places, one about every 30 s, with one pause.

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
    pictures = {name: _open_place(name) for name in PLACES}
    _remove_previous_photos(folder)
    rng = np.random.default_rng(random_state)
    edges = _edges(n_photos, rng)
    moments = _moments(n_photos, edges[PAUSE_BEFORE], rng)
    people = _people(edges, rng)
    names = tuple(f"photo_{k:04d}.jpg" for k in range(n_photos))
    for (place, _), (start, stop) in zip(DAY, pairwise(edges), strict=True):
        for k, glance in enumerate(
            visit(stop - start, zoom=PLACES[place].zoom, rng=rng), start=start
        ):
            photo = take_photo(pictures[place], glance, rng=rng, in_the_way=people.get(k))
            _save(photo, folder / names[k], moments[k])
    places = tuple(place for place, _ in DAY)
    times = tuple(moment.timestamp() for moment in moments)
    return Photostream(folder, names, times, tuple(edges[1:-1]), places)


def _open_place(name: str) -> Image.Image:
    from PIL import Image

    place = PLACES[name]
    package = find_spec(place.package)  # finds the files without importing the package
    roots = package.submodule_search_locations if package else None
    paths = [Path(root) / place.file for root in roots or ()]
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        msg = f"the demo needs {place.file} from {place.package}; "
        raise ValueError(msg + 'install the photographs (pip install "dayline[demo]")')
    with Image.open(found) as image:
        return color_of_gray(image, *place.tints) if place.tints else image.convert("RGB")


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
    """Draw the times of the photos: one about every 30 s, to the millisecond, with one pause."""
    waits = np.clip(rng.normal(SECONDS_BETWEEN, 2.5, n_photos), 20.0, 40.0)
    waits[0] = 0.0
    waits[pause] += PAUSE.total_seconds()
    return [FIRST_PHOTO + timedelta(milliseconds=int(t)) for t in np.round(np.cumsum(waits) * 1000)]


def _people(edges: list[int], rng: np.random.Generator) -> dict[int, Image.Image]:
    """Let a person pass by during 40 % of the visits, for one to three photos."""
    layers: dict[int, Image.Image] = {}
    for start, stop in pairwise(edges):
        if rng.random() < 0.4:
            length = int(rng.integers(1, 4))
            first = int(rng.integers(start + 1, max(start + 2, stop - length)))
            for step in range(length):
                if first + step < stop:
                    across = (step + rng.uniform(0.3, 0.7)) / length
                    layers[first + step] = passer_by(across, rng=rng)
    return layers


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
