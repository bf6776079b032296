from __future__ import annotations

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dayline.batch.sources import folder_names

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
