"""The judge of damaged files finds what it should, and outlives what it starts."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("memory is measured as Linux tells it", allow_module_level=True)

from fuzz import parent
from fuzz.mutations import damage
from fuzz.oracle import judge_answer, judge_error
from fuzz.readers import Reading

WHOLE = {"shape": (11, 7), "has times": True, "dtype": "float64", "values": "a"}
FILM = {"n_frames": 3, "times": (0.0, 1.0, 2.0), "clock": "media", "pixels": "a"}

CHILD = """
import json, os, signal, sys, time
kind, first, stop, folder, report = sys.argv[1:]
say = lambda **words: os.write(int(report), (json.dumps(words) + "\\n").encode())
for index in range(int(first), int(stop)):
    say(begun=index, how=f"damage {index}")
    if index == 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    if index == 4:
        time.sleep(60)
    if index == 6:
        sys.exit("no more")
    fault = {"kind": "words", "cause": "two lines", "detail": "a"} if index == 5 else None
    say(done=index, fault=fault)
"""


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


def test_a_child_that_dies_or_hangs_is_told_and_the_next_one_goes_on(tmp_path, monkeypatch):
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    monkeypatch.setattr(parent, "CHILD", (sys.executable, str(script)))
    monkeypatch.setattr(parent, "SECONDS_EACH", 0.5)
    found = parent.find_faults("npy", 8, tmp_path)
    assert [(one.index, one.fault.kind, one.fault.cause) for one in found] == [
        (2, "signal", "SIGSEGV"),
        (4, "time", "over 0.5 s"),
        (5, "words", "two lines"),
        (6, "signal", "exit code 1"),
    ]
    words = parent.in_words(found)
    assert "such as: damage 2" in words
    assert "again: PYTHONPATH=tests python -m fuzz.child npy 4" in words


def test_a_child_that_fails_before_its_first_file_is_an_error_of_the_test(tmp_path, monkeypatch):
    monkeypatch.setattr(parent, "CHILD", (sys.executable, "-c", "raise SystemExit('cannot begin')"))
    with pytest.raises(RuntimeError, match="cannot begin"):
        parent.find_faults("npy", 8, tmp_path)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("/d/source/b.npy: damaged"), None),
        (ValueError("/d/source: 2 of 3 frames cannot be read"), None),
        (KeyError("b.npy"), "traceback"),
        (ValueError("damaged"), "words"),
        (ValueError("b.npy: damaged\nin line 2"), "words"),
        (MemoryError("b.npy"), "traceback"),
    ],
)
def test_only_one_line_that_names_the_file_is_no_fault(error, kind):
    fault = judge_error(raised(error), Path("/d/source/b.npy"))
    assert (fault.kind if fault else None) == kind


def test_memory_that_ran_out_is_a_fault_whatever_is_said_of_it():
    error = ValueError("b.npy: not enough memory to read it")
    error.__cause__ = MemoryError()
    assert judge_error(raised(error), Path("/d/source/b.npy")).kind == "memory"


@pytest.mark.parametrize(
    ("change", "kind", "checked", "is_fault"),
    [
        ({}, "npy", False, False),
        ({"values": "b"}, "npy", False, False),
        ({"values": "b"}, "npz", True, True),
        ({"shape": (11, 6)}, "npy", False, True),
        ({"values": "b", "has times": False}, "npy", False, True),
    ],
)
def test_what_checksums_or_structure_tell_may_not_differ_without_a_word(
    change, kind, checked, is_fault
):
    damaged = WHOLE | change
    fault = judge_answer(Reading(WHOLE), Reading(damaged), kind=kind, checked=checked)
    assert (fault is not None) == is_fault
    with_a_word = Reading(damaged, ["b.npy: its times are gone"])
    assert judge_answer(Reading(WHOLE), with_a_word, kind=kind, checked=checked) is None


def test_a_word_that_the_whole_file_gets_too_is_none():
    note = "a note"
    fault = judge_answer(
        Reading(WHOLE, [note]),
        Reading(WHOLE | {"shape": (1, 1)}, [note]),
        kind="npy",
        checked=False,
    )
    assert fault.kind == "silent"


@pytest.mark.parametrize(
    ("times", "is_fault"),
    [
        ((0.0, 1.1, 2.0), False),
        ((0.0, 1.3, 2.0), True),
        ((0.0, 1.0), False),
        ((0.0, 2.0), True),
    ],
)
def test_frames_of_a_stream_may_move_a_little_or_end_early(times, is_fault):
    damaged = FILM | {"n_frames": len(times), "times": times}
    fault = judge_answer(Reading(FILM), Reading(damaged), kind="ts", checked=False)
    assert (fault is not None) == is_fault


def test_damage_changes_every_file():
    for seed in range(300):
        assert damage(b"0123456789", random.Random(seed)).data != b"0123456789"
