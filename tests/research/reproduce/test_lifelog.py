from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dayline.research.datasets.annotations import LabeledSequence
from dayline.research.reproduce.lifelog import lifelog_report, score_found
from dayline.research.reproduce.made import cost_report, synthetic_report
from dayline.research.reproduce.tables import RunOptions


@pytest.fixture
def root(tmp_path):
    """Two days of 60 photos laid out as EDUB-Seg, one of them with a second annotator."""
    generator = np.random.default_rng(2)
    names = [f"{8 + k // 60:02d}{k % 60:02d}00" for k in range(60)]
    place = tmp_path / "EDUB-Seg"
    for folder in ("GT", "features"):
        (place / folder).mkdir(parents=True)
    for day in ("Subject1_Set1", "Subject1_Set2"):
        (place / "images" / day).mkdir(parents=True)
        for name in names:
            (place / "images" / day / f"{name}.jpg").touch()
        events = f"{names[0]},{names[24]}\n{names[25]},{names[59]}\n"
        (place / "GT" / f"GT_{day}.csv").write_text(events)
        means = np.repeat(generator.normal(size=(2, 8)), [25, 35], axis=0)
        np.save(place / "features" / f"{day}.npy", means + 0.2 * generator.normal(size=(60, 8)))
    (place / "GT" / "GT_Subject1_Set1_2.csv").write_text(
        f"{names[0]},{names[30]}\n{names[31]},{names[59]}\n"
    )
    return tmp_path


def rows_of(report, table=0):
    return {row.name: row for row in report.tables[table].rows}


def test_the_papers_scorer_counts_the_ends():
    sequence = LabeledSequence("g", "s", np.ones((40, 2)), np.asarray([20]))
    nothing = score_found(np.zeros(0, dtype=np.int64), sequence)
    # Ends match: 2 of 2 found, 2 of 3 true.
    assert (nothing["P 5"], nothing["R 5"], nothing["interior F 5"]) == (
        1.0,
        pytest.approx(2 / 3),
        0.0,
    )
    near = score_found(np.asarray([23]), sequence)
    assert (near["F 3"], near["F 2"]) == (1.0, pytest.approx(2 / 3))


def test_edub_seg_from_files_to_the_table(root, tmp_path):
    methods = [
        "default",
        "CES on raw features",
        "KTS",
        "equal pieces (true number)",
        "no boundary at all",
    ]
    report = lifelog_report(
        "edub-seg", root, RunOptions(out=tmp_path / "out", n_seeds=2, methods=methods)
    )
    rows = rows_of(report)
    assert rows["published: CES-DGE"].cells["F 5"].mean == 0.70
    assert rows["default"].cells["F 5"].mean > 0.7
    assert rows["no boundary at all"].cells["R 5"].mean == pytest.approx(2 / 3)
    # The second annotator is 6 frames off and found on one of two days.
    assert rows["second annotators"].cells["F 5"].mean == pytest.approx(2 / 3)
    assert rows["second annotators"].cells["F 5"].n_sequences == 1
    everything = rows_of(
        lifelog_report(
            "edub-seg", root, RunOptions(out=tmp_path / "out", methods=["CES-VCP"], n_seeds=1)
        )
    )
    assert "trained" in everything["CES-VCP"].why_empty
    assert "equal pieces (true number)" in everything


def test_a_mended_truth_is_measured_again(root, tmp_path):
    def recall():
        report = lifelog_report(
            "edub-seg",
            root,
            RunOptions(out=tmp_path / "out", n_seeds=1, methods=["no boundary at all"]),
        )
        return rows_of(report)["no boundary at all"].cells["R 5"].mean

    before = recall()
    for day in ("Subject1_Set1", "Subject1_Set2"):
        path = root / "EDUB-Seg" / "GT" / f"GT_{day}.csv"
        path.write_text("080000,081000\n081100,082400\n" + path.read_text().splitlines()[1] + "\n")
    assert recall() == pytest.approx(1 / 2) != before


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"only": ["nosuch"]}, {}, "has no group nosuch"),
        ({"methods": ["nosuch"]}, {}, "method 'nosuch' is not known"),
        ({}, {"predictor": Path("nosuch.safetensors")}, "no such file"),
        ({"only": ["mine"]}, {"model": "color"}, "for days of photos"),
    ],
)
def test_what_cannot_be_done_is_refused_first(root, tmp_path, options, given, message):
    with pytest.raises(ValueError, match=message):
        lifelog_report("edub-seg", root, RunOptions(tmp_path / "out", **options), **given)


def test_a_folder_without_the_data_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ValueError, match="EDUB-SegDesc not found"):
            lifelog_report("edub-seg-desc", folder, RunOptions(out=tmp_path / "out"))


def test_edub_seg_from_pixels_to_the_table(tmp_path):
    root = photographed_day(tmp_path)
    methods = ["dayline segment", "AC-color", "CES on raw features", "equal pieces (true number)"]
    options = RunOptions(tmp_path / "out", n_seeds=1, methods=methods)
    report = lifelog_report("edub-seg", root, options, model="color")
    rows = rows_of(report)
    assert rows["dayline segment"].cells["interior F 5"].mean == 1.0
    # As published, AC-color cuts so short a day at nearly every photo.
    assert rows["AC-color"].cells["found / true"].mean > 10
    assert report.settings["features"] == "color, from the photos"
    kept = tmp_path / "out" / "photos" / "edub-seg" / "Subject1_Set1" / "color" / "features.npz"
    before = kept.stat().st_mtime_ns
    lifelog_report("edub-seg", root, options, model="color")
    assert kept.stat().st_mtime_ns == before
    for k in range(3):  # photos that the ground truth does not count
        Image.fromarray(np.zeros((48, 64, 3), np.uint8)).save(
            root / "EDUB-Seg/images/Subject1_Set1" / f"07000{k}.webp"
        )
    shifted = rows_of(
        lifelog_report("edub-seg", root, replace(options, out=tmp_path / "other"), model="color")
    )
    assert shifted["dayline segment"].cells["interior F 5"].mean == 1.0
    broken = root / "EDUB-Seg" / "images" / "Subject1_Set1" / "080100.jpg"
    broken.write_bytes(b"no photo")
    with pytest.raises(ValueError, match=r"080100.jpg: .*; the ground truth counts every photo"):
        lifelog_report("edub-seg", root, options, model="color")


def photographed_day(tmp_path):
    """A day of 40 photos of three places, laid out as EDUB-Seg without features."""
    generator = np.random.default_rng(3)
    place = tmp_path / "pixels" / "EDUB-Seg"
    (place / "images" / "Subject1_Set1").mkdir(parents=True)
    (place / "GT").mkdir()
    names = [f"08{k:02d}00" for k in range(40)]
    colors = np.repeat([[220, 40, 30], [30, 60, 210], [90, 200, 90]], [12, 16, 12], axis=0)
    for name, color in zip(names, colors, strict=True):
        pixels = np.clip(color + generator.normal(scale=12, size=(48, 64, 3)), 0, 255).astype(
            np.uint8
        )
        Image.fromarray(pixels).save(place / "images" / "Subject1_Set1" / f"{name}.jpg")
    events = [f"{names[a]},{names[b - 1]}" for a, b in ((0, 12), (12, 28), (28, 40))]
    (place / "GT" / "GT_Subject1_Set1.csv").write_text("\n".join(events))
    return tmp_path / "pixels"


def test_a_trained_network_fills_its_row(root, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from dayline.research.baselines.vcp import save_predictor, train_predictor

    features = np.load(root / "EDUB-Seg" / "features" / "Subject1_Set1.npy")
    save_predictor(
        train_predictor([features], n_units=4, n_epochs=1, random_state=0),
        tmp_path / "net.safetensors",
    )
    report = lifelog_report(
        "edub-seg",
        root,
        RunOptions(out=tmp_path / "out", methods=["CES-VCP"]),
        predictor=tmp_path / "net.safetensors",
    )
    assert rows_of(report)["CES-VCP"].cells["F 5"].n_sequences == 2


@pytest.mark.parametrize(
    ("table", "methods"),
    [
        (
            "ablation",
            ["CES on raw features", "paper(), NL-means", "authors(), embedding", "authors(), DGE"],
        ),
        ("core-ablation", ["authors(), mu = 0", "default, full", "default, p = 0"]),
        ("robustness", ["authors(), K = 1", "default, N_C = 3"]),
    ],
)
def test_ablations_run_on_any_group(root, tmp_path, table, methods):
    features = np.load(root / "EDUB-Seg" / "features" / "Subject1_Set1.npy")
    (tmp_path / "mine").mkdir()
    np.savez(tmp_path / "mine" / "one.npz", features=features, boundaries=[25])
    report = lifelog_report(
        table, tmp_path, RunOptions(out=tmp_path / "out", methods=methods, only=["mine"])
    )
    assert report.tables[0].title == f"{table} on mine, 1 sequences"
    assert list(rows_of(report))[: len(methods)] == methods
    assert "random cuts (true number)" in rows_of(report)


def test_the_whole_grid_of_the_paper_is_there(root, tmp_path):
    rows = rows_of(
        lifelog_report(
            "robustness", root, RunOptions(out=tmp_path / "out", methods=["no boundary at all"])
        )
    )
    assert sum(name.startswith("published") for name in rows) == 45
    assert rows["published: alpha = 0.05"].cells["F 5"].mean == 0.679


def test_the_synthetic_table(tmp_path):
    methods = ["paper(), iteration 1", "CES on raw features", "random cuts (true number)"]
    report = synthetic_report(RunOptions(out=tmp_path, n_seeds=2, methods=methods, most=2))
    rows = rows_of(report)
    assert rows["published: iteration 10"].cells["F 5"].mean == 0.67
    assert 0 < rows["paper(), iteration 1"].cells["F 5"].mean < 1


def test_the_cost_table(tmp_path):
    rows = rows_of(cost_report(RunOptions(out=tmp_path, methods=["default"], most=80)))
    assert rows["default"].cells["peak MB"].mean > 80 * 80 * 8 / 1e6
    assert (
        rows["default"].cells["CPU s, 20 sequences"].mean
        == 20 * rows["default"].cells["CPU s"].mean
    )
