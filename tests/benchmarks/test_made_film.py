from __future__ import annotations

import exact_cuts as script
import numpy as np


def test_the_film_has_its_cuts_where_they_are_said_to_be():
    truth = script.plan_film(minutes=0.4, n_cuts=3, n_dissolves=1, seed=3)
    assert (len(truth.cuts), len(truth.dissolves), truth.n_frames) == (3, 1, 600)
    small = np.asarray(
        [f[::20, ::20].astype(int).ravel() for f in script.film_frames(truth, seed=3)]
    )
    change = np.abs(np.diff(small, axis=0)).mean(axis=1)
    assert {int(k) + 1 for k in np.argsort(change)[-3:]} == set(truth.cuts)
    first, end = truth.dissolves[0]
    assert change[first - 1 : end].max() < 0.5 * change[np.asarray(truth.cuts) - 1].min()


def test_the_figures_count_what_is_exact(capsys):
    truth = script.Truth(n_frames=1500, cuts=(100, 500, 900), dissolves=((1200, 1230),))
    starts = [4.0, 20.04, 30.0, 48.6]
    report = {
        "starts": starts,
        "step": 0.5,
        "n_frames": 120,
        "stages": {"all": 6.0},
        "notes": [],
        "peak": 2**30,
    }
    script.print_figures(truth, report)
    said = capsys.readouterr().out
    assert "hard cuts: 2 of 3 found within 0.5 s, 1 of these exact to the frame" in said
    assert "the cut at frame 500 is off by 1 frames" in said
    assert "dissolves: 1 of 1 found" in said
    assert "boundaries elsewhere: 1" in said
    assert "all 0.10 min, peak memory 1.00 GiB" in said
