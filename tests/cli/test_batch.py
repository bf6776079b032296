from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from batch.made_sequences import save_features, wait_for_worker
from cli.run_command import ENVIRONMENT, run
from dayline.album.save import save_events
from dayline.batch.run import read_batch
from dayline.events import read_events
from dayline.features.word_vectors import has_word_vectors
from dayline.files import UNFINISHED
from made_films import make_moving_film
from made_photos import make_day
from made_talks import written_talk


@pytest.fixture
def root(tmp_path):
    for name in ("a.npy", "b.csv"):
        save_features(tmp_path / "root" / name)
    return tmp_path / "root"


def test_a_batch_says_what_it_did_and_fails_if_one_failed(root, tmp_path):
    (root / "broken.npy").write_bytes(b"")
    done = run("batch", root, "-o", tmp_path / "out", "--jobs", 1, "--method", "ces")
    assert done.returncode == 2
    events = len(read_events(tmp_path / "out" / "a.npy" / "events.json").events)
    assert f"a.npy: {events} events in 120 frames\n" in done.stdout
    assert "3 sequences: 2 done, 1 failed\nThe page is " in done.stdout
    assert (
        done.stderr
        == "dayline: note: broken.npy: the file is empty\ndayline: 1 of 3 sequences failed (the"
        " first: broken.npy); the same command tries them again\n"
    )
    (root / "broken.npy").unlink()
    done = run("batch", root, "-o", tmp_path / "out", "--jobs", 1, "--method", "ces")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 sequences: 2 skipped\n" in done.stdout
    assert run("batch", root, "-o", tmp_path / "out", "--method", "ces", "-q").stdout == ""


@pytest.mark.slow
def test_a_folder_of_films_is_a_result_for_each(tmp_path):
    """The third is damaged; the table beside them may be a list of cuts, and is no film."""
    films = tmp_path / "films"
    for name, scenes in (("one.mp4", [40, 40]), ("deep/two.mp4", [50, 30])):
        make_moving_film(films / name, scenes)
    (films / "broken.mp4").write_bytes(b"no film" * 100)
    (films / "cuts.csv").write_text("Scene,Start\n1,0\n")
    what = ("segment", films, "-o", films / "out", "--model", "color")
    done = run(*what)
    assert done.returncode == 2
    assert done.stderr.startswith("dayline: note: broken.mp4: cannot be opened as a video")
    assert done.stderr.count("\n") == 2
    assert "3 sequences: 2 done, 1 failed\nThe page is " in done.stdout
    times = {path: path.stat().st_mtime_ns for path in films.rglob("events.json")}
    assert [path.parent.name for path in sorted(times)] == ["deep--two.mp4", "one.mp4"]

    (films / "broken.mp4").unlink()
    named = films / "out" / "one.mp4" / "events.json"
    events = read_events(named)
    first = replace(events.events[0], name="At the <sea>")
    save_events(replace(events, events=(first, *events.events[1:])), named.parent)
    assert "2 sequences: 1 done, 1 skipped\n" in run(*what).stdout
    page = (films / "out" / "index.html").read_text()
    assert "2 films · " in page
    assert 'href="one.mp4/index.html#event-1" dir="auto">At the &lt;sea&gt;</a>' in page
    del times[named]
    assert {path: path.stat().st_mtime_ns for path in times} == times
    for option in ("--json", "--as-one"):
        done = run(*what, option)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert option in done.stderr


def test_a_folder_of_transcripts_is_a_result_for_each(tmp_path):
    """Whisper writes one talk in several formats; the second transcript is damaged."""
    talks = tmp_path / "talks"
    (talks / "deep").mkdir(parents=True)
    written_talk(talks / "one.srt")
    (talks / "one.json").write_text("{}")
    (talks / "one.vtt").write_text("WEBVTT\n\n00:00.000 --> 00:01.000\nAs in one.srt.\n")
    (talks / "deep/broken.srt").write_text("no times")
    for command in ("segment", "batch"):
        done = run(command, talks, "-o", tmp_path / command)
        assert done.returncode == 2
        assert "note: deep/broken.srt: nothing is said in it" in done.stderr
        assert "one.srt: 3 events in 75 sentences\n" in done.stdout
        assert "2 sequences: 1 done, 1 failed" in done.stdout
    assert "2 talks · " in (tmp_path / "segment/index.html").read_text()

    (talks / "deep/broken.srt").unlink()
    done = run("segment", talks, "-o", tmp_path / "segment")
    assert "1 sequence: 1 skipped" in done.stdout
    # What sentences are compared by changes the events.
    other = "--no-word-vectors" if has_word_vectors() else "--no-titles"
    done = run("segment", talks, "-o", tmp_path / "segment", other)
    assert "1 sequence: 1 done" in done.stdout
    done = run("segment", talks, "-o", tmp_path / "out", "--json")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_notes_name_the_sequence_and_the_option(root, tmp_path):
    done = run("batch", root, "-o", tmp_path / "out", "--jobs", 1, "--n-events", 999)
    assert done.stderr.count("note: ") == 2
    for name in ("a.npy", "b.csv"):
        assert f"dayline: note: {name}: --n-events 999 is not possible" in done.stderr


def test_a_dry_run_lists_the_sequences_and_writes_nothing(root, tmp_path):
    done = run("batch", root, "-o", tmp_path / "out", "--dry-run")
    assert done.stdout == "features  a.npy  ->  a.npy\nfeatures  b.csv  ->  b.csv\n2 sequences\n"
    assert not (tmp_path / "out").exists()


def test_wrong_input_is_one_line_and_exit_code_2(root, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "letter.txt").write_text("dear")
    out = ("-o", tmp_path / "out")
    for message, arguments in {
        "no such file or folder": (tmp_path / "nope", *out),
        "contains no photo folder, video, transcript or feature file": (tmp_path / "empty", *out),
        "contains other files (letter.txt": (root, "-o", tmp_path / "others"),
        "contains other files (a.npy": (root, "-o", root),
        "--jobs and --cluster contradict": (root, *out, "--jobs", 2, "--cluster", "tcp://h:1"),
        "h: no Dask scheduler answers there": (root, *out, "--cluster", "h"),
        "format 'nope'": (root, *out, "--export", "nope"),
        "--expected-duration inf": (root, *out, "--expected-duration", "inf"),
        "--level does not apply to --method ces": (root, *out, "--method", "ces", "--level", 1),
        "Missing option '--output'": (root,),
    }.items():
        done = run("batch", *arguments)
        assert done.returncode == 2, arguments
        assert message in done.stderr
        assert done.stderr.startswith("dayline: ")
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stdout == ""
    assert not (tmp_path / "out").exists()
    assert not (root / ".dayline").exists()


def test_a_network_that_cannot_be_read_is_one_line_before_anything_starts(root, tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra photos is not installed")
    network = tmp_path / "broken.onnx"
    network.write_bytes(b"x" * 500)
    options = ("-o", tmp_path / "out", "--model", network, "--jobs", 1, "--method", "ces")
    assert run("batch", root, *options).returncode == 0  # features in files need no network

    make_day(root / "day", [("red", 4), ("blue", 4)])
    before = sorted((tmp_path / "out").rglob("*"))
    done = run("batch", root, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"dayline: {network}: damaged, or not a network onnxruntime")
    assert done.stderr.count("\n") == 1
    assert sorted((tmp_path / "out").rglob("*")) == before


def start_batch(root: Path, out: Path) -> subprocess.Popen[str]:
    # A shell that runs tests in the background makes them ignore Ctrl-C, and what they start.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heed}; from dayline.cli import main; main()"
    command = [sys.executable, "-c", program, "batch", root, "-o", out, "--jobs", "2"]
    # A session of its own, so that a signal to its group is Ctrl-C at a terminal: its workers get
    # it as well.
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | ENVIRONMENT | {"PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A process that ended stays in the table until it is waited for.
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def assert_all_ended(process: int, worker: int) -> None:
    end = time.monotonic() + 10
    while is_alive(worker) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_alive(worker), f"worker {worker} of {process} goes on"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_a_stopped_batch_leaves_whole_results_and_the_next_one_resumes(tmp_path, how):
    # So many that on a busy machine too some are left when the batch is stopped.
    names = [f"{k:02d}.npy" for k in range(30)]
    for k, name in enumerate(names):
        save_features(tmp_path / "root" / name, seed=k, n_frames=300)
    root, out = tmp_path / "root", tmp_path / "out"
    with start_batch(root, out) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()  # the first sequence is finished
            worker = wait_for_worker(*(out / name for name in names))
            if how == "SIGINT":
                os.killpg(process.pid, signal.SIGINT)
                _, err = process.communicate(timeout=60)
                assert (process.returncode, err) == (
                    130, "dayline: stopped; no file is incomplete, and the same command resumes\n",
                )  # fmt: skip
            else:
                os.kill(process.pid, signal.SIGKILL)
                process.communicate(timeout=60)
        finally:
            process.kill()
    assert_all_ended(process.pid, worker)
    for path in out.rglob("events.json"):
        assert read_events(path).n_frames == 300
    if how == "SIGINT":
        assert {record.status for record in read_batch(out / "batch.jsonl")} == {"done"}
    done = run("batch", root, "-o", out, "--jobs", 2)
    assert (done.returncode, done.stderr) == (0, "")
    statuses = [record.status for record in read_batch(out / "batch.jsonl")]
    assert statuses.count("skipped") >= 1
    assert statuses.count("done") >= 1
    assert len(statuses) == len(names)
    assert [
        p for p in out.rglob("*") if UNFINISHED.fullmatch(p.name) or p.name == ".dayline-lock"
    ] == []
