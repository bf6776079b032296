"""The table of scores for other people's papers: its format, and that the docs show the same
figures."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
import results_table as table

ROOT = Path(__file__).parents[2]
STABLE = ["method", "data_set", "f1", "tolerance", "above_chance", "version"]


@pytest.fixture(scope="module")
def published():
    with (ROOT / "docs" / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_scores_are_means_over_sequences_and_chance_is_taken_off():
    # F1 of 1 and of 2 / 3: one of one, and one of two; random single cuts in 1,000 frames hit
    # nothing.
    answers = [
        table.Answer("a", "x", 1000, 1, [500], [501], False),
        table.Answer("a", "x", 1000, 1, [500], [500, 700], False),
        table.Answer("a", "x", 1000, 1, [500], [100], True),
    ]
    rows = list(csv.DictReader(table.results_csv(answers, version="9.9").splitlines()))
    assert list(rows[0]) == list(table.COLUMNS)
    assert [row["number_given"] for row in rows] == ["no", "yes"]
    assert rows[0] | {"above_chance": ""} == {
        "method": "a", "data_set": "x", "f1": "0.833", "tolerance": "1", "above_chance": "",
        "version": "9.9",
        "number_given": "no", "precision": "0.750", "recall": "1.000", "n_sequences": "2",
        "n_frames": "2000",
        "n_true": "2", "n_found": "3",
    }  # fmt: skip
    assert 0.8 < float(rows[0]["above_chance"]) <= 0.833
    assert rows[1]["f1"] == "0.000"


def test_one_data_set_has_one_tolerance():
    answers = [table.Answer("a", "x", 100, tolerance, [50], [50], False) for tolerance in (1, 2)]
    with pytest.raises(ValueError, match="too many values"):
        table.results_csv(answers, version="9.9")


def test_the_first_columns_stay_as_they_are(published):
    assert list(table.COLUMNS[:6]) == STABLE
    assert list(published[0]) == list(table.COLUMNS)
    keys = [(row["method"], row["number_given"], row["data_set"]) for row in published]
    assert len(set(keys)) == len(keys)
    (version,) = {row["version"] for row in published}
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev0)?", version)
