from __future__ import annotations

import json

import pytest

from dayline.research.reproduce.tasks import Task, choose, run_tasks


def counting(calls, value):
    def measure():
        calls.append(value)
        return {"row": [{"F": value}]}

    return measure


def test_finished_tasks_are_not_measured_again(tmp_path):
    calls = []
    tasks = [Task("group", f"s{k}", "a method, k = 1", counting(calls, 0.5 + k)) for k in range(3)]
    first = run_tasks(tasks[:2], store=tmp_path, settings={"n_seeds": 2})
    again = run_tasks(tasks, store=tmp_path, settings={"n_seeds": 2})
    assert calls == [0.5, 1.5, 2.5]
    assert again[:2] == first
    assert [r.rows["row"][0]["F"] for r in again] == [0.5, 1.5, 2.5]
    run_tasks(tasks[:1], store=tmp_path, settings={"n_seeds": 3})
    assert calls == [0.5, 1.5, 2.5, 0.5]
    assert len(list(tmp_path.rglob("*.json"))) == 3


def test_names_cannot_leave_the_store(tmp_path):
    run_tasks(
        [Task("../..", "/etc/x", "..", counting([], 1.5))], store=tmp_path / "out", settings={}
    )
    (path,) = tmp_path.rglob("*.json")
    assert path.is_relative_to(tmp_path / "out" / "parts")


def test_a_failing_method_is_named_and_keeps_what_was_done(tmp_path):
    def fail():
        raise ValueError("frame 3 holds NaN")

    tasks = [Task("keck", "s1", "good", counting([], 0.25)), Task("keck", "s1", "bad", fail)]
    with pytest.raises(ValueError, match="bad on keck s1: frame 3 holds NaN"):
        run_tasks(tasks, store=tmp_path, settings={})
    (path,) = tmp_path.rglob("*.json")
    assert json.loads(path.read_text())["method"] == "good"


def test_progress_counts_what_was_there_before(tmp_path):
    tasks = [Task("g", f"s{k}", "m", counting([], 0.5)) for k in range(3)]
    run_tasks(tasks[:1], store=tmp_path, settings={})
    seen = []
    run_tasks(
        tasks,
        store=tmp_path,
        settings={},
        on_done=lambda what, done, total: seen.append((done, total)),
    )
    assert seen == [(2, 3), (3, 3)]


def test_an_unknown_name_is_refused():
    assert choose(["b"], ["a", "b"], what="method") == ["b"]
    with pytest.raises(ValueError, match="method 'c' is not known; choose among a; b"):
        choose(["c"], ["a", "b"], what="method")
