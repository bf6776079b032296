from __future__ import annotations

import os
from pathlib import Path

import pytest

from dayline.album.page.page import relative_addresses


@pytest.mark.parametrize(
    ("file", "page", "address"),
    [
        ("photos/a.jpg", "out", "../photos/a.jpg"),
        ("photos/day 1/a#b.jpg", "results/out", "../../photos/day%201/a%23b.jpg"),
        ("photos/a.jpg", "photos/out", "../a.jpg"),
        ("out/film.mp4", "out", "film.mp4"),
        ("javascript:alert(1)", ".", "javascript%3Aalert%281%29"),
    ],
)
def test_addresses_are_relative_and_quoted(tmp_path, file, page, address):
    assert relative_addresses([tmp_path / file], tmp_path / page) == [address]


def test_a_name_that_is_not_utf_8_is_quoted_byte_by_byte(tmp_path):
    assert relative_addresses([tmp_path / os.fsdecode(b"caf\xe9.jpg")], tmp_path) == ["caf%E9.jpg"]


def test_no_address_tells_whose_computer_it_is(tmp_path, monkeypatch):
    home = tmp_path / "home" / "ada"
    monkeypatch.setenv("HOME", str(home))
    photo = home / "pictures" / "a.jpg"
    assert relative_addresses([photo], home / "out") == ["../pictures/a.jpg"]
    assert relative_addresses([photo], tmp_path / "home" / "out") == [None]
    assert relative_addresses([photo], tmp_path / "out") == [None]
    assert relative_addresses([photo], Path("/nowhere/out")) == [None]


def test_a_photo_that_is_a_link_does_not_tell_where_it_leads(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").symlink_to(tmp_path / "private" / "b.jpg")
    assert relative_addresses([tmp_path / "photos" / "a.jpg"], tmp_path / "out") == [
        "../photos/a.jpg"
    ]
