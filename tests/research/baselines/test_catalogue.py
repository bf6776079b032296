from __future__ import annotations

import pytest

from dayline.cli.options import METHODS
from dayline.research.baselines.catalogue import BASELINES, is_seeded, make_baseline
from dayline.research.reproduce.lifelog import BASELINE_FINDERS
from dayline.research.reproduce.motion import LABELERS


def test_the_command_line_and_both_tables_offer_what_the_catalogue_lists():
    assert ("default", "fast", "paper", "authors", *BASELINES) == METHODS
    assert list(BASELINE_FINDERS) == [
        entry.boundary_row for entry in BASELINES.values() if entry.boundary_row
    ]
    assert [
        row for row in LABELERS if row in {entry.label_row for entry in BASELINES.values()}
    ] == [entry.label_row for entry in BASELINES.values() if entry.label_row]


@pytest.mark.parametrize("entry", BASELINES.values(), ids=BASELINES)
def test_the_catalogue_agrees_with_the_class(entry):
    baseline = make_baseline(entry.name, number=7, seed=3)
    parameters = baseline.get_params()
    assert type(baseline).__name__ == entry.estimator
    assert entry.parameters.items() <= parameters.items()
    assert parameters.get("n_events", parameters.get("n_communities", 7)) == 7
    assert parameters.get("random_state", 3) == 3
    assert is_seeded(entry.name) == ("random_state" in parameters)


@pytest.mark.parametrize("rows", ["boundary_row", "label_row"])
def test_no_two_baselines_share_a_row(rows):
    named = [getattr(entry, rows) for entry in BASELINES.values() if getattr(entry, rows)]
    assert len(named) == len(set(named)) == 9
