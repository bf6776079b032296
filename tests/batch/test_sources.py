from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dayline.batch.sources import find_sources, folder_names, given_sources
from dayline.media.walk import find_files


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def found(root: Path) -> list[tuple[str, str]]:
    return [(source.kind, source.name) for source in find_sources(root)]


def test_photo_folders_videos_and_feature_files_at_any_depth_are_sequences(tmp_path):
    touch(
        tmp_path,
        "day 10/a.jpg",
        "day 2/a.jpg",
        "film.mp4",
        "x.npy",
        "more/deep/y.csv",
        "more/z.parquet",
        "letter.txt",
    )
    assert found(tmp_path) == [
        ("photos", "day 2"),
        ("photos", "day 10"),
        ("video", "film.mp4"),
        ("features", "more/deep/y.csv"),
        ("features", "more/z.parquet"),
        ("features", "x.npy"),
    ]


def test_photos_in_subfolders_belong_to_the_folder_above_that_has_photos(tmp_path):
    touch(tmp_path, "day/a.jpg", "day/later/b.jpg", "year/day/c.jpg")
    assert found(tmp_path) == [("photos", "day"), ("photos", "year/day")]


def test_folders_that_a_camera_starts_are_one_sequence(tmp_path):
    touch(tmp_path, "card/DCIM/100CANON/a.jpg", "card/DCIM/101CANON/b.jpg")
    assert found(tmp_path) == [("photos", "card/DCIM")]


def test_videos_in_a_photo_folder_are_sequences_but_clips_of_live_photos_and_tables_are_not(
    tmp_path,
):
    touch(tmp_path, "day/IMG_1.HEIC", "day/IMG_1.MOV", "day/IMG_2.MOV", "day/labels.csv")
    assert found(tmp_path) == [("photos", "day"), ("video", "day/IMG_2.MOV")]


def test_hidden_files_and_results_are_passed_over(tmp_path):
    touch(
        tmp_path,
        "x.npy",
        "._x.npy",
        ".cache/y.npy",
        "out/.dayline",
        "out/x.npy/features.npz",
        "out/x.npy/.dayline",
    )
    touch(tmp_path, "moved/index.html", "moved/events.json", "moved/features.npz", "@eaDir/a.jpg")
    assert found(tmp_path) == [("features", "x.npy")]


def test_photos_directly_in_the_root_are_left_out_with_a_note(tmp_path):
    touch(tmp_path, "cover.jpg", "x.npy")
    with pytest.warns(UserWarning, match=r"left out \(1\)"):
        assert found(tmp_path) == [("features", "x.npy")]


def test_a_folder_without_sequences_says_what_to_do(tmp_path):
    with pytest.raises(
        ValueError, match=r"contains no photo folder, video, transcript or feature file$"
    ):
        find_sources(tmp_path)
    touch(tmp_path, "a.jpg")
    with pytest.raises(ValueError, match="it holds photos itself, so run dayline segment on it"):
        find_sources(tmp_path)


def test_a_result_is_not_a_root(tmp_path):
    touch(tmp_path, ".dayline", "x.npy")
    with pytest.raises(ValueError, match="is a dayline result"):
        find_sources(tmp_path)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_links_that_lead_back_end(tmp_path):
    touch(tmp_path, "more/x.npy", "day/p.jpg", "other/q.jpg", "other/film.mp4")
    for name in ("more", "day", "other"):
        (tmp_path / name / "back").symlink_to("..")
    assert found(tmp_path) == [
        ("photos", "day"),
        ("features", "more/x.npy"),
        ("photos", "other"),
        ("video", "other/film.mp4"),
    ]
    assert find_files(tmp_path / "day").photos == [tmp_path / "day" / "p.jpg"]


def test_given_paths_are_one_sequence_each_with_a_folder_each(tmp_path):
    touch(tmp_path, "a/x.npy", "b/x.npy", "day/p.jpg")
    sources = given_sources([tmp_path / "a" / "x.npy", tmp_path / "b" / "x.npy", tmp_path / "day"])
    assert [(source.kind, source.name) for source in sources] == [
        ("features", "x.npy"),
        ("features", "x.npy"),
        ("photos", "day"),
    ]
    assert len({source.folder for source in sources}) == 3


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["nope.npy"], "nope.npy: no such file or folder"),
        ([], "there are no sequences"),
        ({}, "there are no sequences"),
        ({"a": np.zeros(3)}, r"a: an array of shape \(3,\)"),
        ({"a": np.zeros((3, 2), dtype=complex)}, "type complex128"),
    ],
)
def test_wrong_sources_are_named(sources, message):
    with pytest.raises(ValueError, match=message):
        given_sources(sources)


def test_a_path_that_is_given_twice_is_named(tmp_path):
    touch(tmp_path, "x.npy")
    with pytest.raises(ValueError, match=r"x\.npy: is given twice"):
        given_sources([tmp_path / "x.npy", tmp_path / "." / "x.npy"])


HASHED = re.compile(r".+-[0-9a-f]{8}")


def names_of(*paths: str) -> list[str]:
    return folder_names([os.fsencode(path) for path in paths])


def test_plain_paths_keep_their_names():
    assert names_of("x.npy", "x.csv", "2015/day 1", "Zoë & Ada's.mp4") == [
        "x.npy",
        "x.csv",
        "2015--day 1",
        "Zoë & Ada's.mp4",
    ]


@pytest.mark.parametrize(
    "path",
    ['a<b>:"|?*.npy', "con", "NUL.npy", "index.html", "batch.jsonl", "line\nbreak.npy", "-o",
     ". .", "end. ",
     "\u202eabc", "a--b.npy", "x" * 300, "é" * 120, "back\\slash", os.fsdecode(b"\xff.npy"),
     "e\u0301.npy"],
)  # fmt: skip
def test_hostile_names_become_safe_ones(path):
    (name,) = names_of(path)
    assert HASHED.fullmatch(name)
    assert len(os.fsencode(name)) < 255
    assert name.isprintable()
    assert not re.search(r'[<>:"/\\|?*]', name)
    assert not name.startswith((".", "-"))


def test_names_that_differ_in_case_only_are_told_apart():
    first, second, other = names_of("Film.mp4", "film.mp4", "other.mp4")
    assert first.casefold() != second.casefold()
    assert other == "other.mp4"


parts = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12)


@given(
    st.lists(
        st.lists(parts, min_size=1, max_size=3).map("/".join), unique=True, min_size=1, max_size=8
    )
)
def test_different_paths_have_different_folders(paths):
    names = folder_names([path.encode() for path in paths])
    assert len({name.casefold() for name in names}) == len(paths)


def test_adding_a_sequence_does_not_rename_the_others():
    before = names_of("a/x.npy", "b.npy")
    assert names_of("a/x.csv", "a/x.npy", "b.npy", "b")[1:3] == before
