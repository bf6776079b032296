from __future__ import annotations

import numpy as np
import pytest
from scipy.io import savemat

from dayline.research.datasets.motion import find_motion, load_motion

LABELS = np.repeat([1, 2, 3], [4, 3, 5])


def write(folder, name, **arrays):
    folder.mkdir(parents=True, exist_ok=True)
    savemat(folder / name, arrays)


@pytest.mark.parametrize(
    ("group", "folder", "features", "labels"),
    [
        ("keck", "Keck_feature", "keck_feature", "keck_label"),
        ("mad", "motion/MAD_dataset", "hogFeatureAc", "labelAc"),
        ("weizmann", "Weiz_feature", "weiAllFeatureOnePerson", "labelOnePerson"),
        ("ut", "Datasets/UT_dataset", "ut_feature", "ut_label"),
    ],
)
def test_columns_are_frames_and_labels_give_boundaries(
    tmp_path, random, group, folder, features, labels
):
    x = random.normal(size=(6, 12))
    write(
        tmp_path / folder,
        "person_1.mat",
        **{features: x, labels: LABELS[None], "labelSize": np.ones((1, 3))},
    )
    (sequence,) = load_motion(tmp_path, group)
    assert (sequence.group, sequence.name, sequence.n_frames) == (group, "person_1", 12)
    assert np.array_equal(sequence.features, x.T)
    assert sequence.boundaries.tolist() == [4, 7]
    assert sequence.labels.tolist() == LABELS.tolist()


def test_files_come_in_the_order_of_their_numbers(tmp_path, random):
    for number in (10, 2, 1):
        write(
            tmp_path / "Keck_feature",
            f"keck_person_{number}.mat",
            x=random.normal(size=(3, 12)),
            label=LABELS,
        )
    assert [p.stem[-2:] for p in find_motion(tmp_path, "keck")] == ["_1", "_2", "10"]
    assert [s.name for s in load_motion(tmp_path, "keck", most=1)] == ["keck_person_1"]


def test_a_set_that_is_not_there_is_empty(tmp_path):
    assert load_motion(tmp_path, "keck") == []


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"a": np.ones((3, 12)), "b": np.ones((4, 12)), "label": LABELS},
            r"one matrix .*a \(3, 12\), b \(4, 12\)",
        ),
        ({"a": np.ones((3, 12)), "label": LABELS[:-1]}, "labels with one entry per frame"),
        ({"a": np.full((3, 12), np.nan), "label": LABELS}, "NaN"),
    ],
)
def test_an_odd_file_is_named(tmp_path, arrays, message):
    write(tmp_path / "Keck_feature", "keck_person_1.mat", **arrays)
    with pytest.raises(ValueError, match=f"keck_person_1.mat.*{message}"):
        load_motion(tmp_path, "keck")


def test_damaged_and_bloated_files_are_named(tmp_path):
    path = tmp_path / "Keck_feature" / "keck_person_1.mat"
    write(path.parent, path.name, x=np.ones((3, 12)), label=LABELS)
    whole = path.read_bytes()
    header = b"MATLAB 7.3".ljust(124) + b"\x00\x02IM"
    for content in (whole[:200], b"words" * 40, header + bytes(600)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"keck_person_1\.mat: .* a MATLAB file"):
            load_motion(tmp_path, "keck")
    savemat(path, {"x": np.zeros((5000, 10_000)), "label": LABELS}, do_compression=True)
    with pytest.raises(ValueError, match=r"x and label declares 381 MB, over the limit"):
        load_motion(tmp_path, "keck")


def test_the_shared_sets_are_whole(shared):
    keck = load_motion(shared, "keck")
    assert [s.n_frames for s in keck] == [1245, 1245, 1225, 1245]
    assert all(len(s.boundaries) == 9 for s in keck)
    assert len(find_motion(shared / "motion", "mad")) == 40
