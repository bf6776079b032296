from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.io import savemat

from dayline.research.datasets.annotations import LabeledSequence
from dayline.research.reproduce.motion import motion_report, motion_variants, score_sequence
from dayline.research.reproduce.tables import RunOptions


@pytest.fixture
def root(tmp_path):
    generator = np.random.default_rng(5)
    labels = np.repeat([1, 2, 3], [30, 20, 34])
    (tmp_path / "Keck_feature").mkdir()
    for k in (1, 2):
        x = np.abs(generator.normal(size=(3, 12)))[labels - 1] + 0.3 * generator.random((84, 12))
        savemat(
            tmp_path / "Keck_feature" / f"keck_person_{k}.mat",
            {"keck_feature": x.T, "keck_label": labels[None]},
        )
    return tmp_path


def test_scores_three_and_two_ways():
    true = np.asarray([1, 1, 1, 2, 2, 2, 2, 1, 1, 1])
    found = np.asarray([0, 0, 1, 1, 1, 1, 1, 0, 0, 0])
    sequence = LabeledSequence("g", "s", np.ones((10, 2)), np.asarray([3, 7]), true, tolerance=0)
    figures = score_sequence(found, sequence)
    assert figures["ACC"] == pytest.approx(0.9)
    assert figures["ACC majority"] == pytest.approx(0.9)
    # As runs, the group that recurs is two groups, and only one of them can be named 1.
    assert figures["ACC runs"] == pytest.approx(0.7)
    assert figures["F1"] == pytest.approx(0.5)
    assert 0 < figures["NMI arithmetic"] < figures["NMI"] < 1


def test_the_hybrid_is_the_notebook_with_the_text_s_start_gradient_width_and_steps():
    hybrid, authors = motion_variants()["hybrid"], motion_variants()["authors()"]
    changed = {k: v for k, v in hybrid.get_params().items() if v != authors.get_params()[k]}
    assert changed.pop("embedding_bandwidth") == pytest.approx(0.7)
    assert changed == {"start": "pca", "gradient": "full", "n_loop_steps": 150}
    assert (authors.n_components, authors.smoothing_width) == (35, 50)


def test_rows_are_measured_or_say_why_not(root, tmp_path):
    methods = [
        "default",
        "TW-FINCH",
        "equal pieces",
        "random cuts",
        "k-means on raw features",
        "LRT",
    ]
    report = motion_report(root, RunOptions(out=tmp_path / "out", n_seeds=2, methods=methods))
    keck, mad = report.tables[:2]
    rows = {row.name: row for row in keck.rows}
    assert rows["published: DGE"].cells["ACC"].mean == 0.72
    assert {
        "default, k-means",
        "default, normalized cuts",
        "TW-FINCH",
        "LRT",
        "equal pieces",
    } <= set(rows)
    assert rows["random cuts"].cells["ACC"].n_seeds == 2
    assert rows["equal pieces"].cells["ACC"].n_seeds == 1
    assert rows["k-means on raw features"].cells["ACC"].mean > 0.9
    assert "mad not found" in mad.rows[-1].why_empty
    again = motion_report(root, RunOptions(out=tmp_path / "out", n_seeds=2, methods=methods))
    assert again == report


def test_the_source_of_transfer_does_not_depend_on_how_many_are_measured(root, tmp_path):
    one, all_of_them = (
        motion_report(
            root,
            RunOptions(
                out=tmp_path / str(most), n_seeds=1, methods=["LRT"], only=["keck"], most=most
            ),
        )
        for most in (1, None)
    )
    assert len(all_of_them.tables[0].rows) == len(one.tables[0].rows)
    parts = [
        sorted((tmp_path / most / "parts/keck/LRT").iterdir())[0].read_text()
        for most in ("1", "None")
    ]
    assert json.loads(parts[0])["rows"] == json.loads(parts[1])["rows"]


def test_unknown_methods_and_sets_are_refused(root, tmp_path):
    with pytest.raises(ValueError, match="method 'nothing' is not known"):
        motion_report(root, RunOptions(out=tmp_path, methods=["nothing"]))
    with pytest.raises(ValueError, match="data set 'bbc' is not known"):
        motion_report(root, RunOptions(out=tmp_path, only=["bbc"]))


@pytest.mark.slow
def test_equal_pieces_on_the_shared_sets(shared, tmp_path):
    report = motion_report(
        shared, RunOptions(out=tmp_path, n_seeds=1, methods=["equal pieces"], only=["keck", "mad"])
    )
    found = [
        next(row.cells for row in table.rows if row.name == "equal pieces")
        for table in report.tables
    ]
    assert [round(cells["ACC"].mean, 3) for cells in found] == [0.893, 0.795]
    assert [round(cells["NMI"].mean, 3) for cells in found] == [0.884, 0.820]


@pytest.mark.slow
def test_the_hybrid_beside_independent_measurements(shared, tmp_path):
    methods = ["hybrid", "TW-FINCH", "k-means on raw features"]
    report = motion_report(
        shared, RunOptions(out=tmp_path, n_seeds=4, methods=methods, only=["keck"])
    )
    rows = {row.name: row.cells for row in report.tables[0].rows}
    for name, acc, nmi in (
        ("hybrid, k-means", 0.62, 0.71),
        ("hybrid, normalized cuts", 0.705, 0.763),
        ("TW-FINCH", 0.630, 0.754),
        ("k-means on raw features", 0.466, 0.488),
    ):
        assert rows[name]["ACC"].mean == pytest.approx(acc, abs=0.05), name
        assert rows[name]["NMI"].mean == pytest.approx(nmi, abs=0.05), name
