from __future__ import annotations

import numpy as np
import pytest

from dayline.research.datasets.annotations import find_groups, load_group, read_labeled


def write(path, **arrays):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)


def test_groups_are_the_folders(tmp_path):
    write(
        tmp_path / "dev" / "films" / "b.npz",
        features=np.ones((9, 2)),
        boundaries=[3, 5],
        tolerance=1,
    )
    write(tmp_path / "dev" / "films" / "a.npz", features=np.ones((4, 2)), boundaries=[])
    assert list(find_groups(tmp_path)) == ["films"]
    first, second = load_group(tmp_path, "films")
    assert (first.name, first.tolerance, second.tolerance, second.boundaries.tolist()) == (
        "a",
        5,
        1,
        [3, 5],
    )


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"features": np.ones((9, 2))}, "has no array 'boundaries'; it contains features"),
        ({"features": np.ones((9, 2)), "boundaries": [9]}, r"increase inside .* \(9, 2\)"),
    ],
)
def test_an_odd_file_is_named(tmp_path, arrays, message):
    write(tmp_path / "films" / "odd.npz", **arrays)
    with pytest.raises(ValueError, match=f"odd.npz: .*{message}"):
        load_group(tmp_path, "films")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tolerance": [5, 5]}, "tolerance must be a single number"),
        ({"boundaries": [3.5]}, "boundaries must be integers"),
        ({"boundaries": [6, 3]}, "boundaries must increase"),
        ({"boundaries": ["a"]}, "boundaries of type"),
        ({"features": np.full((8, 2), np.nan)}, "NaN or infinity in features"),
        ({"features": np.ones((8, 2), dtype=complex)}, "features of type complex128"),
    ],
)
def test_odd_content_is_named_with_its_file(tmp_path, change, message):
    np.savez(tmp_path / "odd.npz", **{"features": np.eye(8, 2), "boundaries": [3], **change})
    with pytest.raises(ValueError, match=f"odd.npz: (the )?{message}"):
        read_labeled(tmp_path / "odd.npz")
