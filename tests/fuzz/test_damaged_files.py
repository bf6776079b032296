"""A damaged file is read as before, with a note of what is wrong, or refused in one line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("memory is measured as Linux tells it", allow_module_level=True)

from fuzz import run
from fuzz.containers import WALKERS, damage_to_parts, parts
from fuzz.oracle import judge_answer, judge_error
from fuzz.readers import READERS, Reading
from fuzz.samples import samples

N_FILES = int(os.environ.get("DAYLINE_FUZZ", "300"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", READERS)
def test_no_damaged_file_gets_a_wrong_answer_without_a_word(kind, tmp_path):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    found = run.find_faults(kind, N_FILES, tmp_path)
    if found:
        words = run.in_words(kind, found)
        pytest.fail(f"{len(found)} of {N_FILES} damaged {kind} files:\n{words}", pytrace=False)


# A judge that finds nothing looks like a reader without faults.
CHILD = """
import json, os, signal, sys
from pathlib import Path
kind, first, stop, folder = sys.argv[1:]
for index in range(int(first), int(stop)):
    (Path(folder) / "begun").write_text(json.dumps([index, f"damage {index}"]))
    if index == 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    if index == 3:
        with (Path(folder) / "faults").open("a") as file:
            file.write(json.dumps([index, "damage 3", ["words", "two lines", "a"]]) + "\\n")
    if index == 5:
        sys.exit("Timeout (0:00:20)!")
"""


def test_a_child_that_dies_or_hangs_is_told_and_the_next_one_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "CHILD", (sys.executable, "-c", CHILD))
    found = run.find_faults("npy", 8, tmp_path)
    assert [(index, fault.kind, fault.cause) for index, _, fault in found] == [
        (2, "died", "SIGSEGV"),
        (3, "words", "two lines"),
        (5, "died", "over 20 s"),
    ]
    assert "again: PYTHONPATH=tests python -m fuzz.run npy 5" in run.in_words("npy", found)


@pytest.mark.parametrize("kind", WALKERS)
def test_the_parts_of_a_file_cover_it_and_every_damage_to_them_is_another(kind):
    data = samples(kind)[0].data
    found = parts(data, kind)
    assert found[0].start == 0
    assert max(part.stop for part in found) == len(data)
    damaged = damage_to_parts(data, found)
    assert len(damaged) > len(found)
    assert len({how for _, how in damaged}) == len(damaged)
    assert all(content != data for content, _ in damaged)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("/d/source/b.npy: damaged"), None),
        (ValueError("/d/source: 2 of 3 frames cannot be read"), None),
        (KeyError("b.npy"), "traceback"),
        (ValueError("damaged"), "words"),
        (ValueError("b.npy: damaged\nin line 2"), "words"),
    ],
)
def test_only_one_line_that_names_the_file_is_no_fault(error, kind):
    with pytest.raises(type(error)) as caught:
        raise error
    fault = judge_error(caught.value, Path("/d/source/b.npy"))
    assert (fault.kind if fault else None) == kind


TABLE = {"shape": (11, 7), "has times": True, "dtype": "float64", "values": "a"}
FILM = {"n_frames": 3, "times": (0.0, 1.0, 2.0), "clock": "media", "pixels": "a"}


@pytest.mark.parametrize(
    ("whole", "change", "kind", "is_fault"),
    [
        (TABLE, {}, "npy", False),
        (TABLE, {"values": "b"}, "npy", False),
        (TABLE, {"values": "b"}, "npz", True),  # which has checksums
        (TABLE, {"shape": (11, 6)}, "npy", True),
        (TABLE, {"values": "b", "has times": False}, "npy", True),
        (FILM, {"times": (0.0, 1.1, 2.0)}, "ts", False),
        (FILM, {"times": (0.0, 1.3, 2.0)}, "ts", True),
        (FILM, {"n_frames": 2, "times": (0.0, 1.0)}, "ts", False),
        (FILM, {"n_frames": 2, "times": (0.0, 2.0)}, "ts", True),
        (FILM, {"n_frames": 2, "times": (0.0, 1.0)}, "mp4", False),  # trimmed by its edit list
        (FILM, {"n_frames": 2, "times": (0.0, 2.0)}, "mp4", True),
        (FILM, {"n_frames": 2, "times": (0.0, 2.0)}, "fragments.mp4", True),
        (FILM, {"n_frames": 2, "times": (1.0, 2.0)}, "mkv", False),  # its beginning is gone
        (FILM, {"n_frames": 2, "times": (0.0, 2.0)}, "mkv", True),
        (FILM, {"n_frames": 2, "times": (0.0, 2.0)}, "wmv", False),
    ],
)
def test_what_checksums_or_structure_tell_may_not_differ_without_a_word(
    whole, change, kind, is_fault
):
    fault = judge_answer(Reading(whole), Reading(whole | change), kind=kind, checked=kind == "npz")
    assert (fault is not None) == is_fault
    noted = Reading(whole | change, ["b: its times are gone"])
    assert judge_answer(Reading(whole), noted, kind=kind, checked=kind == "npz") is None
