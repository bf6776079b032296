from __future__ import annotations

import csv
import io
import json

import pytest

from dayline.research.reproduce.tables import (
    Report,
    Result,
    Row,
    RunOptions,
    Table,
    Task,
    choose,
    published_row,
    run_tasks,
    save_report,
    summarize,
    to_csv,
    to_markdown,
)


def counting(calls, value):
    def measure():
        calls.append(value)
        return {"row": [{"F": value}]}

    return measure


def test_finished_tasks_are_not_measured_again(tmp_path):
    calls = []
    tasks = [Task("group", f"s{k}", "a method, k = 1", counting(calls, 0.5 + k)) for k in range(3)]
    first = run_tasks(tasks[:2], RunOptions(tmp_path), settings={"n_seeds": 2})
    again = run_tasks(tasks, RunOptions(tmp_path), settings={"n_seeds": 2})
    assert calls == [0.5, 1.5, 2.5]
    assert again[:2] == first
    assert [r.rows["row"][0]["F"] for r in again] == [0.5, 1.5, 2.5]
    run_tasks(tasks[:1], RunOptions(tmp_path), settings={"n_seeds": 3})
    assert calls == [0.5, 1.5, 2.5, 0.5]
    assert len(list(tmp_path.rglob("*.json"))) == 3


def test_names_cannot_leave_the_store(tmp_path):
    run_tasks(
        [Task("../..", "/etc/x", "..", counting([], 1.5))],
        RunOptions(tmp_path / "out"),
        settings={},
    )
    (path,) = tmp_path.rglob("*.json")
    assert path.is_relative_to(tmp_path / "out" / "parts")


def test_a_failing_method_is_named_and_keeps_what_was_done(tmp_path):
    def fail():
        raise ValueError("frame 3 holds NaN")

    tasks = [Task("keck", "s1", "good", counting([], 0.25)), Task("keck", "s1", "bad", fail)]
    with pytest.raises(ValueError, match="bad on keck s1: frame 3 holds NaN"):
        run_tasks(tasks, RunOptions(tmp_path), settings={})
    (path,) = tmp_path.rglob("*.json")
    assert json.loads(path.read_text())["method"] == "good"


def test_progress_counts_what_was_there_before(tmp_path):
    tasks = [Task("g", f"s{k}", "m", counting([], 0.5)) for k in range(3)]
    run_tasks(tasks[:1], RunOptions(tmp_path), settings={})
    seen = []
    run_tasks(
        tasks,
        RunOptions(tmp_path, on_done=lambda what, done, total: seen.append((done, total))),
        settings={},
    )
    assert seen == [(2, 3), (3, 3)]


def test_an_unknown_name_is_refused():
    assert choose(["b"], ["a", "b"], what="method") == ["b"]
    with pytest.raises(ValueError, match="method 'c' is not known; choose among a; b"):
        choose(["c"], ["a", "b"], what="method")


def results():
    return [
        Result("keck", "s1", "TSC", {"TSC": [{"ACC": 0.2}, {"ACC": 0.6}]}, 1.0),
        Result("keck", "s2", "TSC", {"TSC": [{"ACC": 0.4}, {"ACC": 0.6}]}, 1.0),
        Result("keck", "s1", "KTS", {"KTS": [{"ACC": 0.25}]}, 1.0),
    ]


def test_spread_is_over_seeds_of_the_mean_over_sequences():
    tsc, kts = summarize(results(), columns=("ACC", "NMI"))
    cell = tsc.cells["ACC"]
    assert cell.mean == pytest.approx(0.45)
    # Means over sequences are 0.3 and 0.6; their sample deviation is 0.3 / sqrt(2).
    assert cell.spread == pytest.approx(0.3 / 2**0.5)
    assert (cell.n_sequences, cell.n_seeds) == (2, 2)
    assert kts.cells["ACC"].spread is None
    assert "NMI" not in kts.cells


def report():
    rows = (
        published_row("DGE", {"ACC": 0.72}),
        *summarize(results(), columns=("ACC",)),
        Row("VCP", {}, "needs training"),
    )
    return Report("motion", (Table("keck", ("ACC", "NMI"), rows),), {"n_seeds": 2}, ("a note",))


def test_markdown_says_why_a_row_is_empty():
    text = to_markdown(report())
    assert "| published: DGE | 0.720 |  |\n| TSC | 0.450 ± 0.212 |  |\n| KTS | 0.250 |  |" in text
    assert "- VCP: empty, needs training\n\n- a note\n" in text


def test_files_hold_versions_seeds_and_settings(tmp_path):
    save_report(report(), tmp_path)
    content = json.loads((tmp_path / "motion.json").read_text())
    assert content["settings"] == {"n_seeds": 2}
    assert {"dayline", "numpy", "python"} <= set(content["versions"])
    rows = list(csv.DictReader(io.StringIO((tmp_path / "motion.csv").read_text())))
    assert [r["method"] for r in rows] == ["published: DGE", "TSC", "KTS"]
    assert rows[1]["mean"] == "0.45"
    assert to_csv(report()) == (tmp_path / "motion.csv").read_text()
