"""What was seen of frames comes back as it was, or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dayline.features.store import load_seen, save_seen
from dayline.media.frame import Camera, CaptureTime, Frame, Seen


class Model:
    name, fingerprint, n_features, input_size = "model", "f1", 2, 4


class OtherModel(Model):
    fingerprint = "f2"


def seen(i: int) -> Seen:
    return Seen(
        features=np.asarray([i, 0.5], dtype=np.float32),
        signature=np.full(256, i, dtype=np.uint8),
        measures=np.asarray([i, 0, 1], dtype=np.float32),
    )


FRAMES = {
    ("a b.jpg", 1, 10, 11): Frame(
        "a b.jpg",
        Path("a b.jpg"),
        "d0",
        taken=CaptureTime(1.5, 3600.0, is_utc=True),
        camera=Camera("Canon", "12"),
        location=(40.5, -3.25),
        seen=seen(0),
    ),
    ("שלום.jpg", 2, 20, 21): Frame(
        "שלום.jpg", Path("x"), "d1", taken=CaptureTime(2.0), seen=seen(1)
    ),
    ("\\udcff<'\">.jpg", 3, 30, 31): Frame("", Path(), "d2", seen=seen(2)),
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "features.npz"
    save_seen(path, Model(), FRAMES)
    return path


def test_all_comes_back(file):
    found, why = load_seen(file, Model())
    assert why == ""
    assert list(found) == list(FRAMES)
    for frame, before in zip(found.values(), FRAMES.values(), strict=True):
        for what in ("digest", "taken", "camera", "location"):
            assert getattr(frame, what) == getattr(before, what)
        for what in ("features", "signature", "measures"):
            values = getattr(before.seen, what)
            np.testing.assert_array_equal(getattr(frame.seen, what), values)
            assert getattr(frame.seen, what).dtype == values.dtype


def test_features_and_names_can_be_read_by_anyone(file):
    with np.load(file, allow_pickle=False) as content:
        assert str(content["model"]) == "model"
        assert content["names"].tolist() == [name for name, *_ in FRAMES]
        assert content["features"][:, 0].tolist() == [0, 1, 2]


def test_no_file_is_no_reason(tmp_path):
    assert load_seen(tmp_path / "features.npz", Model()) == ({}, "")


def test_features_of_another_model_are_not_used(file):
    assert load_seen(file, OtherModel()) == (
        {},
        "features.npz contains features of model with other weights or preprocessing",
    )


def _cut(path):
    path.write_bytes(path.read_bytes()[:-200])


def _rewrite(path, **changes):
    with np.load(path) as content:
        fields = dict(content) | changes
    np.savez(path, **{name: value for name, value in fields.items() if value is not None})


def _about(text: bytes):
    return lambda path: _rewrite(path, about=np.frombuffer(text, dtype=np.uint8))


def _declare_much(path):
    content = path.read_bytes()
    # The header keeps its length, and the checksum is read only with the last value.
    path.write_bytes(
        content.replace(b"'shape': (3, 2), }" + b" " * 10, b"'shape': (3, 20000000000), }")
    )


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _declare_much,
        _about(b""),
        _about(b"[1, 2, 3]"),
        _about(b'[["d", {"seconds": 1e999}, {}, null]]'),
        _about(b"[" * 100_000),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text("something of somebody's"),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: (path.unlink(), path.symlink_to("nowhere")),
        lambda path: _rewrite(path, names=None),
        lambda path: _rewrite(path, names=np.asarray("x")),
        lambda path: _rewrite(path, format=np.asarray("dayline-features-0")),
        lambda path: _rewrite(path, format=np.zeros((3, 3))),
        lambda path: _rewrite(path, names=np.asarray(["x"])),
        lambda path: _rewrite(path, sizes=np.asarray([0.5, 1.5, 2.5])),
        lambda path: _rewrite(path, features=np.zeros((3, 5), np.float32)),
        lambda path: _rewrite(path, features=np.full((3, 2), np.nan, np.float32)),
        lambda path: _rewrite(path, signatures=np.zeros((3, 5), np.uint8)),
        lambda path: _rewrite(path, names=np.asarray([{}, {}, {}], dtype=object)),
    ],
)
def test_damaged_and_foreign_files_are_ignored_with_a_reason(file, damage):
    damage(file)
    found, why = load_seen(file, Model())
    assert found == {}
    assert why.startswith("features.npz ")
    assert "\n" not in why
    assert str(file.parent) not in why


def test_a_damaged_file_is_never_read_wrong(file):
    good, rng = file.read_bytes(), np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(good)
        damaged[int(rng.integers(len(good)))] ^= 1 << int(rng.integers(8))
        file.write_bytes(damaged)
        found, _ = load_seen(file, Model())
        for key, frame in found.items():
            # Times of change and sizes in the directory of the archive do not matter.
            assert frame.digest == FRAMES[key].digest
            np.testing.assert_array_equal(frame.seen.features, FRAMES[key].seen.features)
