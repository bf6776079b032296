from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

from cli.run_command import run, run_process
from dayline.cli.console import one_line
from dayline.events import Segmentation, events_schema, read_events
from dayline.research.baselines.catalogue import BASELINES
from dayline.research.datasets.synthetic import make_communities


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    path = tmp_path_factory.mktemp("features") / "made.npz"
    made = make_communities(90, stay=300.0, n_features=6, random_state=1)
    np.savez(path, features=made.features, boundaries=made.boundaries, times=np.arange(90) * 30.0)
    return path


@pytest.mark.parametrize("method", ["default", "fast", "paper", "authors"])
def test_segment_writes_whole_results(features, tmp_path, method):
    for _ in range(2):  # the second run updates the result
        done = run("segment", features, "-o", tmp_path / "out", "--method", method)
        assert done.returncode == 0, done.stderr
    assert "events in 90 frames" in done.stdout
    content = json.loads((tmp_path / "out" / "events.json").read_text())
    jsonschema.validate(content, events_schema())
    assert content["method"] == method
    assert content["events"][-1]["stop_time"] == 89 * 30
    rows = (tmp_path / "out" / "events.csv").read_text().splitlines()
    assert rows[0].startswith("event,title,context,start,stop,n_frames,start_time")
    assert len(rows) == 1 + len(content["events"])
    graph = [] if method == "fast" else ["graph.png"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        ".dayline", ".dayline-files.json", "events.csv", "events.json", *graph, "index.html",
    ]  # fmt: skip


@pytest.mark.filterwarnings(
    "ignore:vcp is trained on this sequence", "ignore:lrt uses this sequence"
)
@pytest.mark.parametrize("method", sorted(BASELINES))
def test_baselines_segment_too(features, tmp_path, method):
    if "kernel" in method:
        pytest.importorskip("ruptures")
    if method == "vcp":
        pytest.importorskip("torch")
    if method == "ac-color":
        features = tmp_path / "shares.npz"
        np.savez(
            features, features=np.random.default_rng(0).random((90, 4)), times=np.arange(90) * 30.0
        )
    done = run("segment", features, "-o", tmp_path / "out", "--method", method, "-q")
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "out" / "events.json").read_text())
    jsonschema.validate(content, events_schema())
    assert (content["method"], content["events"][-1]["stop_time"]) == (method, 89 * 30)
    assert not (tmp_path / "out" / "graph.png").exists()


def test_baselines_refuse_what_they_cannot_be_told(features, tmp_path):
    run("segment", features, "-o", tmp_path, "--method", "kts", "--n-events", 4, "-q")
    assert len(read_events(tmp_path / "events.json").events) == 4
    for option, value in (("--level", 1), ("--device", "torch"), ("--expected-duration", 60)):
        done = run("segment", features, "--method", "ces", option, value)
        assert done.returncode == 2
        assert f"{option} does not apply to --method ces; leave it out" in done.stderr
    done = run("segment", features, "--method", "kmeans", "--n-events", 3)
    assert (done.returncode, "kmeans does not take n_events" in done.stderr) == (2, True)


def test_json_on_stdout_is_the_file(features, tmp_path):
    done = run("segment", features, "--json", "-o", tmp_path / "out")
    assert done.stdout == (tmp_path / "out" / "events.json").read_text()
    assert run("segment", features, "-q").stdout == ""


def test_evaluate_prints_the_controls(features, tmp_path):
    run("segment", features, "-o", tmp_path, "-q")
    rows = json.loads(run("evaluate", tmp_path / "events.json", features, "--json").stdout)
    assert [r["what"].split(" (")[0] for r in rows] == [
        "found",
        "equal pieces",
        "random cuts",
        "none",
    ]
    assert rows[0]["f1"] > rows[2]["f1"]
    assert rows[2]["n_found"] == pytest.approx(
        rows[0]["n_found"], rel=0.1
    )  # a cut at the last frame does not count
    assert rows[2]["n_matched"] <= rows[2]["n_true"] == rows[0]["n_true"]
    assert rows[3]["f1"] == 0
    ces = json.loads(
        run("evaluate", tmp_path / "events.json", features, "--json", "--protocol", "ces").stdout
    )
    assert ces[3]["f1"] > 0
    assert "random cuts" in run("evaluate", tmp_path / "events.json", features).stdout


def test_gaps_and_pauses_of_a_table(features, tmp_path):
    with np.load(features) as given:
        x, times = given["features"].copy(), given["times"].copy()
    x[20:29] = np.nan
    times[45:] += 86_400
    np.savez(tmp_path / "gaps.npz", features=x, times=times)

    def segmented(*options):
        done = run("segment", "gaps.npz", "--interpolate", *options, "-o", "out", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "9 rows are missing and skipped (10.0% of 90)" in done.stdout + done.stderr
        return read_events(tmp_path / "out" / "events.json")

    found = segmented()
    assert [event.start for event in found.events if event.reason == "pause"] == [45]
    assert "9 rows are missing and skipped (10.0% of 90)" in found.notes
    assert "pause" not in {event.reason for event in segmented("--no-pauses").events}
    refused = run("segment", "gaps.npz", "--no-pauses", "--method", "kts", cwd=tmp_path)
    assert refused.stderr == "dayline: --no-pauses does not apply to --method kts; leave it out\n"


@pytest.mark.slow
def test_demo_leaves_a_page_and_beats_the_controls(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = read_events(tmp_path / "demo" / "events.json")
    assert found.n_frames == 240
    assert (tmp_path / "demo" / "index.html").is_file()
    assert "The page is demo/index.html" in done.stdout
    files = ("demo/events.json", "demo/truth.json")
    done = run("evaluate", *files, "--tolerance", 2, "--json", cwd=tmp_path)
    rows = json.loads(done.stdout)
    assert rows[0]["f1"] > 0.8 > max(r["f1"] for r in rows[1:])
    assert any(e.reason in ("both", "pause") for e in found.events)
    assert (
        run("segment", tmp_path / "demo" / "outing", "-o", "demo", "-q", cwd=tmp_path).returncode
        == 0
    )


def wrong_input(tmp_path, features):
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "letter.txt").write_text("dear")
    x = np.load(features)["features"]
    x[3] = np.nan
    np.save(tmp_path / "nan.npy", x)
    (tmp_path / "empty.npy").touch()
    np.save(tmp_path / "plain.npy", np.eye(40))
    events = _write(tmp_path / "events.json", Segmentation.from_boundaries([4], 9).to_json())
    return {
        "no such file": ("segment", "nope.npy"),
        "file is empty": ("segment", tmp_path / "empty.npy"),
        "frame 3 holds NaN": ("segment", tmp_path / "nan.npy"),
        "contains other files (letter.txt": ("segment", features, "-o", tmp_path / "others"),
        "is a file; choose a folder": ("segment", features, "-o", features),
        "needs PyTorch|not available": ("segment", features, "--device", "cuda"),
        "--model only applies to photos and videos": ("segment", features, "--model", "color"),
        "--blur-faces only applies to photos and videos": ("segment", features, "--blur-faces"),
        "--every only applies to videos": ("segment", features, "--every", "2"),
        "--fps only applies to webvtt, ffmetadata, ": ("export", events, "-f", "csv", "--fps",
            "25"),
        "nowhere: no such file or folder; pass the photos": ("export", events, "-f", "edl",
            "--source", "nowhere"),
        "see dayline segment --help": ("segment", features, "--n-events", "0"),
        # The versions of Typer differ in how they quote the option.
        "No such option: --zzz; see dayline segment|No such option '--zzz'; see dayline segment": ("segment", features,
            "--zzz"),
        "'nope' is not one of 'default'": ("segment", features, "--method", "nope"),
        "--expected-duration inf; it must be": ("segment", features, "--expected-duration", "inf"),
        "--expected-duration 30 minutes is not a duration; write it as 45s": ("segment", features,
            "--expected-duration", "30 minutes"),
        "--min-duration 1h 30min needs times": ("segment", tmp_path / "plain.npy", "--min-duration",
            "1h 30min"),
        "--export photos needs photos": ("segment", features, "-o", tmp_path / "new", "--export",
            "photos"),
        "needs n_frames": (
            "evaluate", _write(tmp_path / "a.txt", "3"), _write(tmp_path / "b.txt", "4"),
            "--protocol", "ces",
        ),
        "different lengths: 50 and 90 frames": ("evaluate", features, features, "--n-frames", "50"),
    }  # fmt: skip


def _write(path, text):
    path.write_text(text)
    return path


def test_wrong_input_is_one_line_and_exit_code_2(tmp_path, features):
    for message, arguments in wrong_input(tmp_path, features).items():
        done = run(*arguments)
        assert done.returncode == 2, arguments
        assert any(m in done.stderr for m in message.split("|")), done.stderr
        assert done.stderr.startswith("dayline: ")
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stdout == ""
    assert not (tmp_path / "others" / "events.json").exists()
    assert run("segment", tmp_path / "nan.npy", "--interpolate", "-q").returncode == 0


def test_a_duration_has_a_unit_or_is_seconds(tmp_path):
    """20 minutes are 1200 seconds: the same events, in a table with one row a minute."""
    random = np.random.default_rng(0)
    x = np.repeat(random.normal(size=(12, 4)), 10, axis=0) + 0.1 * random.normal(size=(120, 4))
    np.savez(tmp_path / "home.npz", features=x, times=60.0 * np.arange(120))
    options = ("-q", "--json", "--expected-duration")
    seconds, minutes, hours = (
        run("segment", tmp_path / "home.npz", *options, given) for given in ("1200", "20min", "1h")
    )
    assert seconds.returncode == 0, seconds.stderr
    assert minutes.stdout == seconds.stdout
    numbers = [len(json.loads(done.stdout)["events"]) for done in (minutes, hours)]
    assert numbers[0] > 2 * numbers[1]  # three times as many, as far as the frames agree


@pytest.mark.slow
def test_columns_that_are_frames_are_noticed_once(tmp_path):
    walk = np.cumsum(np.random.default_rng(0).normal(size=(200, 20)), axis=0)
    np.save(tmp_path / "side.npy", walk.T)
    done = run_process("segment", tmp_path / "side.npy", "-q")
    assert done.returncode == 0
    assert done.stderr.count("look transposed") == 1
    assert "--transpose" in done.stderr
    assert run("segment", tmp_path / "side.npy", "-q", "--transpose").stderr == ""


def test_version_and_unknown_options():
    assert run("--version").stdout.startswith("dayline 0.")
    assert run("segment", "--what").returncode == 2


def test_what_fails_leaves_no_new_folder(tmp_path, features):
    events = _write(tmp_path / "events.json", Segmentation.from_boundaries([2], 4).to_json())
    for arguments in (
        ("export", events, "-f", "edl", "-o", tmp_path / "new"),
        ("export", events, "-f", "nope", "-o", tmp_path / "new"),
        ("demo", "--seed", "-1", "-o", tmp_path / "new"),
        ("segment", features, "--device", "abacus", "-o", tmp_path / "new"),
    ):
        done = run(*arguments)
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1
        assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "before"),
    [
        (("segment", "", "-o", "out"), "segment"),
        (("batch", ".", "-o", ""), "-o"),
        (("export", ".", "-f", "csv", "--source="), "--source="),
    ],
)
def test_an_empty_value_is_refused(tmp_path, arguments, before):
    """An empty path would be the current folder."""
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"dayline: the value after {before} is empty (an unset shell variable?)\n"
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_an_open_file_is_not_printed_as_its_name():
    assert one_line(IsADirectoryError(21, "Is a directory", 3)) == "Is a directory"
    assert one_line(IsADirectoryError(21, "Is a directory", "small")) == "small: Is a directory"
