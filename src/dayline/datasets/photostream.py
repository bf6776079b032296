"""A simulated afternoon with a wearable camera, from real photographs: recurring places, and a known truth.

The photographs are files in the installed packages scikit-image (extra `demo`) and scikit-learn;
they are opened as files, so nothing is downloaded. Their licences are in docs/demo-photographs.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dayline.datasets.wearable import colour_of_grey, passer_by, take_photo, visit
from dayline.events import Segmentation
from dayline.extras import needs_extra
from dayline.io.files import writing_whole

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["DAY", "PLACES", "Photostream", "Place", "make_photostream"]

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
        For grey photographs: colours of the upper and the lower part.
    """

    package: str
    file: str
    zoom: tuple[float, float] = (0.6, 0.95)
    tints: Tints | None = None


PLACES = {
    "home": Place("skimage", "data/chelsea.png", (0.7, 1.0)),
    "pavement": Place("skimage", "data/brick.png", (0.6, 1.0), ((1.3, 0.95, 0.82), (1.3, 0.95, 0.82))),
    "cafe": Place("skimage", "data/coffee.png"),
    "hall": Place("skimage", "data/astronaut.png", (0.65, 1.0)),
    "showcase": Place("skimage", "data/coins.png", (0.65, 1.0), ((1.1, 0.9, 0.62), (1.1, 0.9, 0.62))),
    "park": Place("skimage", "data/camera.png", (0.65, 1.0), ((0.86, 0.96, 1.12), (0.82, 0.98, 0.6))),
    "garden": Place("sklearn", "datasets/images/flower.jpg"),
    "lake": Place("sklearn", "datasets/images/china.jpg"),
    "path": Place("skimage", "data/gravel.png", (0.6, 1.0), ((1.15, 1.07, 0.94), (1.15, 1.07, 0.94))),
    "lawn": Place("skimage", "data/grass.png", (0.6, 1.0), ((0.76, 1.02, 0.48), (0.76, 1.02, 0.48))),
    "launch pad": Place("skimage", "data/rocket.jpg"),
}

DAY = (
    ("home", 1.2), ("pavement", 0.6), ("cafe", 1.3), ("hall", 1.1), ("showcase", 0.9), ("pavement", 0.6),
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
    contexts : tuple of int
        Number of the place of every visit; equal numbers mean the same place.
    pauses : tuple of int
        Boundaries before which the camera is off.
    """

    folder: Path
    names: tuple[str, ...]
    times: tuple[float, ...]
    boundaries: tuple[int, ...]
    places: tuple[str, ...]
    contexts: tuple[int, ...]
    pauses: tuple[int, ...]

    @property
    def segmentation(self) -> Segmentation:
        """The truth as a segmentation."""
        edges = [0, *self.boundaries, len(self.names)]
        communities = np.repeat(self.contexts, np.diff(edges)).tolist()
        about = {"times": self.times, "clock": "wall", "names": self.names, "source": self.folder.name}
        return Segmentation.from_boundaries(self.boundaries, len(self.names), communities=communities, **about)


@needs_extra("demo", "the demo's sequence of photos")
def make_photostream(folder: str | Path, *, random_state: int = 0, n_photos: int = 240) -> Photostream:
    """Generate the photos of 16 visits to 11 places, one about every 30 s, with one pause of the camera.

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
        Names, times, true boundaries, places and the pause.
    """
    if n_photos < FEWEST_PER_EVENT * len(DAY):
        raise ValueError(
            f"n_photos={n_photos} is too few for {len(DAY)} visits; use at least {FEWEST_PER_EVENT * len(DAY)}"
        )
    folder = Path(folder)
    pictures = {name: _open_place(name) for name in PLACES}
    _remove_previous_photos(folder)
    rng = np.random.default_rng(random_state)
    edges = _edges(n_photos, rng)
    pause = edges[PAUSE_BEFORE]
    moments = _moments(n_photos, pause, rng)
    people = _people(edges, rng)
    names = tuple(f"photo_{k:04d}.jpg" for k in range(n_photos))
    for (place, _), (start, stop) in zip(DAY, pairwise(edges), strict=True):
        for k, glance in enumerate(visit(stop - start, zoom=PLACES[place].zoom, rng=rng), start=start):
            photo = take_photo(pictures[place], glance, rng=rng, in_the_way=people.get(k))
            _save(photo, folder / names[k], moments[k])
    places = tuple(place for place, _ in DAY)
    contexts = tuple(list(PLACES).index(place) for place in places)
    times = tuple(moment.timestamp() for moment in moments)
    return Photostream(folder, names, times, tuple(edges[1:-1]), places, contexts, (pause,))


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
        return colour_of_grey(image, *place.tints) if place.tints else image.convert("RGB")


def _remove_previous_photos(folder: Path) -> None:
    """Remove the photos of an earlier call; raise if the folder contains anything else."""
    folder.mkdir(parents=True, exist_ok=True)
    found = sorted(folder.iterdir())
    for path in found:
        if not _is_ours(path):
            raise ValueError(
                f"{folder} contains {path.name!r}, which is not from the demo; use a new or empty folder"
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
