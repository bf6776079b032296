from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest

from dayline.files import temporary_folder, write_text_whole
from dayline.result_folder import (
    OutputFolderError,
    OwnFiles,
    export_folder,
    keep_aside,
    output_folder,
)


def visible(folder):
    return sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))


def test_a_folder_of_others_is_refused_and_one_of_ours_is_updated(tmp_path):
    (tmp_path / "letter.txt").touch()
    with pytest.raises(OutputFolderError, match="contains other files"), output_folder(tmp_path):
        pass
    for _ in range(2):
        with output_folder(tmp_path / "a" / "b") as ours:
            write_text_whole(ours / "events.json", "{}")
    assert sorted(p.name for p in ours.iterdir()) == [
        ".dayline",
        ".dayline-files.json",
        "events.json",
    ]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(OutputFolderError, match="is a file"), output_folder(tmp_path / "a"):
        pass


def test_work_that_is_refused_leaves_no_new_folder(tmp_path):
    with pytest.raises(ValueError, match=r"^no$"), output_folder(tmp_path / "new"):
        raise ValueError("no")
    assert list(tmp_path.iterdir()) == []


def test_what_a_person_changed_is_kept_under_the_date_of_the_change(tmp_path):
    with output_folder(tmp_path):
        write_text_whole(tmp_path / "events.csv", "ours")
    (tmp_path / "events.csv").write_text("edited")
    os.utime(tmp_path / "events.csv", (0, 0))
    for _ in range(2):
        with (
            output_folder(tmp_path),
            pytest.warns(UserWarning, match=r"events\.csv is not the file that dayline wrote"),
        ):
            write_text_whole(tmp_path / "events.csv", "ours, newer")
        (tmp_path / "events.csv").write_text("edited")
        os.utime(tmp_path / "events.csv", (0, 0))
    (aside,) = tmp_path.glob("events-*.csv")
    assert aside.name.startswith(("events-1970-01-01T", "events-1969-12-31T"))
    assert aside.read_text() == "edited"


def test_what_dayline_wrote_is_replaced_without_a_word(tmp_path):
    for text in ("one", "two", "two", "three"):
        with output_folder(tmp_path):
            write_text_whole(tmp_path / "index.html", text)
    assert visible(tmp_path) == ["index.html"]


def test_the_list_of_files_is_not_written_again_if_nothing_changes(tmp_path):
    times = []
    for text in ("one", "one", "two"):
        with output_folder(tmp_path):
            write_text_whole(tmp_path / "index.html", text)
        times.append((tmp_path / ".dayline-files.json").stat().st_mtime_ns)
    assert times[0] == times[1] < times[2]


def test_a_run_killed_between_two_files_makes_no_stranger_of_its_own_file(tmp_path):
    with output_folder(tmp_path):
        write_text_whole(tmp_path / "index.html", "one")
        # What a kill after the list of files was written, and before the file was, leaves behind.
        (tmp_path / "half").write_text("two")
        OwnFiles(tmp_path).make_way("index.html", tmp_path / "half", "keep")
    with output_folder(tmp_path):
        write_text_whole(tmp_path / "index.html", "three")
    assert visible(tmp_path) == ["half", "index.html"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": "dayline-files-1", "files": 3}', '{"format": 1}']
)
def test_with_a_damaged_list_everything_is_kept(tmp_path, text):
    with output_folder(tmp_path):
        write_text_whole(tmp_path / "events.json", "one")
    (tmp_path / ".dayline-files.json").write_text(text)
    with output_folder(tmp_path), pytest.warns(UserWarning, match="is kept as"):
        write_text_whole(tmp_path / "events.json", "two")
    assert len(visible(tmp_path)) == 2


def test_an_export_replaces_only_what_dayline_wrote(tmp_path):
    (tmp_path / "events.csv").write_text("mine")
    with (
        pytest.raises(
            OutputFolderError, match=r"events\.csv: exists, but dayline did not write it; .*--force"
        ),
        export_folder(tmp_path, names=["events.csv"]),
    ):
        raise AssertionError("the work has begun")
    with pytest.raises(OutputFolderError, match="did not write it"), export_folder(tmp_path):
        write_text_whole(tmp_path / "events.csv", "ours")
    assert (tmp_path / "events.csv").read_text() == "mine"
    for text in ("ours", "ours again"):
        with export_folder(tmp_path, names=["events.csv"], force=text == "ours"):
            write_text_whole(tmp_path / "events.csv", text)
    assert (tmp_path / "events.csv").read_text() == "ours again"
    assert visible(tmp_path) == ["events.csv"]


def test_leftovers_of_killed_runs_are_removed_and_files_of_others_are_not(tmp_path):
    photos = temporary_folder(tmp_path, "photos")
    (photos / "new").mkdir()
    (photos / "new" / "a.jpg").touch()
    (tmp_path / ".dayline-graph.png-abcd1234.part").touch()
    (tmp_path / ".dayline").touch()
    (tmp_path / "thumbnails").mkdir()
    (tmp_path / "thumbnails" / ".dayline-00ff.jpg-abcd1234.part").touch()
    (tmp_path / ".notes.part").touch()
    with output_folder(tmp_path):
        pass
    assert sorted(p.name for p in tmp_path.rglob("*")) == [".dayline", ".notes.part", "thumbnails"]


def test_leftovers_in_a_folder_that_is_given_as_a_link_are_removed(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to("disk")
    temporary_folder(tmp_path / "disk", "photos")
    with output_folder(tmp_path / "out") as folder:
        assert not list(folder.glob("*.part"))


def test_a_second_run_is_told_who_is_at_work(tmp_path):
    with output_folder(tmp_path):
        code = (
            "import sys; from dayline.result_folder import output_folder\nwith"
            " output_folder(sys.argv[1]): pass"
        )
        second = subprocess.run(
            [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False
        )
    assert second.returncode == 1
    assert f"another dayline run is writing there (process {os.getpid()} on " in second.stderr
    with output_folder(tmp_path):
        pass
    assert not (tmp_path / ".dayline-lock").exists()


def test_a_second_thread_is_refused_and_a_nested_block_is_not(tmp_path):
    said = []

    def second():
        try:
            with output_folder(tmp_path):
                said.append("entered")
        except OutputFolderError as error:
            said.append(str(error))

    with output_folder(tmp_path), output_folder(tmp_path), export_folder(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(said) == 1
    assert "another dayline run" in said[0]


def test_the_lock_of_a_killed_run_is_taken_over(tmp_path):
    (tmp_path / ".dayline").touch()
    (tmp_path / ".dayline-lock").write_text("process 1 on elsewhere since yesterday")
    with output_folder(tmp_path):
        assert f"process {os.getpid()} on" in (tmp_path / ".dayline-lock").read_text()


@pytest.mark.parametrize("name", [".dayline", ".dayline-lock", ".dayline-files.json"])
def test_planted_links_are_not_followed(tmp_path, name):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).symlink_to(tmp_path / "planted")
    with pytest.raises(ValueError, match="is a link to another place"), output_folder(out):
        write_text_whole(out / "events.json", "{}")
    assert not (tmp_path / "planted").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_planted_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / ".dayline")
    with (
        pytest.raises(OutputFolderError, match="cannot be used as output folder"),
        output_folder(tmp_path),
    ):
        pass


def test_a_link_in_place_of_a_file_is_replaced_and_its_target_stays(tmp_path):
    (tmp_path / "private.txt").write_text("mine")
    with output_folder(tmp_path / "out") as out:
        (out / "events.json").symlink_to(tmp_path / "private.txt")
        with pytest.warns(UserWarning, match="events.json was a link, which is not followed"):
            write_text_whole(out / "events.json", "{}")
    assert not (out / "events.json").is_symlink()
    assert (tmp_path / "private.txt").read_text() == "mine"
    assert json.loads((out / "events.json").read_text()) == {}


def test_without_hard_links_a_copy_is_kept(tmp_path, monkeypatch):
    def no_link(*_):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    (tmp_path / "a.json").write_text("mine")
    aside = keep_aside(tmp_path / "a.json")
    assert keep_aside(tmp_path / "a.json") == aside
    (tmp_path / "a.json").write_text("other")
    assert aside.read_text() == "mine"
