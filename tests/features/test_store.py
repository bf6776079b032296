"""Stored features are reused where frames are the same, and an interrupted run goes on."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dayline.features.store import FeatureStore, FrameKeys, extract_with_store


@dataclass
class Model:
    name: str = "model"
    fingerprint: str = "f1"
    n_features: int = 2
    input_size: int = 4

    def prepare(self, image):
        return image[0, 0, :2]

    def extract(self, batch):
        return batch.astype(np.float32)


class Source:
    """Frame i is an image of value i; remembers what was asked for; may break at a frame."""

    def __init__(self, breaks_at=None, error=KeyboardInterrupt):
        self.asked: list[list[int]] = []
        self.breaks_at, self.error = breaks_at, error

    def __call__(self, indices):
        self.asked.append(list(indices))
        for i in indices:
            if i == self.breaks_at:
                raise self.error
            yield int(i), np.full((2, 2, 3), i, dtype=np.uint8)


def frame_keys(n: int) -> FrameKeys:
    return FrameKeys(
        names=tuple(f"{i:03}.jpg" for i in range(n)),
        sizes=tuple(1000 + i for i in range(n)),
        modified=tuple(1_700_000_000_000_000_000 + i for i in range(n)),
        times=tuple(2.5 * i for i in range(n)),
    )


@pytest.fixture
def store(tmp_path):
    return FeatureStore(tmp_path / "features.npz")


def test_a_second_run_asks_for_no_image(store):
    steps = []
    first = extract_with_store(Source(), Model(), store=store, keys=frame_keys(7), batch_size=3)
    source = Source()
    second = extract_with_store(
        source, Model(), store=store, keys=frame_keys(7), on_step=lambda *s: steps.append(s)
    )
    assert (first.n_reused, second.n_reused, second.reason) == (0, 7, None)
    assert source.asked == []
    assert steps == [(7, 7)]
    np.testing.assert_array_equal(second.features, first.features)
    np.testing.assert_array_equal(second.features[:, 0], range(7))


def test_the_file_says_what_it_holds(store):
    extract_with_store(Source(), Model(), store=store, keys=frame_keys(3))
    with np.load(store.path, allow_pickle=False) as content:
        assert str(content["model"]) == "model"
        assert str(content["fingerprint"]) == "f1"
        assert content["names"].tolist() == ["000.jpg", "001.jpg", "002.jpg"]
        assert content["times"].tolist() == [0, 2.5, 5]


def test_only_changed_and_new_frames_are_computed_again(store):
    extract_with_store(Source(), Model(), store=store, keys=frame_keys(5))
    keys = frame_keys(7)
    # One file is gone, one grew, one was touched, two are new.
    keys = FrameKeys(
        keys.names[1:],
        (*keys.sizes[1:2], 5, *keys.sizes[3:]),
        (*keys.modified[1:3], 9, *keys.modified[4:]),
    )
    source = Source()
    result = extract_with_store(source, Model(), store=store, keys=keys)
    assert source.asked == [[1, 2, 4, 5]]
    # Frames 0 and 3 are the former frames 1 and 4.
    np.testing.assert_array_equal(result.features[:, 0], [1, 1, 2, 4, 4, 5])


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_run_goes_on_where_it_stopped(store, error):
    with pytest.raises(error):
        extract_with_store(
            Source(breaks_at=7, error=error),
            Model(),
            store=store,
            keys=frame_keys(10),
            batch_size=2,
        )
    source = Source()
    result = extract_with_store(source, Model(), store=store, keys=frame_keys(10))
    assert result.n_reused == 6
    assert source.asked == [[6, 7, 8, 9]]
    np.testing.assert_array_equal(result.features[:, 0], range(10))


def test_parts_are_saved_during_the_run(store):
    seen = []

    def source(indices):
        for i in indices:
            seen.append(store.path.exists() and len(store.load(frame_keys(40), Model()).indices))
            yield int(i), np.full((2, 2, 3), i, dtype=np.uint8)

    extract_with_store(
        source, Model(), store=store, keys=frame_keys(40), batch_size=2, save_every=0
    )
    assert 2 <= seen[-1] < 40


def test_frames_that_were_skipped_are_tried_again(store):
    def source(indices):
        return (
            (int(i), lambda i=i: None if i == 1 else np.full((2, 2, 3), i, np.uint8))
            for i in indices
        )

    result = extract_with_store(source, Model(), store=store, keys=frame_keys(3))
    assert result.indices.tolist() == [0, 2]
    again = extract_with_store(Source(), Model(), store=store, keys=frame_keys(3))
    assert again.features[:, 0].tolist() == [0, 1, 2]
    assert again.n_reused == 2


def test_features_of_another_model_are_not_used(store):
    extract_with_store(Source(), Model(), store=store, keys=frame_keys(3))
    found = store.load(frame_keys(3), replace(Model(), fingerprint="f2"))
    assert len(found.indices) == 0
    assert (
        found.reason
        == "features.npz contains features of model with other weights or preprocessing"
    )


def test_a_store_of_other_frames_says_so(store):
    extract_with_store(Source(), Model(), store=store, keys=frame_keys(3))
    found = store.load(FrameKeys(("a",), (1,), (1,)), Model())
    assert found.reason == "features.npz contains other frames"


def _cut(path):
    path.write_bytes(path.read_bytes()[:-200])


def _flip(path):
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("features.npy").header_offset
    content[start + 200] ^= 255
    path.write_bytes(content)


def _rewrite(path, **changes):
    with np.load(path) as content:
        fields = dict(content) | changes
    np.savez(path, **{name: value for name, value in fields.items() if value is not None})


def _compress(path):
    with np.load(path) as content:
        np.savez_compressed(path, **content)


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _flip,
        _compress,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text("something of somebody's"),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: _rewrite(path, names=None),
        lambda path: _rewrite(path, format=np.asarray("dayline-features-0")),
        lambda path: _rewrite(path, names=np.asarray(["x"])),
        lambda path: _rewrite(path, sizes=np.asarray([0.5, 1.5, 2.5])),
        lambda path: _rewrite(path, features=np.zeros((3, 5), np.float32)),
        lambda path: _rewrite(path, features=np.full((3, 2), np.nan, np.float32)),
        lambda path: _rewrite(path, names=np.asarray([{}, {}, {}], dtype=object)),
    ],
)
def test_damaged_and_foreign_files_are_ignored_with_a_reason(store, damage):
    extract_with_store(Source(), Model(), store=store, keys=frame_keys(3))
    damage(store.path)
    found = store.load(frame_keys(3), Model())
    assert len(found.indices) == 0
    assert found.features.shape == (0, 2)
    assert found.reason.startswith("features.npz ")
    assert "\n" not in found.reason


def _declare_much(path):
    content = path.read_bytes()
    # The header keeps its length, and the checksum is read only with the last value.
    path.write_bytes(
        content.replace(b"'shape': (3, 2), }" + b" " * 10, b"'shape': (3, 20000000000), }")
    )


@pytest.mark.parametrize(
    "damage",
    [
        _declare_much,
        lambda path: _rewrite(path, names=np.asarray("x")),
        lambda path: _rewrite(path, format=np.zeros((3, 3))),
        lambda path: (path.unlink(), path.symlink_to("nowhere")),
    ],
)
def test_a_damaged_store_is_computed_anew(store, damage):
    extract_with_store(Source(), Model(), store=store, keys=frame_keys(3))
    damage(store.path)
    result = extract_with_store(Source(), Model(), store=store, keys=frame_keys(3))
    assert (result.n_reused, result.features[:, 0].tolist()) == (0, [0, 1, 2])
    assert result.reason.startswith("features.npz ")
    assert str(store.path.parent) not in result.reason
    assert extract_with_store(Source(), Model(), store=store, keys=frame_keys(3)).n_reused == 3


def test_every_damaged_store_is_computed_anew_and_never_wrong(store):
    extract_with_store(Source(), Model(), store=store, keys=frame_keys(3))
    good, rng = store.path.read_bytes(), np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(good)
        damaged[int(rng.integers(len(good)))] ^= 1 << int(rng.integers(8))
        store.path.write_bytes(damaged)
        found = store.load(frame_keys(3), Model())
        np.testing.assert_array_equal(found.features[:, 0], found.indices)


def test_no_file_is_no_reason(store):
    assert store.load(frame_keys(3), Model()).reason is None


def test_odd_names_come_back(store):
    keys = FrameKeys(("a b.jpg", "שלום.jpg", "\udcff<'\">.jpg"), (1, 2, 3), (4, 5, 6))
    extract_with_store(Source(), Model(), store=store, keys=keys)
    assert store.load(keys, Model()).indices.tolist() == [0, 1, 2]


def test_a_store_that_cannot_be_written_costs_only_a_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    store = FeatureStore(tmp_path / "file" / "features.npz")
    result = extract_with_store(Source(), Model(), store=store, keys=frame_keys(2))
    assert result.features[:, 0].tolist() == [0, 1]
    assert "could not be saved" in caplog.text


def test_uneven_keys_are_refused():
    with pytest.raises(ValueError, match=r"columns of \[2, 1, 2, 2\] entries"):
        FrameKeys(("a", "b"), (1,), (1, 2))
