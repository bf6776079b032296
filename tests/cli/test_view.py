"""`dayline view` as a command: what it says, and what it does before it serves."""

from __future__ import annotations

import errno
import json
import shlex
import warnings
from unittest.mock import patch

import pytest
from filelock import FileLock
from run_command import run

from dayline.events import read_events
from made_photos import make_day


@pytest.fixture
def served():
    """Commands end instead of serving."""
    with (
        patch("dayline.album.view.serve", lambda server: server.server_close()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")  # printed as notes
        yield


@pytest.fixture
def place(tmp_path, served):
    make_day(tmp_path / "photos", [("red", 6), ("green", 7)])
    assert (
        run(
            "segment", tmp_path / "photos", "-o", tmp_path / "out", "--model", "color", "--quiet"
        ).returncode
        == 0
    )
    return tmp_path


def downloaded(place, name):
    content = json.loads((place / "out" / "events.json").read_text())
    content["events"][0]["name"] = "Breakfast"
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_text(json.dumps(content))
    return place / name


def test_it_prints_the_address_and_how_to_end_it(place):
    done = run("view", place / "out", "--no-open")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].startswith("The page is http://127.0.0.1:")
    assert "Ctrl-C ends it" in done.stdout
    assert (
        done.stderr
        == "dayline: ended; what was saved is in the result, other changes stay in the browser\n"
    )


def test_a_folder_that_is_not_a_result_gives_one_line(tmp_path):
    done = run("view", tmp_path / "nothing", "--no-open")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "not a result of dayline; make one with dayline segment SOURCE -o " in done.stderr


def test_a_downloaded_file_is_saved_into_the_result(place, monkeypatch):
    monkeypatch.setenv("HOME", str(place))
    downloaded(place, "Downloads/events.json")
    done = run("view", place / "out", "--corrections", "~/Downloads/events.json", "--no-open")
    assert done.returncode == 0, done.stderr
    assert f"saved {place / 'out' / 'events.json'}; the previous one is events-" in done.stdout
    assert read_events(place / "out" / "events.json").events[0].name == "Breakfast"
    assert "Breakfast" in (place / "out" / "events.csv").read_text()


def test_a_downloaded_file_of_other_frames_is_refused_with_the_command_that_can_use_it(place):
    file = downloaded(place, "events.json")
    content = json.loads(file.read_text())
    content["digests"] = [digest[::-1] for digest in content["digests"]]
    file.write_text(json.dumps(content))
    done = run("view", place / "out", "--corrections", file, "--no-open")
    assert done.returncode == 2
    assert "other frames" in done.stderr
    assert "dayline segment SOURCE --corrections" in done.stderr


def test_a_downloaded_file_needs_the_folder_of_its_day(place):
    file = downloaded(place, "events.json")
    (place / "out" / "events.json").rename(place / "elsewhere.json")
    done = run("view", place / "out", "--corrections", file, "--no-open")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "--corrections works for one result only; pass the folder of that day" in done.stderr


@pytest.mark.parametrize("name", ["events (1).json", "events(2).json", "events-3.json"])
def test_a_second_download_in_the_result_is_named_with_the_command_that_uses_it(place, name):
    file = downloaded(place, f"out/{name}")
    option = f"--corrections {shlex.quote(str(file))}"
    for command in (
        ["segment", place / "photos", "-o", place / "out", "--model", "color"],
        ["view", place / "out", "--no-open"],
    ):
        done = run(*command)
        assert done.returncode == 0
        assert f"{file} is not used; " in done.stderr
        assert option in done.stderr
    assert read_events(place / "out" / "events.json").events[0].name is None
    again = run(
        "segment", place / "photos", "-o", place / "out", "--model", "color", "--corrections", file
    )
    assert read_events(place / "out" / "events.json").events[0].name == "Breakfast"
    assert "is not used" not in again.stderr
    assert "is not used" not in run("view", place / "out", "--no-open").stderr


def test_a_page_is_renewed_from_events_that_were_put_there_by_hand(place):
    (place / "out" / "events.json").write_text(downloaded(place, "events.json").read_text())
    done = run("view", place / "out", "--no-open")
    assert f"{place / 'out'}: the page is renewed from events.json" in done.stderr
    assert "Breakfast" in (place / "out" / "index.html").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_is_shown_and_the_reason_said(place, monkeypatch):
    def refuse(lock, *args, **options):
        raise PermissionError(errno.EACCES, "Permission denied", lock.lock_file)

    monkeypatch.setattr(FileLock, "acquire", refuse)
    out = place / "out"
    done = run("view", out, "--no-open")
    assert done.returncode == 0
    assert "/dayline-readonly-" in done.stdout
    assert done.stderr == (
        f"dayline: note: {out}: cannot be written (Permission denied): the page is shown, and Save"
        " downloads events.json\ndayline: ended; changes stay in the browser\n"
    )
    done = run("view", out, "--no-open", "--corrections", out / "events.json")
    assert (done.returncode, done.stderr) == (
        2,
        f"dayline: {out}: cannot be used as output folder: Permission denied\n",
    )


def test_a_file_of_the_result_stands_for_it_and_a_missing_source_is_named(place):
    assert run("view", place / "out" / "events.json", "--no-open").returncode == 0
    done = run("view", place / "out", "--source", place / "gone", "--no-open")
    assert (done.returncode, done.stderr) == (
        2,
        f"dayline: {place / 'gone'}: no such file or folder\n",
    )
