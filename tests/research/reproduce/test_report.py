from __future__ import annotations

import csv
import io
import json

import pytest

from dayline.research.reproduce.report import (
    Report,
    Row,
    Table,
    published,
    save_report,
    summarize,
    to_csv,
    to_markdown,
)
from dayline.research.reproduce.tasks import Result


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
        published("DGE", ACC=0.72),
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
