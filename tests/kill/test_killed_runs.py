"""After kill -9 at any moment, the same command gives the usual result, and no edit is lost.

The moments are changes to the file system (a file opened for writing, renamed, removed, a folder
made, ...): the process ends just before one of them, which leaves every state that a kill can leave
but for the length of a file that is not in place yet. `make kill` tries 50 moments of each command.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dayline.files import UNFINISHED
from made_photos import make_day

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are killed in forked processes"),
]

MOMENTS = int(os.environ.get("DAYLINE_KILLS", "7"))
NAME = "Breakfast with Ada"
SCENES = (("red", 6), ("green", 7), ("red", 6))


class Worker:
    def __init__(self, folder: Path) -> None:
        script = Path(__file__).with_name("worker.py")
        environment = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "100", "NO_COLOR": "1"}
        self.log = folder / "log"
        self.process = subprocess.Popen(
            [sys.executable, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, arguments: list[str], *, kill_before: int | None = None) -> dict[str, Any]:
        request = {"arguments": arguments, "log": str(self.log), "kill_before": kill_before}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        done: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert "Traceback" not in done["said"], done["said"]
        return done

    def well(self, *arguments: str) -> None:
        done = self.run(list(arguments))
        assert done["code"] == 0, done["said"]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(tmp_path_factory.mktemp("worker"))
    yield worker
    with worker.process:  # closes both pipes and waits
        pass


@dataclass(frozen=True)
class Scenario:
    """What is there before, the command, and whether a person's edit is in it."""

    prepare: Callable[[Worker, Path], None]
    arguments: Callable[[Path], list[str]]
    edited: bool


def photos(place: Path) -> None:
    make_day(place / "photos", SCENES)


def segment(place: Path, *options: str) -> list[str]:
    return [
        "segment",
        str(place / "photos"),
        "-o",
        str(place / "out"),
        "--model",
        "color",
        *options,
    ]


def edit(events: Path, name: str = NAME) -> None:
    content = json.loads(events.read_text())
    content["events"][0]["name"] = name
    events.write_text(json.dumps(content))


def first_result(worker: Worker, place: Path) -> None:
    photos(place)
    worker.well(*segment(place, "--export", "photos"))


def edited_result(worker: Worker, place: Path) -> None:
    first_result(worker, place)
    edit(place / "out" / "events.json")


def corrected_twice(worker: Worker, place: Path) -> None:
    edited_result(worker, place)
    worker.well(*segment(place))
    shutil.copy2(place / "out" / "events.json", place / "saved.json")
    edit(place / "saved.json", f"{NAME}, then lunch")


def edited_days(worker: Worker, place: Path) -> None:
    make_day(place / "photos" / "day 1", SCENES)
    make_day(place / "photos" / "day 2", SCENES, day="20150313")
    worker.well(*segment(place))
    edit(place / "out" / "day 2" / "events.json")


def exported(worker: Worker, place: Path) -> None:
    edited_result(worker, place)
    worker.well(*export(place))
    (place / "out" / "events.json").write_text((place / "out" / "events.json").read_text() + " ")


def export(place: Path) -> list[str]:
    formats = [f"--format={name}" for name in ("csv", "webvtt", "ffmetadata", "edl", "photos")]
    return [
        "export",
        str(place / "out" / "events.json"),
        "--source",
        str(place / "photos"),
        *formats,
    ]


def saved_on_the_page(worker: Worker, place: Path) -> None:
    first_result(worker, place)
    worker.well(*export(place))
    shutil.copy2(place / "out" / "events.json", place / "saved.json")
    edit(place / "saved.json")


def saved_twice(worker: Worker, place: Path) -> None:
    saved_on_the_page(worker, place)
    worker.well("save", str(place / "out"), str(place / "saved.json"))
    edit(place / "saved.json", f"{NAME}, then lunch")


def save(place: Path) -> list[str]:
    return ["save", str(place / "out"), str(place / "saved.json")]


SCENARIOS = {
    "photos": Scenario(lambda _, place: photos(place), segment, edited=False),
    "days": Scenario(edited_days, segment, edited=True),
    "sorted photos": Scenario(
        edited_result, lambda place: segment(place, "--export", "photos"), edited=True
    ),
    "export": Scenario(exported, export, edited=True),
    "corrections in the folder": Scenario(edited_result, segment, edited=True),
    "corrections in a file": Scenario(
        corrected_twice,
        lambda place: segment(place, "--corrections", str(place / "saved.json")),
        edited=True,
    ),
    "a save on the page": Scenario(saved_on_the_page, save, edited=True),
    "a second save on the page": Scenario(saved_twice, save, edited=True),
    "corrections forgotten": Scenario(
        corrected_twice, lambda place: segment(place, "--forget-corrections"), edited=True
    ),
}


def digest(path: Path) -> str:
    if path.name == "features.npz":
        # All but when the system last changed a photo's record, which no program can set.
        with np.load(path) as fields:
            kept = [fields[name].tobytes() for name in sorted(fields) if name != "changed"]
        return hashlib.sha256(b"".join(kept)).hexdigest()
    if path.name == ".dayline-files.json":
        listed = json.loads(path.read_text())
        return json.dumps(listed | {"files": listed["files"] | {"features.npz": None}})
    if path.suffix == ".json":
        return path.read_text()
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): digest(path) for path in found}


def edits_in(folder: Path) -> int:
    return sum(NAME in path.read_text() for path in folder.rglob("*.json"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_killed_run_is_taken_up_again_and_loses_nothing(worker, tmp_path, name):
    scenario = SCENARIOS[name]
    # Results name the source and stamp photos by their times, so every try happens in the same
    # place.
    place, before = tmp_path / "place", tmp_path / "before"
    place.mkdir()
    scenario.prepare(worker, place)
    shutil.copytree(place, before)

    def start_again() -> None:
        shutil.rmtree(place)
        shutil.copytree(before, place)
        # Copies of photos are not links to them, which is what sorted photos are.
        for photo in (place / "out" / "photos").rglob("*.png"):
            photo.unlink()
            os.link(place / "photos" / photo.name, photo)

    start_again()
    clean = worker.run(scenario.arguments(place))
    assert clean["code"] == 0, clean["said"]
    expected, changes = contents(place), clean["changes"]
    assert changes >= MOMENTS
    for moment in np.unique(np.linspace(0, changes - 1, MOMENTS).astype(int)).tolist():
        where = f"{name}, killed before change {moment} of {changes}"
        start_again()
        assert worker.run(scenario.arguments(place), kill_before=moment)["killed"], where
        if scenario.edited:
            assert edits_in(place), where
        again = worker.run(scenario.arguments(place))
        assert again["code"] == 0, f"{where}: {again['said']}"
        assert contents(place) == expected, where
        assert not [
            p for p in place.rglob("*") if UNFINISHED.fullmatch(p.name) or p.name == ".dayline-lock"
        ], where
