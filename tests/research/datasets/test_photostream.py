from __future__ import annotations

import hashlib
import re
import socket
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.ExifTags import IFD, Base

from dayline.research.datasets import photostream as module
from dayline.research.datasets.photostream import (
    DAY,
    PHOTO_SIZE,
    PHOTOGRAPHS,
    PLACES,
    make_photostream,
    open_photographs,
)

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    return make_photostream(tmp_path_factory.mktemp("stream") / "photos", n_photos=72)


def test_photos_are_small_jpegs_and_nothing_else_is_written(stream):
    assert sorted(p.name for p in stream.folder.iterdir()) == sorted(stream.names)
    assert len(stream.names) == 72
    for name in stream.names[::17]:
        with Image.open(stream.folder / name) as image:
            assert (image.format, image.size, image.mode) == ("JPEG", PHOTO_SIZE, "RGB")


def test_the_times_in_the_photos_are_the_true_ones(stream):
    for name, time in zip(stream.names, stream.times, strict=True):
        with Image.open(stream.folder / name) as image:
            details = image.getexif().get_ifd(IFD.Exif)
        stamp = f"{details[Base.DateTimeOriginal]}.{details[Base.SubsecTimeOriginal]}"
        moment = datetime.strptime(stamp, "%Y:%m:%d %H:%M:%S.%f").replace(tzinfo=UTC)
        assert moment.timestamp() == pytest.approx(time, abs=1e-4)
        assert details[Base.OffsetTimeOriginal] == "+00:00"


def test_the_truth_fits_the_plan_of_the_day(stream):
    truth = stream.segmentation
    assert len(truth.events) == len(DAY) == 16
    assert stream.places == tuple(place for place, _ in DAY)
    assert [e.community for e in truth.events] == [list(PLACES).index(p) for p in stream.places]
    assert len(set(stream.places)) == len(PLACES) == 14
    assert all(a != b for a, b in pairwise(stream.places))
    assert min(event.n_frames for event in truth.events) >= 4
    assert truth.clock == "wall"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_photos_and_another_one_others(tmp_path, stream):
    def fingerprint(made):
        return [hashlib.sha256((made.folder / n).read_bytes()).hexdigest() for n in made.names[::9]]

    again = make_photostream(tmp_path / "again", n_photos=72)
    other = make_photostream(tmp_path / "other", n_photos=64, random_state=3)
    assert fingerprint(again) == fingerprint(stream)
    assert (again.times, again.boundaries) == (stream.times, stream.boundaries)
    assert fingerprint(other)[0] != fingerprint(stream)[0]
    assert other.boundaries == tuple(range(4, 64, 4))


def test_photos_of_an_earlier_call_are_replaced(tmp_path, stream):
    folder = tmp_path / "photos"
    folder.mkdir()
    left_over = folder / "photo_0999.jpg"
    left_over.write_bytes((stream.folder / stream.names[0]).read_bytes())
    made = make_photostream(folder, n_photos=64)
    assert sorted(p.name for p in folder.iterdir()) == list(made.names)


@pytest.mark.parametrize("name", ["notes.txt", "photo_0000.jpg"])
def test_files_of_others_are_never_touched(tmp_path, name):
    (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(ValueError, match="which is not from the demo; use a new or empty folder"):
        make_photostream(tmp_path, n_photos=64)
    assert (tmp_path / name).read_bytes() == b"mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_too_few_photos_are_refused(tmp_path):
    with pytest.raises(ValueError, match="n_photos=63 is too few for 16 visits; use at least 64"):
        make_photostream(tmp_path, n_photos=63)


def test_the_photographs_are_in_the_package_and_no_connection_is_opened(monkeypatch):
    def refused(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    for place in PLACES:
        assert all(min(photograph.size) >= 350 for photograph in open_photographs(place))
    used = {name for place in PLACES.values() for name in place.photographs}
    files = {path.name for path in PHOTOGRAPHS.iterdir()}
    assert files == {f"{name}.webp" for name in used} | {"CREDITS.md"}
    assert sum(path.stat().st_size for path in PHOTOGRAPHS.iterdir()) < 1_200_000


def test_every_photograph_is_credited_beside_it_and_in_the_docs():
    text = (PHOTOGRAPHS / "CREDITS.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.+)` \| (.+) \| (.+) \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert [file for file, *_ in rows] == sorted(p.name for p in PHOTOGRAPHS.glob("*.webp"))
    packages = re.findall(r"^- \*\*(.+)\*\*: ", text, re.MULTILINE)
    assert {taken_from.split(",")[0] for *_, taken_from, _ in rows} == set(packages)
    page = (ROOT / "docs" / "demo-photographs.md").read_text(encoding="utf-8")
    assert text.partition("\n")[2] in page


def test_the_photographs_tell_nothing_but_the_picture():
    for path in PHOTOGRAPHS.glob("*.webp"):
        with Image.open(path) as image:
            assert not {"exif", "xmp", "icc_profile"} & set(image.info)


def test_within_a_visit_the_camera_turns_between_the_photographs_of_a_place(stream):
    """The zoo has three photographs; two photos of one differ far less than photos of two."""
    at = DAY.index(("zoo", 1.2))
    first, stop = stream.boundaries[at - 1], stream.boundaries[at]
    small = []
    for name in stream.names[first:stop]:
        with Image.open(stream.folder / name) as image:
            small.append(np.asarray(image.resize((8, 6)), dtype=float))
    steps = [float(np.abs(a - b).mean()) for a, b in pairwise(small)]
    assert max(steps) > 25 > min(steps)


def test_no_crop_shows_the_edge_of_the_photograph():
    """On a white photograph without noise, any pixel from outside would be black."""
    white = Image.new("RGB", (640, 427), (255, 255, 255))
    for corner in ((-1, -1), (1, 1), (-1, 1)):
        for angle in (-9.0, 9.0):
            glance = module.visit(1, zoom=(1.0, 1.0), rng=np.random.default_rng(0))[0]
            turned = type(glance)(*corner, 1.0, angle, 1.0, 1.0, 0, 0)
            photo = np.asarray(module.take_photo(white, turned, rng=np.random.default_rng(0)))
            assert photo.min() > 150
