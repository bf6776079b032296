"""The table of signals: its page has every kind and method, and the signals are what they say."""

from __future__ import annotations

import numpy as np
import pytest
import signals


def test_the_page_has_every_kind_and_method():
    page = signals.PAGE.read_text(encoding="utf-8")
    table = page.partition(signals.BEGIN)[2].partition(signals.END)[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    names = {row[0] for row in rows}
    assert {*signals.CHANGES, *signals.NOTHING} <= names
    assert set(rows[0]) >= {"dayline", "dayline, `fast()`", "ruptures, l2", "ruptures, rbf"}


def test_only_what_a_kind_names_changes():
    random = np.random.default_rng(0)
    inside = signals.INSIDE
    assert np.flatnonzero(np.diff(inside.astype(int))).tolist() == [199, 379]

    x = np.stack([signals.CHANGES["AR coefficient .1 to .9"](random) for _ in range(400)])
    # Of 400 values, a variance of 1 has a standard error of .07.
    assert x.var(axis=0) == pytest.approx(np.ones(600), abs=0.35)
    follows = np.mean(x[:, 1:] * x[:, :-1], axis=0)
    assert follows[210:370].mean() == pytest.approx(0.9, abs=0.1)
    assert follows[:190].mean() == pytest.approx(0.1, abs=0.05)


def test_finding_nothing_is_right_only_where_nothing_changes(monkeypatch):
    monkeypatch.setitem(signals.METHODS, "none", lambda x: np.zeros(0, dtype=np.int64))
    assert signals.judge("white noise", "none", 0) == 1.0
    assert signals.judge("step of three", "none", 0) == 0.0
    monkeypatch.setitem(signals.METHODS, "known", lambda x: np.asarray([209, 372]))
    assert signals.judge("white noise", "known", 0) == 0.0
    assert signals.judge("step of three", "known", 0) == 1.0
