from __future__ import annotations

import struct

import numpy as np
import pytest

from dayline.research.datasets.catalogue import list_datasets
from dayline.research.datasets.edub_seg import find_days, load_day, load_days

NAMES = ["072334", "072400", "072404", "090000", "090030", "101500"]


def write_sheet(path, cells):
    """Write the oldest kind of .xls (BIFF2): cells is {(row, column): text}."""

    def record(number, body):
        return struct.pack("<HH", number, len(body)) + body

    labels = [
        record(4, struct.pack("<HH3xB", row, column, len(text)) + text.encode("ascii"))
        for (row, column), text in cells.items()
    ]
    path.write_bytes(record(9, struct.pack("<HH", 2, 16)) + b"".join(labels) + record(10, b""))


@pytest.fixture
def root(tmp_path):
    for folder in ("images/Subject1_Set1", "GT", "features"):
        (tmp_path / folder).mkdir(parents=True)
    for name in NAMES:
        (tmp_path / "images" / "Subject1_Set1" / f"{name}.jpg").touch()
    (tmp_path / "GT" / "GT_Subject1_Set1.csv").write_text(
        "072334,072404\n090000,090030\n101500,101500\n"
    )
    return tmp_path


def test_events_become_boundaries(root):
    day = load_day(root, "Subject1_Set1")
    assert day.boundaries.tolist() == [3, 5]
    assert (day.features, day.n_frames, len(day.images)) == (None, 6, 6)


def test_features_are_taken_where_they_are(root, random):
    x = random.normal(size=(6, 4))
    np.save(root / "features" / "Subject1_Set1.npy", x)
    assert np.array_equal(load_days(root)[0].features, x)
    np.save(root / "features" / "Subject1_Set1.npy", x[1:])
    with pytest.raises(ValueError, match="Subject1_Set1 has 5 rows of features but 6 photos"):
        load_days(root)


def test_other_annotators_are_in_files_of_their_own(root):
    (root / "GT" / "GT_Subject1_Set1_2.txt").write_text("072334 090000\n090030 101500\n")
    assert list(find_days(root)) == ["Subject1_Set1"]
    day = load_day(root, "Subject1_Set1")
    assert [a.tolist() for a in day.annotations] == [[4]]


def test_a_sheet_holds_an_annotator_per_column(root, capsys):
    pytest.importorskip("xlrd")
    (root / "GT" / "GT_Subject1_Set1.csv").unlink()
    cells = {
        (0, 0): "Subject1",
        (1, 1): "Events",
        (2, 0): "1",
        (2, 1): "72334 72404",
        (2, 2): "072334-090030",
    }
    cells |= {(2, 3): "a remark", (3, 1): "90000 101500", (3, 2): "101500-101500"}
    write_sheet(root / "GT" / "GT_Subject1_Set1.xls", cells)
    day = load_day(root, "Subject1_Set1")
    assert day.boundaries.tolist() == [3]
    assert [a.tolist() for a in day.annotations] == [[5]]
    (root / "GT" / "GT_Subject1_Set1.xls").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"GT_Subject1_Set1.xls: damaged, or not an .xls sheet"):
        load_day(root, "Subject1_Set1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("072334,072404\n090001,101500\n", "event 2 names photo 090001"),
        ("090000,101500\n072334,072404\n", "event 2 .* not in the order"),
        ("072334\n", "must name the first and the last photo"),
        ("\n", "contains no events"),
    ],
)
def test_odd_ground_truth_is_named(root, text, message):
    (root / "GT" / "GT_Subject1_Set1.csv").write_text(text)
    with pytest.raises(ValueError, match=f"GT_Subject1_Set1.csv: .*{message}"):
        load_days(root)


def test_the_catalogue_says_what_is_found_and_what_is_odd(root, tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    (place / "EDUB-Seg").symlink_to(root)
    entries = {entry.name: entry for entry in list_datasets(place)}
    assert (entries["edub-seg"].n_sequences, entries["edub-seg"].problem) == (1, "")
    assert entries["keck"].n_sequences == 0
    (root / "GT" / "GT_Subject1_Set1.csv").write_text("072334\n")
    assert (
        "first and the last photo" in {e.name: e for e in list_datasets(place)}["edub-seg"].problem
    )
    with pytest.raises(ValueError, match="no such folder"):
        list_datasets(place / "nowhere")
