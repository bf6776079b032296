from __future__ import annotations

import json
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from batch.made_sequences import killing, save_features, wait_for_worker
from dayline.album.save import save_events
from dayline.album.settings import Settings
from dayline.batch.run import read_batch, segment_many
from dayline.batch.sources import Source
from dayline.batch.task import FIELDS, BatchRecord, Task, finished_record, make_task, run_task
from dayline.estimators import EventSegmenter
from dayline.events import read_events
from dayline.files import UNFINISHED
from dayline.research.datasets.synthetic import make_communities
from made_photos import make_day, make_film

COLOR = Settings(model="color")
HOSTILE = '<img src=x onerror=alert(1)> "x" & y.npy'


def statuses(records: list[BatchRecord]) -> dict[str, str]:
    return {record.source: record.status for record in records}


def stamps(out, records):
    return {
        r.name: (out / r.name / "events.json").stat().st_mtime_ns
        for r in records
        if r.events is not None
    }


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A root with everything, its output, and the records of the first run."""
    place = tmp_path_factory.mktemp("mixed")
    root, out = place / "root", place / "out"
    make_day(root / "trip" / "day 1")
    make_film(root / "film.mp4")
    for name in ("same.npy", "same.csv", "deep/same.npz", HOSTILE):
        save_features(root / name)
    (root / "broken.npy").write_bytes(b"not an array")
    return root, out, list(segment_many(root, output=out, settings=COLOR, jobs=2))


def test_every_kind_gets_a_whole_result_and_a_broken_one_is_reported(mixed):
    _, out, records = mixed
    assert statuses(records) == {
        "broken.npy": "failed", "deep/same.npz": "done", "film.mp4": "done", "same.csv": "done",
        "same.npy": "done",
        "trip/day 1": "done", HOSTILE: "done",
    }  # fmt: skip
    for record in records:
        if record.status == "failed":
            assert record.message.startswith("damaged, or not a NumPy file")
            assert not (out / record.name).exists()
            continue
        events = read_events(out / record.events)
        assert (len(events.events), events.n_frames) == (record.n_events, record.n_frames)
        assert {"index.html", "events.json", "events.csv"} <= {
            path.name for path in (out / record.name).iterdir()
        }
    assert (out / "trip--day 1" / "thumbnails").is_dir()
    assert [
        p for p in out.rglob("*") if UNFINISHED.fullmatch(p.name) or p.name == ".dayline-lock"
    ] == []


def test_the_list_has_a_line_per_sequence_in_order(mixed):
    root, out, records = mixed
    text = (out / "batch.jsonl").read_text(encoding="utf-8")
    assert str(root.parent) not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["source"] for line in lines] == [
        HOSTILE, "broken.npy", "deep/same.npz", "film.mp4", "same.csv", "same.npy", "trip/day 1",
    ]  # fmt: skip
    assert tuple(lines[0]) == FIELDS
    by_name = {record.name: record for record in records}
    for record in read_batch(out / "batch.jsonl"):
        assert record.to_json() == by_name[record.name].to_json()


def test_the_page_links_to_every_result_and_escapes_names(mixed):
    root, out, _ = mixed
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "7 sequences" in page
    assert "1 failed" in page
    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert 'href="trip--day%201/index.html"' in page
    assert page.count("/thumbnails/") >= 5  # three events of photos and two of film
    assert "Failed: damaged, or not a NumPy file" in page
    assert str(root.parent) not in page


@pytest.mark.slow
def test_a_second_run_computes_nothing_but_what_failed_or_changed(mixed):
    root, out, records = mixed
    before = stamps(out, records)
    again = list(segment_many(root, output=out, settings=COLOR, jobs=2))
    assert statuses(again) == {
        source: "failed" if status == "failed" else "skipped"
        for source, status in statuses(records).items()
    }
    assert stamps(out, again) == before
    # Now only one is computed: its input changed, and that which failed is gone.
    (root / "broken.npy").unlink()
    save_features(root / "same.npy", seed=3)
    third = list(segment_many(root, output=out, settings=COLOR, jobs=1))
    assert [record.source for record in third if record.status == "done"] == ["same.npy"]
    after = stamps(out, third)
    assert {name for name in before if before[name] != after[name]} == {"same.npy"}
    assert {record.status for record in read_batch(out / "batch.jsonl")} == {"done", "skipped"}
    assert "failed" not in (out / "index.html").read_text(encoding="utf-8")


def task_for(path, out, settings=COLOR) -> Task:
    return make_task(
        Source(path.name, path.name, "photos" if path.is_dir() else "features", path), out, settings
    )


@pytest.fixture
def finished(tmp_path):
    """A task that is finished, in this process."""
    path = save_features(tmp_path / "x.npy")
    out = tmp_path / "out"
    out.mkdir()
    (out / ".dayline").touch()
    task = task_for(path, out)
    assert finished_record(task) is None
    assert run_task(task).status == "done"
    assert finished_record(task).status == "skipped"
    return task


def test_settings_that_matter_for_a_kind_make_it_unfinished(finished):
    def again(**changes):
        return finished_record(
            task_for(
                finished.source.data, finished.output, Settings(**{"model": "color", **changes})
            )
        )

    # Those of photos and videos do not concern a feature file.
    assert (
        again(model="hog", every=2.0, order="name", thumbnails=False, formats=("photos",))
        is not None
    )
    for changes in (
        {"segmenter": EventSegmenter(level=1)},
        {"segmenter": EventSegmenter.paper()},
        {"method": "paper"},
        {"formats": ("webvtt",)},
        {"transpose": True},
        {"key": "features"},
    ):
        assert again(**changes) is None, changes


def test_a_new_photo_or_a_changed_one_makes_a_folder_unfinished(tmp_path):
    photos = make_day(tmp_path / "day")
    first = task_for(tmp_path / "day", tmp_path).key
    assert task_for(tmp_path / "day", tmp_path).key == first
    os.utime(photos[0], (0, 0))
    second = task_for(tmp_path / "day", tmp_path).key
    photos[1].unlink()
    assert len({first, second, task_for(tmp_path / "day", tmp_path).key}) == 3


def test_a_result_that_lacks_a_file_or_was_corrected_is_computed_again_with_the_corrections(
    finished,
):
    (finished.folder / "events.csv").unlink()
    assert finished_record(finished) is None
    run_task(finished)
    events = json.loads((finished.folder / "events.json").read_text())
    events["events"][0]["name"] = "Breakfast"
    (finished.folder / "events.json").write_text(json.dumps(events))
    assert finished_record(finished) is None
    assert run_task(finished).status == "done"
    assert read_events(finished.folder / "events.json").events[0].name == "Breakfast"
    assert finished_record(finished) is not None


def test_a_damaged_record_means_unfinished(finished):
    for text in ("", "{", "[]", "null", '{"format": "dayline-batch-1"}'):
        (finished.folder / ".dayline-batch.json").write_text(text)
        assert finished_record(finished) is None


def test_a_worker_that_does_not_see_the_output_folder_writes_nothing(finished):
    (finished.output / ".dayline").unlink()
    record = run_task(finished)
    assert (record.status, "does not see the output folder" in record.message) == ("failed", True)


def test_every_export_that_fails_is_reported_and_the_rest_is_there(finished):
    formats = ("webvtt", "csv", "youtube", "photos", "clips")  # features have no times
    task = task_for(finished.source.data, finished.output, Settings(formats=formats))
    record = run_task(task)
    assert (record.status, record.events) == ("failed", "x.npy/events.json")
    assert record.message.startswith("webvtt: the frames have no times")
    assert "; youtube: the frames have no times" in record.message
    assert "photos: " not in record.message
    assert "clips: " not in record.message
    assert finished_record(task) is None


@pytest.mark.slow
def test_films_get_chapters_and_clips_and_photos_do_not(tmp_path):
    make_day(tmp_path / "root" / "day")
    for name in ("a.mp4", "trip/b.mkv"):
        (tmp_path / "root" / name).parent.mkdir(exist_ok=True)
        make_film(tmp_path / "root" / name)
    settings = replace(COLOR, write_chapters=True, formats=("webvtt", "clips", "ics", "xmp"))
    records = list(
        segment_many(tmp_path / "root", output=tmp_path / "out", settings=settings, jobs=1)
    )
    assert {record.status for record in records} == {"done"}
    found = {
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")
    }
    assert {
        "a.mp4/a-chapters.mp4",
        "a.mp4/clips/01 Event.mp4",
        "trip--b.mkv/b-chapters.mkv",
    } <= found
    assert {"day/events.ics", "day/chapters.vtt", "a.mp4/chapters.vtt"} <= found
    assert not {"day/clips", "a.mp4/events.ics", "a.mp4/xmp"} & found
    # The films have 11 s; the last frame that was sampled lies before.
    assert (tmp_path / "out" / "a.mp4" / "chapters.vtt").read_text().count("--> 00:00:11.000") == 1


def test_a_message_does_not_say_where_the_network_lies(finished, tmp_path):
    make_day(tmp_path / "day", [("red", 4)])
    network = tmp_path / "home of ada" / "own.onnx"
    network.parent.mkdir()
    network.write_bytes(b"not a network")
    record = run_task(task_for(tmp_path / "day", finished.output, Settings(model=str(network))))
    assert record.status == "failed"
    assert record.message.startswith("own.onnx: damaged, or not an ONNX file")


def test_warnings_become_notes_of_the_sequence(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".dayline").touch()
    walk = np.cumsum(np.random.default_rng(0).normal(size=(200, 20)), axis=0)
    np.save(tmp_path / "side.npy", walk.T)
    record = run_task(task_for(tmp_path / "side.npy", tmp_path / "out"))
    assert record.status == "done"
    assert len(record.notes) == 1
    assert "look transposed" in record.notes[0]


@pytest.mark.slow
def test_arrays_in_memory_are_sequences_too(tmp_path):
    features = make_communities(120, stay=300.0, n_features=8, random_state=0).features
    arrays = {"first": features, "second/../..": features[:100]}
    records = list(segment_many(arrays, output=tmp_path / "out", jobs=1))
    assert statuses(records) == {"first": "done", "second/../..": "done"}
    assert read_events(tmp_path / "out" / "first" / "events.json").source == "first"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]
    arrays["first"] = features + 1.0
    again = list(segment_many(arrays, output=tmp_path / "out", jobs=1))
    assert statuses(again) == {"first": "done", "second/../..": "skipped"}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills processes")
def test_a_killed_process_loses_nothing(tmp_path):
    for k in range(4):
        save_features(tmp_path / "root" / f"{k}.npy", seed=k)
    with killing(tmp_path / "out" / "1.npy", times=1) as killed:
        records = list(segment_many(tmp_path / "root", output=tmp_path / "out", jobs=2))
    assert len(killed) == 1
    assert statuses(records) == {f"{k}.npy": "done" for k in range(4)}
    assert [p for p in (tmp_path / "out").rglob("*") if UNFINISHED.fullmatch(p.name)] == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills processes")
def test_a_process_that_is_killed_while_idle_is_replaced(tmp_path):
    for k in range(2):
        save_features(tmp_path / "root" / f"{k}.npy", seed=k)
    run = segment_many(tmp_path / "root", output=tmp_path / "out", jobs=1)
    with ThreadPoolExecutor() as threads:
        worker = threads.submit(wait_for_worker, tmp_path / "out" / "0.npy")
        first = next(run)
    os.kill(worker.result(), signal.SIGKILL)
    time.sleep(1.0)
    assert statuses([first, *run]) == {"0.npy": "done", "1.npy": "done"}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills processes")
def test_a_sequence_that_loses_its_process_twice_is_reported_and_the_rest_goes_on(tmp_path):
    for k in range(4):
        save_features(tmp_path / "root" / f"{k}.npy", seed=k)
    with killing(tmp_path / "out" / "1.npy", times=2) as killed:
        records = list(segment_many(tmp_path / "root", output=tmp_path / "out", jobs=2))
    assert len(killed) == 2
    assert statuses(records) == {
        "0.npy": "done",
        "1.npy": "failed",
        "2.npy": "done",
        "3.npy": "done",
    }
    failed = next(record for record in records if record.status == "failed")
    assert failed.message.startswith("its process was killed; it may need more memory")
    again = list(segment_many(tmp_path / "root", output=tmp_path / "out", jobs=1))
    assert statuses(again) == {
        "0.npy": "skipped",
        "1.npy": "done",
        "2.npy": "skipped",
        "3.npy": "skipped",
    }


def test_a_result_that_is_being_written_is_waited_for(finished, monkeypatch):
    from dayline.result_folder import output_folder

    waits = []
    with output_folder(finished.folder) as folder:
        import dayline.result_folder as module

        monkeypatch.setattr(module, "_held", set())  # as another process sees it
        monkeypatch.setattr("dayline.batch.task.WAIT_FOR_LOCK", 0.0)
        monkeypatch.setattr(time, "sleep", waits.append)
        record = run_task(finished)
        monkeypatch.undo()
        assert folder.is_dir()
    assert record.status == "failed"
    assert "another dayline run is writing there" in record.message


def test_an_unknown_number_of_jobs_is_an_error_before_any_work(tmp_path):
    save_features(tmp_path / "root" / "x.npy")
    with pytest.raises(ValueError, match="jobs=0; it must be a whole number of at least 1"):
        segment_many(tmp_path / "root", output=tmp_path / "out", jobs=0)
    assert not (tmp_path / "out").exists()


def test_a_renamed_photo_folder_keeps_its_corrections(tmp_path):
    root, out = tmp_path / "root", tmp_path / "out"
    make_day(root / "day 1")
    make_day(root / "day 2", day="20150313")
    make_day(root / "day 3", day="20150314")
    list(segment_many(root, output=out, settings=COLOR, jobs=1))
    for name in ("day 1", "day 2"):
        found = read_events(out / name / "events.json")
        first = replace(found.events[0], name=name)
        save_events(replace(found, events=(first, *found.events[1:])), out / name)
    (root / "day 2").rename(root / "trip")
    shutil.rmtree(root / "day 1")
    with pytest.warns(UserWarning, match="'day 1'") as told:
        list(segment_many(root, output=out, settings=COLOR, jobs=1))
    assert not any("'day 2'" in str(one.message) for one in told)
    assert read_events(out / "trip" / "events.json").events[0].name == "day 2"
