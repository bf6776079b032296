from __future__ import annotations

import numpy as np
import pytest

from dayline.media.clocks import clock_corrections, clock_offset

DAY = 86_400.0


def made_days(seed, *, n_days=2, shared=1.0, n_places=30):
    """Make days of two cameras on visits of half an hour.

    A place is a direction, and the view drifts during a visit.
    """
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(n_places, 40))
    rows = ([], [])
    for day in range(n_days):
        start = day * DAY + 32_400 + rng.uniform(0, 3600)
        for _ in range(12):
            length = rng.uniform(900, 2700)
            first = int(rng.integers(n_places))
            phase = rng.uniform(0, 6)
            for camera in (0, 1):
                place = first
                if camera == 1 and rng.random() >= shared:
                    place, phase = int(rng.integers(n_places)), rng.uniform(0, 6)
                for t in np.sort(rng.uniform(0, length, 14)):
                    view = (
                        places[place]
                        + 0.8 * np.sin(t / 300 + phase + np.arange(40))
                        + rng.normal(scale=0.5, size=40)
                    )
                    rows[camera].append((start + t, view + (0.5 if camera else 0.0)))
            start += length + rng.uniform(60, 900)
    (times_a, a), (times_b, b) = (
        (np.asarray([r[0] for r in c]), np.asarray([r[1] for r in c])) for c in rows
    )
    return times_a, a, times_b, b


@pytest.mark.parametrize("offset", [2820.0, -3600.0, 7200.0, 46_800.0])
def test_the_offset_is_found_within_a_minute(offset):
    times_a, a, times_b, b = made_days(1, shared=0.7)
    found = clock_offset(times_a, a, times_b + offset, b)
    assert found is not None
    assert found.is_clear
    assert abs(found.seconds - offset) < 60
    assert abs(found.correction - offset) < 60


def test_few_photos_with_many_features_take_the_time_of_few(monkeypatch):
    """Turning features into a space of more dimensions changes no product of two photos."""
    times_a, a, times_b, b = made_days(1, shared=0.7)
    rng, usual, sizes = np.random.default_rng(0), np.linalg.eigh, []
    monkeypatch.setattr(np.linalg, "eigh", lambda m: (sizes.append(len(m)), usual(m))[1])
    found = []
    for n_features in (60, 1280):
        turn = np.linalg.qr(rng.normal(size=(n_features, 40)))[0].T
        found.append(clock_offset(times_a, a @ turn, times_b + 2820.0, b @ turn))
    assert sizes == [60, len(a) + len(b)]
    assert len(a) + len(b) == 2 * 2 * 12 * 14
    assert found[1].seconds == pytest.approx(found[0].seconds, abs=1)
    assert found[1].likeness == pytest.approx(found[0].likeness, rel=1e-3)


def test_clocks_that_agree_are_left_alone():
    for seed in range(4):
        times_a, a, times_b, b = made_days(seed, n_days=1, shared=0.7)
        found = clock_offset(times_a, a, times_b, b)
        assert found is not None
        assert found.correction == 0


def test_cameras_that_saw_different_things_are_left_alone():
    for seed in range(4):
        times_a, a, times_b, b = made_days(seed, n_days=1, shared=0.0)
        found = clock_offset(times_a, a, times_b + 2820, b)
        assert found is None or found.correction == 0


def test_close_to_a_whole_hour_it_is_a_whole_hour():
    times_a, a, times_b, b = made_days(3)
    found = clock_offset(times_a, a, times_b - 3600, b)
    assert found is not None
    assert found.correction == -3600


def test_few_photos_are_not_compared():
    times_a, a, times_b, b = made_days(3)
    assert clock_offset(times_a[:7], a[:7], times_b, b) is None


def test_the_reference_keeps_its_times_and_the_note_names_the_other():
    times_a, a, times_b, b = made_days(2)
    times, features = np.concatenate([times_a, times_b + 2820]), np.concatenate([a, b])
    cameras = ["A"] * len(a) + ["B"] * len(b)
    added, notes = clock_corrections(times, cameras, features, zoned={"A"})
    assert added.keys() == {"B"}
    assert abs(added["B"] + 2820) < 60
    assert notes[0].startswith("the clock of B is 4")
    assert "ahead of that of A, by photos that look alike; its times were corrected" in notes[0]
    added, _ = clock_corrections(times, cameras, features, zoned={"B"})
    assert added.keys() == {"A"}
    assert abs(added["A"] - 2820) < 60


def three_cameras():
    """Return times, cameras and features: A and B agree, and C, 47 minutes ahead, has the most.

    Every other photo of one of two people's cameras is A's, the others B's.
    """
    times_a, a, times_c, c = made_days(2)
    cameras = [*("AB"[k % 2] for k in range(len(a))), *("C" * len(c))]
    return np.concatenate([times_a, times_c + 2820]), cameras, np.concatenate([a, c])


def test_the_clock_with_which_most_others_agree_is_right_not_that_with_the_most_photos():
    times, cameras, features = three_cameras()
    added, notes = clock_corrections(times, cameras, features)
    assert added.keys() == {"C"}
    assert abs(added["C"] + 2820) < 60
    assert len(notes) == 1
    # A clock that records time zones is right even if the others agree.
    added, _ = clock_corrections(times, cameras, features, zoned={"C"})
    assert added.keys() == {"A", "B"}


def test_of_two_clocks_that_of_the_camera_with_locations_is_right():
    times_a, a, times_b, b = made_days(2)
    times, features = np.concatenate([times_a, times_b + 2820]), np.concatenate([a, b])
    cameras = ["A"] * len(a) + ["B"] * len(b)
    for located, moved in (({"A"}, {"B"}), ({"B"}, {"A"}), (set(), {"B"})):
        added, _ = clock_corrections(times, cameras, features, located=located)
        assert added.keys() == moved


def test_what_is_not_clear_by_one_camera_may_be_clear_by_all_that_agree():
    times_a, a, times_c, c = made_days(2)
    visit = np.arange(len(a)) // 14  # of both people, 24 visits
    odd = np.arange(len(a)) % 2 == 1
    # A and C meet at visit 9 only, in fewer than five half hours; B is there all the time.
    is_a, is_b, is_c = odd & (visit <= 9), ~odd, visit >= 9
    times = np.concatenate([times_a[is_a], times_a[is_b], times_c[is_c] + 2820])
    features = np.concatenate([a[is_a], a[is_b], c[is_c]])
    cameras = [*("A" * is_a.sum()), *("B" * is_b.sum()), *("C" * is_c.sum())]
    assert is_c.sum() > is_b.sum()  # so that C is compared first
    added, _ = clock_corrections(times, cameras, features, zoned={"A"})
    assert added.keys() == {"C"}
    assert abs(added["C"] + 2820) < 60
