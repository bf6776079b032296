from __future__ import annotations

import os
from pathlib import PurePath

from dayline.media.frame import natural_key, shown_name


def test_numbers_in_names_are_counted():
    names = ["IMG10.jpg", "img9.jpg", "IMG2.jpg", "b/1.jpg", "a2/1.jpg", "a10/1.jpg"]
    ordered = sorted(names, key=natural_key)
    assert ordered == ["a2/1.jpg", "a10/1.jpg", "b/1.jpg", "IMG2.jpg", "img9.jpg", "IMG10.jpg"]


def test_numbers_and_words_in_the_same_place_can_be_compared():
    assert sorted(["x.jpg", "7.jpg"], key=natural_key) == ["7.jpg", "x.jpg"]


def test_every_script_stays_readable():
    for name in ['Ümläut "x" <b>&\'.jpg', "שלום.jpg", "写真 1.png"]:
        assert shown_name(name) == name


def test_broken_utf8_becomes_backslash_escapes():
    assert shown_name(PurePath(os.fsdecode(b"a/br\xff\xfe.jpg"))) == "a/br\\xff\\xfe.jpg"


def test_what_could_move_the_cursor_or_turn_the_line_is_escaped():
    assert shown_name("a\nb\x1b[31m\u202egpj.exe") == "a\\nb\\x1b[31m\\u202egpj.exe"


def test_a_shown_name_can_always_be_written_as_utf8():
    assert shown_name(os.fsdecode(bytes(range(1, 256)).replace(b"/", b""))).encode("utf-8")


def test_different_names_stay_different():
    names = [
        b"\xff",
        b"\xfe",
        b"\\xff",
        "\x80".encode(),
        b"\x80",
        "\xff".encode(),
        b"\\\\xff",
        b"\n",
        b"\\n",
    ]
    assert len({shown_name(os.fsdecode(name)) for name in names}) == len(names)
