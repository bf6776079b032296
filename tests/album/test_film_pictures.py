from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from dayline.album import pictures
from dayline.album.segment import segment_frames, segment_source
from dayline.album.settings import Settings
from dayline.album.write import write_result
from dayline.events import Segmentation
from dayline.result_folder import output_folder
from made_photos import make_film


def film_of(n_frames: int, boundaries=(), **about) -> Segmentation:
    about = {"times": tuple(0.5 * k for k in range(n_frames)), "clock": "media", **about}
    return Segmentation.from_boundaries(boundaries, n_frames, **about)


def test_photos_and_short_films_have_all_their_pictures():
    assert pictures.pictured_frames(film_of(1000)) == list(range(1000))
    photos = film_of(5000, clock="wall")
    assert pictures.pictured_frames(photos) == list(range(5000))
    assert pictures.pictured_frames(film_of(5000, times=None, clock=None)) == list(range(5000))


def test_a_long_film_has_those_of_its_boundaries_and_key_frames_and_some_between():
    film = film_of(7200, (1234, 5001, 7199))
    film = replace(
        film, events=tuple(replace(e, key_frame=min(e.start + 3, 7199)) for e in film.events)
    )
    chosen = pictures.pictured_frames(film)
    assert 950 <= len(chosen) <= 1000 + 4 * 3 + 4
    assert {1232, 1233, 1234, 1235, 1237, 7198, 7199} <= set(chosen)
    gaps = [b - a for a, b in pairwise(chosen)]
    assert max(gaps) <= 8


def test_a_frame_that_is_lost_changes_few_of_the_others():
    times = tuple(0.5 * k for k in range(7200))
    names = {times[k] for k in pictures.pictured_frames(film_of(7200))}
    without = times[:700] + times[701:]
    again = {without[k] for k in pictures.pictured_frames(film_of(7199, times=without))}
    assert len(names ^ again) <= 2


def test_a_long_film_is_shown_with_few_files_in_both_ways(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "MOST_PICTURES", 10)
    film, out = make_film(tmp_path / "film.mp4"), tmp_path / "out"
    with output_folder(out):
        result = segment_frames(film, Settings(model="color", every=0.1), out)
    assert result.segmentation.n_frames == 110
    assert len(list((out / "thumbnails").iterdir())) == 10
    written = write_result(result, out)
    chosen = pictures.pictured_frames(result.segmentation)
    assert sorted(written.pictures) == chosen
    assert len(list((out / "thumbnails").iterdir())) == len(chosen) < 20
    later = write_result(segment_source(film, model="color", every=0.1), tmp_path / "later")
    assert later.pictures == written.pictures
