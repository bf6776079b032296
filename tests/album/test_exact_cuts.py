from __future__ import annotations

import shutil
from dataclasses import replace

import av
import numpy as np
import pytest

from dayline import EventSegmenter, read_events, score_boundaries
from dayline.album.segment import segment_source
from dayline.album.write import write_result
from dayline.events import Segmentation
from dayline.media.cuts import with_exact_cuts
from dayline.media.film import read_video
from made_films import make_moving_film

pytestmark = pytest.mark.slow

SCENES = (
    315,
    475,
    333,
    377,
)  # cuts at 12.6, 31.6 and, faded, 44.92 s; sampled are 12.52, 13, 31.52, 32, ...
FADE = 40


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    folder = tmp_path_factory.mktemp("film")
    return make_moving_film(folder / "film.mp4", SCENES, dissolves={3: FADE})


def segmented(film, **options):
    options = {"model": "color", "every": 0.5, **options}
    return segment_source(film, **options)


def starts(segmentation):
    return [event.start_time for event in segmentation.events]


@pytest.fixture(scope="module")
def found(film):
    return segmented(film)


def test_cuts_are_exact_and_a_dissolve_begins_where_it_shows_half_of_each(found):
    events, times = found.segmentation.events, found.segmentation.times
    assert [e.start_time for e in events[:3]] == [0.0, 12.6, 31.6]
    assert [e.stop_time for e in events[:2]] == [12.56, 31.56]
    assert [times[e.start] for e in events[1:3]] == [13.0, 32.0]
    assert len(events) == 4
    assert abs(events[3].start_time - (44.92 + FADE / 2 / 25)) <= 0.12
    assert [shot.how for shot in found.segmentation.shots] == ["start", "cut", "cut", "dissolve"]
    assert [event.start_time for event in events] == [
        shot.start_time for shot in found.segmentation.shots
    ]
    assert "starts of shots, exact to the frame: 3 of 3 boundaries" in found.segmentation.notes


def test_every_file_has_the_exact_times(found, film, tmp_path):
    formats = ("webvtt", "ffmetadata", "youtube", "edl")
    write_result(found, tmp_path, formats=formats, with_chapters=True)
    saved = read_events(tmp_path / "events.json")
    assert starts(saved)[1:3] == [12.6, 31.6]
    assert saved.start_times[1:3] == (12.6, 31.6)
    texts = {
        "chapters.vtt": "00:00:12.600 --> 00:00:31.600",
        "chapters.ffmetadata": "START=12600\nEND=31600",
        "youtube.txt": "0:12 ",
        "events.edl": "00:00:12:15 00:00:31:15",
        "events.csv": ",12.6,31.56,00:00:12.600,00:00:31.560,18.96,",
        "index.html": '"start_time":12.6,"stop_time":31.56',
    }
    for name, text in texts.items():
        assert text in (tmp_path / name).read_text(), name
    with av.open(str(tmp_path / "film-chapters.mp4")) as copy:
        assert [float(c["start"] * c["time_base"]) for c in copy.chapters()][1:3] == [12.6, 31.6]


def test_a_second_run_gives_the_same(found, film, tmp_path, monkeypatch):
    first = segmented(film, store=tmp_path)
    assert first.segmentation == found.segmentation
    # The shots are kept: no frame of the film is decoded again.
    monkeypatch.setattr("dayline.media.shots.small_images", None)
    second = segmented(film, store=tmp_path)
    assert second.segmentation == first.segmentation


@pytest.mark.parametrize("every", [0.5, 0.3, 1.0])
def test_corrections_keep_exact_times_however_the_film_is_sampled(found, film, every):
    first, second, *rest = found.segmentation.events
    corrected = replace(
        found.segmentation,
        events=(replace(first, name="before"), replace(second, name="after"), *rest),
    )
    again = segmented(film, every=every, corrections=corrected).segmentation
    assert starts(again)[:3] == [0.0, 12.6, 31.6]
    assert [e.stop_time for e in again.events[:2]] == [12.56, 31.56]
    assert [e.name for e in again.events] == ["before", "after", None, None]
    if every == 0.5:
        assert [e.start_time for e in again.events] == starts(found.segmentation)


def test_an_exact_time_that_only_the_file_has_is_kept(found, film):
    """A person may know better where a dissolve starts."""
    *before, last = found.segmentation.events
    asked = found.segmentation.times[last.start] - 0.1
    corrected = replace(found.segmentation, events=(*before, replace(last, start_time=asked)))
    again = segmented(film, corrections=corrected).segmentation
    assert again.events[3].start_time == asked
    assert again.events[2].stop_time == before[-1].stop_time


def test_a_boundary_moved_by_hand_is_exact_if_there_is_a_cut_and_stays_if_not(film, found):
    names, times = found.segmentation.names, found.segmentation.times
    moved = Segmentation.from_boundaries(
        [10, 26, 64], len(times), times=times, names=names, clock="media"
    )
    again = segmented(film, corrections=moved).segmentation
    # The cut at 12.6 s is between the frames 25 and 26; at 5 s there is none.
    assert starts(again) == [0.0, 5.0, 12.6, 31.6]
    late = Segmentation.from_boundaries([27], len(times), times=times, names=names, clock="media")
    assert starts(segmented(film, corrections=late).segmentation) == [0.0, 13.52]


@pytest.mark.parametrize("every", [0.5, 0.2, 0.7])
def test_a_boundary_set_by_hand_keeps_its_time_and_is_no_hard_cut(film, found, every):
    saved = found.segmentation
    first, *rest = saved.events
    left = replace(first, stop=10, stop_time=saved.times[9])
    right = replace(first, start=10, start_time=saved.times[10], reason="required")
    split = replace(saved, events=(left, right, *rest))
    again = segmented(film, every=every, corrections=split).segmentation
    assert starts(again)[:4] == [0.0, saved.times[10], 12.6, 31.6]
    assert (
        f"starts of shots, exact to the frame: 3 of 4 boundaries; the others are to {every} s"
        in again.notes
    )


def test_a_time_that_belongs_to_another_frame_is_ignored(found):
    first, second, *rest = found.segmentation.events
    edited = replace(
        found.segmentation, events=(replace(first, stop=20), replace(second, start=20), *rest)
    )
    assert edited.start_times[1] == edited.times[20]
    assert edited.stop_times[0] == edited.times[19]


@pytest.mark.parametrize("off", [-1, 1])
def test_a_boundary_one_sampled_frame_off_is_moved(found, off):
    times, shots = found.segmentation.times, found.segmentation.shots
    rough = Segmentation.from_boundaries([26 + off], len(times), times=times, clock="media")
    exact = with_exact_cuts(rough, shots)
    assert exact.boundaries == (26,)
    assert exact.events[1].start_time == 12.6
    assert with_exact_cuts(rough, shots, fixed=[26 + off]).boundaries == (26 + off,)
    assert with_exact_cuts(rough, shots, forbidden=[26]).boundaries == (26 + off,)


def test_two_boundaries_do_not_take_the_same_cut(found):
    times = found.segmentation.times
    rough = Segmentation.from_boundaries([25, 26, 27], len(times), times=times, clock="media")
    exact = with_exact_cuts(rough, found.segmentation.shots)
    assert exact.boundaries == (25, 26, 27)
    assert starts(exact) == [0.0, times[25], 12.6, times[27]]


def test_an_exact_time_that_is_known_stays(found):
    times = found.segmentation.times
    rough = Segmentation.from_boundaries([26], len(times), times=times, clock="media")
    exact = with_exact_cuts(rough, found.segmentation.shots, known={26: (12.7, 12.8)})
    assert (exact.events[0].stop_time, exact.events[1].start_time) == (12.7, 12.8)


@pytest.mark.parametrize("name", ["film.mkv", "film.mp4"])
def test_a_variable_frame_rate_is_exact_too(tmp_path, name):
    rng = np.random.default_rng(5)
    times_ms = np.cumsum(rng.choice([20, 33, 47, 90], 700)).tolist()
    film = make_moving_film(tmp_path / name, (311, 389), times_ms=times_ms)
    events = segmented(film, segmenter=EventSegmenter(n_events=2)).segmentation.events
    start = times_ms[0]
    assert events[1].start_time == pytest.approx((times_ms[311] - start) / 1000, abs=1e-6)
    assert events[0].stop_time == pytest.approx((times_ms[310] - start) / 1000, abs=1e-6)


def test_a_film_whose_beginning_is_edited_out_is_exact_too(tmp_path):
    film = make_moving_film(
        tmp_path / "film.mp4", (215, 290), times_ms=[40 * i - 1010 for i in range(505)]
    )
    with av.open(str(film)) as container:
        discarded = sum(packet.is_discard for packet in container.demux(video=0))
    assert discarded
    sequence = read_video(film, every=0.5)
    first = sequence.video.seconds(sequence.frames[0].in_video)
    segmentation = segmented(film, segmenter=EventSegmenter(n_events=2)).segmentation
    shown = [frame.stamp for frame in sequence.video.between(0, 60)]
    assert len(shown) == 505 - discarded
    assert first >= 0
    # The cut is 215 frames from the beginning of the file, of which some are not shown.
    assert segmentation.events[1].start_time == sequence.video.seconds(
        sequence.video.between(0, 60)[215 - discarded]
    )


def test_frames_that_cannot_be_decoded_leave_the_boundary_and_a_note(film, tmp_path):
    damaged = tmp_path / "film.mp4"
    shutil.copy(film, damaged)
    with av.open(str(film)) as container:
        packets = sorted(
            (p.pts * p.time_base, p.pos, p.size) for p in container.demux(video=0) if p.size
        )
    content = bytearray(damaged.read_bytes())
    for time, start, length in packets:
        if 12.4 < time < 12.5 or 12.6 < time < 12.7:
            content[start : start + length] = b"\xff" * length
    damaged.write_bytes(content)
    segmentation = segmented(damaged).segmentation
    event = segmentation.events[1]
    assert event.start_time == segmentation.times[event.start]
    said = "boundaries next to missing or broken frames, not exact to the frame: "
    assert any(note.startswith(said) for note in segmentation.notes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_film_sampled_at_5_2_and_1_frames_a_second_has_the_same_events(tmp_path, seed):
    lengths = np.random.default_rng(seed).integers(300, 900, 7).tolist()
    film = make_moving_film(tmp_path / "film.mp4", lengths, dissolves={2: 30, 5: 20})
    results = [segmented(film, every=every).segmentation for every in (0.2, 0.5, 1.0)]
    boundaries = [[round(1000 * time) for time in starts(result)[1:]] for result in results]
    n = round(1000 * sum(lengths) / 25)
    for a in boundaries:
        for b in boundaries:
            assert score_boundaries(a, b, n_frames=n, tolerance=1000).f1 >= 0.8
