from __future__ import annotations

import numpy as np
import pytest

from dayline.media.film_damage import mended_stamps
from dayline.media.source import images, read_video
from made_films import change_stamp

N_FRAMES = 150
"""At one every 200 ms: 30 s."""


@pytest.fixture
def stream(make_video):
    """A transport stream of frames that are told apart by their grey, with B-frames or without."""

    def make(options):
        greys = [20 + (31 * i) % 200 for i in range(N_FRAMES)]
        times_ms = [200 * i for i in range(N_FRAMES)]
        return make_video("v.ts", times_ms=times_ms, greys=greys, options={"g": "25", **options})

    return make


@pytest.mark.parametrize("options", [{}, {"bf": "0"}], ids=["reordered", "in order"])
@pytest.mark.parametrize("number", [0, 1, 74, 75, 76, N_FRAMES - 2, N_FRAMES - 1])
@pytest.mark.parametrize("bit", [15, 19, 24, 32])
def test_one_wrong_stamp_changes_nothing_but_a_note(stream, options, number, bit):
    path = stream(options)
    whole = read_video(path)
    path.write_bytes(change_stamp(path.read_bytes(), number, lambda stamp: stamp ^ 1 << bit))
    damaged = read_video(path)
    assert damaged.times == whole.times
    assert damaged.order == whole.order
    assert len(damaged.notes) == 1
    assert damaged.notes[0].startswith(
        "wrong time stamps in the video, repaired from the frames around them: 1 (first"
    )


def test_a_frame_with_a_wrong_stamp_is_decoded_at_its_place(stream):
    path = stream({})
    before = [image.mean() for _, image in images(read_video(path), size=32)]
    path.write_bytes(change_stamp(path.read_bytes(), 75, lambda stamp: stamp + (1 << 30)))
    after = [image.mean() for _, image in images(read_video(path), size=32)]
    np.testing.assert_array_equal(after, before)


def test_several_wrong_stamps_are_counted(stream):
    path = stream({})
    whole = read_video(path)
    content = path.read_bytes()
    for number, moved in ((20, 1 << 27), (21, 1 << 25), (90, 1 << 31)):
        content = change_stamp(content, number, lambda stamp, moved=moved: stamp + moved)
    path.write_bytes(content)
    damaged = read_video(path)
    assert damaged.times == whole.times
    assert "around them: 3 (first" in damaged.notes[0]


def steady(n: int = 60) -> list[int]:
    return [3600 * i for i in range(n)]


@pytest.mark.parametrize("exact_rate", [False, True])
@pytest.mark.parametrize(
    "stamps",
    [
        steady(),
        [s + (s >= 72_000) * 90_000 * 3600 for s in steady()],
        [s - (s >= 72_000) * 70_000 for s in steady()],
        [s * s // 3600 for s in steady()],
        [s + (i % 7) * 300 for i, s in enumerate(steady())],
        [*steady()[:30], 90_000 * 60, *(s + 90_000 * 120 for s in steady()[30:])],
        [*steady()[:4], 90_000 * 3600],
        [],
    ],
    ids=[
        "steady",
        "a pause",
        "set back",
        "slower and slower",
        "uneven",
        "alone between pauses",
        "few",
        "none",
    ],
)
def test_stamps_that_are_only_unusual_are_kept(stamps, exact_rate):
    assert mended_stamps(stamps, ticks_per_second=90_000, exact_rate=exact_rate) == {}


def test_deep_reordering_is_no_damage():
    """Each 16th frame is stored 15 places before its turn."""
    stamps = [3600 * (16 * group + place) for group in range(10) for place in (15, *range(15))]
    assert mended_stamps(stamps, ticks_per_second=90_000, exact_rate=True) == {}


def test_a_wrong_stamp_is_put_into_the_gap_it_left():
    stamps = steady()
    stamps[30] += 1_000_000_000
    stamps[0] += 7_000_000
    assert mended_stamps(stamps, ticks_per_second=90_000, exact_rate=False) == {0: 0, 30: 108_000}


def test_a_stream_says_nothing_of_its_length_so_it_is_not_cut_off(stream):
    path = stream({"bf": "0"})
    path.write_bytes(
        change_stamp(path.read_bytes(), N_FRAMES - 1, lambda stamp: stamp + 90_000 * 600)
    )
    assert not any("missing" in note for note in read_video(path).notes)
