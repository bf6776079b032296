from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, shift

from dayline.events import Shot
from dayline.media.cuts import PARTS, frames_within_shots, group_by_shots
from dayline.media.film import read_video
from dayline.media.frame import MissingFrames
from dayline.media.shots import HEIGHT, WIDTH, find_transitions, read_shots
from made_films import make_moving_film

SHAPE = (HEIGHT, WIDTH, 3)


def shot(seed: int, n: int, *, noise: float = 3.0, drift: float = 0.5) -> list[np.ndarray]:
    """A still of its own, with noise and light that drifts."""
    rng = np.random.default_rng(seed)
    still = np.kron(rng.uniform(40, 200, (9, 16, 3)), np.ones((3, 3, 1)))
    frames = [still + drift * k + rng.normal(scale=noise, size=SHAPE) for k in range(n)]
    return [np.clip(frame, 0, 255).astype(np.uint8) for frame in frames]


def mixture(a: list[np.ndarray], b: list[np.ndarray]) -> list[np.ndarray]:
    shares = np.linspace(0, 1, len(a) + 2)[1:-1]
    return [((1 - w) * x + w * y).astype(np.uint8) for w, x, y in zip(shares, a, b, strict=True)]


def found(images: list[np.ndarray]) -> list[tuple[int, str]]:
    return [(one.frame, one.how) for one in find_transitions(np.stack(images))]


def test_every_cut_is_the_first_frame_of_a_shot():
    lengths = (20, 17, 3, 4, 30)
    images = [frame for k, n in enumerate(lengths) for frame in shot(k, n)]
    assert found(images) == [(20, "cut"), (37, "cut"), (40, "cut"), (44, "cut")]


@pytest.mark.parametrize("n", [7, 12, 25, 49])
def test_a_dissolve_begins_a_shot_where_it_shows_half_of_each(n):
    a, b = shot(0, 50 + n), shot(1, n + 50)
    ((frame, how),) = found([*a[:50], *mixture(a[50:], b[:n]), *b[n:]])
    assert how == "dissolve"
    # The shares are k / (n + 1) for k = 1 .. n; noise may hide one step of them.
    assert abs(frame - (50 + n // 2)) <= 1


@pytest.mark.parametrize("level", [0, 255])
def test_a_fade_begins_a_shot_in_the_middle_of_what_shows_nothing(level):
    blank = [np.full(SHAPE, level, dtype=np.uint8)] * 10
    a, b = shot(0, 60), shot(1, 60)
    images = [*a[:50], *mixture(a[50:], blank), *blank, *mixture(blank, b[:10]), *b[10:]]
    assert found(images) == [(65, "fade")]
    assert found([*blank, *mixture(blank, b[:10]), *b[10:]]) == []
    assert found([*a[:50], *mixture(a[50:], blank), *blank]) == []


@pytest.mark.parametrize("n", [1, 3, 5])
def test_a_flash_is_no_cut_and_hides_none(n):
    images = [*shot(0, 30), *shot(1, 20)]
    for k in range(n):
        images[12 + k] = np.clip(images[12 + k] + 180.0 * 0.7**k, 0, 255).astype(np.uint8)
    assert found(images) == [(30, "cut")]


def test_light_that_is_switched_on_is_no_cut():
    dark = [(0.4 * frame).astype(np.uint8) for frame in shot(0, 30)]
    assert found([*dark, *shot(0, 30)]) == []


def test_a_thing_that_appears_is_no_cut():
    images = shot(0, 40)
    for image in images[20:]:
        image[5:12, 10:20] = 255
    assert found(images) == []


def test_stills_and_noise_have_no_cut():
    assert found([shot(0, 1)[0]] * 30) == []
    assert found(shot(0, 30, noise=30.0)) == []
    assert found(shot(0, 1)) == []


@pytest.mark.parametrize("speed", [1, 4])
def test_a_pan_is_no_cut_and_hides_none(speed):
    def panned(seed: int, n: int) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        place = np.kron(rng.uniform(0, 255, (9, 100, 3)), np.ones((3, 3, 1)))
        at = [speed * k for k in range(n)]
        return [place[:, left : left + WIDTH].astype(np.uint8) for left in at]

    assert found([*panned(0, 40), *panned(1, 40)]) == [(40, "cut")]


def landscape(seed: int, n: int) -> list[np.ndarray]:
    """Bright sky over dark ground, and things of its own, past which the camera moves slowly."""
    rng = np.random.default_rng(seed)
    things = gaussian_filter(rng.normal(size=(HEIGHT, 100, 3)), (3, 3, 0))
    sky = np.linspace(1, -1, HEIGHT)[:, None, None]
    place = 128 + 40 * things / things.std() + 40 * sky
    return [
        np.clip(shift(place, (0, -0.1 * k, 0), order=1)[:, :WIDTH], 0, 255).astype(np.uint8)
        for k in range(n)
    ]


@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_a_dissolve_during_a_pan_begins_a_shot(seed):
    a, b = landscape(seed, 85), landscape(seed + 1, 85)
    ((frame, how),) = found([*a[:60], *mixture(a[60:], b[:25]), *b[25:]])
    assert how == "dissolve"
    assert 60 <= frame < 85


def slide(layout: np.ndarray, share: float, *, seed: int) -> np.ndarray:
    """The layout, of which a share of the columns shows something else."""
    other = shot(seed, 1, noise=0)[0]
    return np.where(np.arange(WIDTH)[None, :, None] < share * WIDTH, other, layout)


def test_in_a_still_picture_half_of_the_change_is_a_cut():
    # 0.4 of the picture changes, by 32 levels at most, and about as much of it is unlike: 5 of 8.
    layout = shot(0, 1, noise=0)[0]
    first, second = (slide(layout, 0.4, seed=k) for k in (1, 2))
    assert found([first] * 30 + [second] * 30) == [(30, "cut")]
    # A picture that changes all the time needs all of it.
    rng = np.random.default_rng(0)
    noisy = [
        np.clip(image + rng.normal(scale=12, size=SHAPE), 0, 255).astype(np.uint8)
        for image in [first] * 30 + [second] * 30
    ]
    assert found(noisy) == []


def test_bars_above_and_below_do_not_hide_a_cut():
    images = [*shot(0, 30), *shot(1, 30)]
    for image in images:
        image[:8] = image[-8:] = 16
    assert found(images) == [(30, "cut")]


def test_shots_of_a_video_count_all_its_frames(tmp_path, monkeypatch):
    monkeypatch.setattr("dayline.media.shots.AT_ONCE", 30)
    monkeypatch.setattr("dayline.media.shots.AROUND", 20)
    film = make_moving_film(tmp_path / "film.mp4", (33, 20, 57))
    shots, missing = read_shots(read_video(film, every=0.5))
    assert [(one.start, one.stop) for one in shots] == [(0, 33), (33, 53), (53, 110)]
    assert [(one.start_time, one.stop_time) for one in shots] == [
        (0.0, 1.28),
        (1.32, 2.08),
        (2.12, 4.36),
    ]
    assert not missing


def test_frames_of_a_short_shot_begin_no_event_and_those_of_a_long_take_may():
    shots = (Shot(0, 250, 0.0, 9.96, "start"), Shot(250, 2500, 10.0, 99.96))
    times = [0.5 * k for k in range(200)]
    assert frames_within_shots(shots, times) == set(range(1, 20))


def test_the_frames_of_a_shot_count_as_one_and_those_of_a_longer_one_as_a_few():
    # 140 shots of 4 s and one of 40 s: a part has 600 s / 70.
    starts = [*(4.0 * k for k in range(140)), 560.0]
    stops = [*(start - 0.04 for start in starts[1:]), 600.0]
    shots = [Shot(k, k + 1, a, b) for k, (a, b) in enumerate(zip(starts, stops, strict=True))]
    times = [0.5 * k for k in range(1200)]
    groups = group_by_shots(shots, times)
    firsts = [times[k] for k in groups.firsts]
    assert firsts[:140] == starts[:140]
    n_parts = -(-40 * PARTS // 600)
    assert firsts[140:] == [560 + 40 * k / n_parts for k in range(n_parts)]

    # What a person set, and frames where the start of a shot may be lost, begin one, too.
    gap = MissingFrames(100.2, 100.9, 18)
    opened = group_by_shots(shots, times, opened=[3], missing=[gap]).firsts.tolist()
    assert sorted({*opened} - {*groups.firsts.tolist()}) == [3, 201, 202]

    # The curve of the scores does not fall to zero within shots.
    held = groups.expand_scores([0.5] * len(groups.firsts), held=True)
    assert held == (0.5,) * len(times)


def test_every_frame_counts_where_the_camera_mostly_runs_on():
    shots = (Shot(0, 250, 0.0, 9.96, "start"), Shot(250, 2500, 10.0, 99.96))
    times = [0.5 * k for k in range(200)]
    assert group_by_shots(shots, times).firsts.tolist() == list(range(200))
