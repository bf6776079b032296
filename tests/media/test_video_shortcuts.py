from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dayline.media import film_decode as video_file
from dayline.media.source import images, read_video
from made_films import OpenedFilm

EVERY_40_MS = [40 * i for i in range(200)]
GREYS = [20 + i for i in range(200)]
OPTIONS = {
    "closed groups": {"g": "10", "bf": "2", "x264-params": "scenecut=0"},
    "open groups": {
        "x264-params": "keyint=10:min-keyint=10:bframes=3:b-adapt=0:open-gop=1:scenecut=0"
    },
    "pyramid": {
        "x264-params": "keyint=40:min-keyint=40:bframes=7:b-adapt=0:b-pyramid=normal:scenecut=0"
    },
}
SPARSE = [3, 47, 48, 122, 199]


def without_shortcuts(sequence):
    return replace(sequence, video=replace(sequence.video, keys={}))


def seeks(monkeypatch, *, lands=lambda stamp: stamp):
    """Count how often the container is sought, and let it land elsewhere."""
    stamps = []
    opened = video_file._opened

    class Watched(OpenedFilm):
        def seek(self, stamp, *, stream):
            stamps.append(stamp)
            self.container.seek(lands(stamp), stream=stream)

    monkeypatch.setattr(video_file, "_opened", lambda *what: Watched(opened(*what)))
    return stamps


def same(found, expected) -> bool:
    return found.keys() == expected.keys() and all(
        np.array_equal(found[i], expected[i]) for i in expected
    )


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("name", ["v.mp4", "v.mkv", "v.ts", "v.flv"])
@pytest.mark.parametrize("indices", [SPARSE, list(range(0, 200, 12)), list(range(90, 130))])
def test_frames_are_the_same_with_shortcuts_and_without(make_video, kind, name, indices):
    path = make_video(name, times_ms=EVERY_40_MS, greys=GREYS, options=OPTIONS[kind])
    sequence = read_video(path, every=0.001)
    assert sequence.video.keys
    notes = []
    fast = dict(images(sequence, size=64, indices=indices, on_note=notes.append))
    assert list(fast) == indices
    assert same(fast, dict(images(without_shortcuts(sequence), size=64, indices=indices)))
    assert notes == []


@pytest.mark.parametrize("name", ["v.mp4", "v.mkv"])
def test_groups_without_a_wanted_frame_are_sought_past(make_video, monkeypatch, name):
    path = make_video(name, times_ms=EVERY_40_MS, greys=GREYS, options=OPTIONS["closed groups"])
    sequence = read_video(path, every=0.04)
    stamps = seeks(monkeypatch)
    assert [i for i, _ in images(sequence, size=64, indices=SPARSE)] == SPARSE
    assert len(stamps) >= 3
    stamps.clear()
    assert len(list(images(sequence, size=64))) == 200
    assert stamps == []


def test_a_reader_that_lands_too_early_reads_on(make_video, monkeypatch):
    path = make_video("v.mp4", times_ms=EVERY_40_MS, greys=GREYS, options=OPTIONS["closed groups"])
    sequence = read_video(path, every=0.04)
    expected, notes = dict(images(sequence, size=64, indices=SPARSE)), []
    seeks(monkeypatch, lands=lambda stamp: 0)
    assert same(dict(images(sequence, size=64, indices=SPARSE, on_note=notes.append)), expected)
    assert notes == []


@pytest.mark.parametrize("fails", [False, True])
def test_a_video_that_cannot_be_searched_is_read_from_its_start_and_says_so(
    make_video, monkeypatch, fails
):
    path = make_video("v.mp4", times_ms=EVERY_40_MS, greys=GREYS, options=OPTIONS["closed groups"])
    sequence = read_video(path, every=0.04)
    expected, notes = dict(images(sequence, size=64, indices=SPARSE)), []

    def too_late(stamp):
        if fails:
            raise OSError("cannot seek")
        return 10**9

    seeks(monkeypatch, lands=too_late)
    assert same(dict(images(sequence, size=64, indices=SPARSE, on_note=notes.append)), expected)
    assert notes == ["the video could not be searched and was read from its start"]


def test_a_damaged_video_is_read_from_its_start(make_video, monkeypatch):
    path = make_video("v.mkv", times_ms=EVERY_40_MS, greys=GREYS, options=OPTIONS["closed groups"])
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    stamps = seeks(monkeypatch)
    sequence = read_video(path, every=0.04)
    failed = {}
    seen = [i for i, _ in images(sequence, size=64, indices=[3, 80], on_skip=failed.__setitem__)]
    assert seen == [3, 80]
    assert stamps == []


def test_the_index_knows_every_frame_however_few_are_sampled(make_video):
    times_ms = [0, 33, 71, 300, 301, 1007, 1501, 1502, 3999]
    sequence = read_video(make_video("v.mkv", times_ms=times_ms), every=2)
    assert sequence.n_frames == 2
    index = sequence.video
    assert [index.seconds(frame) for frame in index.between(0.071, 1.501)] == [
        0.071,
        0.3,
        0.301,
        1.007,
        1.501,
    ]
    assert index.between(2, 3) == ()
