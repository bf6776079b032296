"""Saving through the server: what is written, what is kept, and what later runs make of it."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import warnings
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from filelock import FileLock

from dayline.album.page.page import events_mark, page_data
from dayline.album.save import page_is_current, renew_result, save_events
from dayline.album.segment import segment_source
from dayline.album.view import prepare
from dayline.album.write import faces_blurred, write_result
from dayline.events import Place, Segmentation, read_events
from dayline.result_folder import output_folder


def edited(place) -> Segmentation:
    """The first event named, and the second split."""
    found = read_events(place / "out" / "events.json")
    first, second, *others = found.events
    halves = (
        replace(second, stop=18),
        replace(second, start=18, reason="required", confidence=1.0, key_frame=20),
    )
    return replace(
        found,
        events=(replace(first, name="Breakfast"), *halves, *others),
        places=(Place(0, "kitchen"),),
    )


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_save_writes_the_events_and_keeps_the_previous_ones(place, view):
    out = place / "out"
    before, there = (out / "events.json").read_bytes(), files(out)
    os.utime(out / "events.json", (0, datetime(2026, 11, 17, 14, 2, 13).timestamp()))
    saved = edited(place)
    client = view(out)
    status, answer = client.post(
        saved.to_json(), Dayline_Base=page_data(out / "index.html")["base"]
    )
    told = json.loads(answer)
    assert status == 200
    assert read_events(out / "events.json") == saved
    assert told["history"] == "events-2026-11-17T14-02-13.json"
    assert (out / told["history"]).read_bytes() == before
    assert told["base"] == events_mark(saved)
    assert told["notes"] == []
    assert set(told["renewed"]) == {
        "index.html", "events.csv", "chapters.vtt", "youtube.txt", "photos",
    }  # fmt: skip
    extra = {name for name in files(out) - there if not name.startswith("photos/")}
    assert extra == {told["history"], "corrections.json"}


def test_a_save_renews_the_page_and_what_was_exported(place, view):
    out = place / "out"
    data = page_data(out / "index.html")
    saved = edited(place)
    view(out).post(saved.to_json())
    now = page_data(out / "index.html")
    assert Segmentation.from_json(json.dumps(now["segmentation"])) == saved
    changed = {"segmentation": 0, "base": 0, "addresses": 0}
    assert now | changed == data | changed
    # The event that was split keeps its address for its first part.
    before, after = data["addresses"]["events"], now["addresses"]["events"]
    assert len(after) == len(saved.events)
    assert [address for address in after if address in before] == before
    assert page_is_current(out)
    assert "Breakfast" in (out / "events.csv").read_text()
    assert "Breakfast" in (out / "chapters.vtt").read_text()
    assert [path.name for path in sorted((out / "photos").iterdir())][1].endswith("Breakfast")
    assert (out / "graph.png").is_file()


def test_the_next_run_takes_a_save_as_corrections(place, view):
    out, saved = place / "out", edited(place)
    view(out).post(saved.to_json())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = segment_source(place / "photos", model="color", store=out, corrections="kept")
        write_result(found, out)
    again = read_events(out / "events.json")
    assert again.boundaries == saved.boundaries == (12, 18, 26)
    assert [event.name for event in again.events] == ["Breakfast", None, None, None]
    assert [event.reason for event in again.events] == [event.reason for event in saved.events]


def test_numbers_as_a_browser_writes_them_make_no_difference(place, view):
    text = edited(place).to_json()
    assert re.search(r"\d\.0\b", text)
    base = page_data(place / "out" / "index.html")["base"]
    assert view(place / "out").post(re.sub(r"(\d)\.0\b", r"\1", text), Dayline_Base=base)[0] == 200


def test_only_events_and_places_are_taken_from_a_save(place, view):
    out, before = place / "out", read_events(place / "out" / "events.json")
    forged = edited(place).about(notes=("<script>",), method="mine", skipped=())
    assert view(out).post(forged.to_json())[0] == 200
    saved = read_events(out / "events.json")
    assert (saved.notes, saved.method, saved.skipped) == (
        before.notes,
        before.method,
        before.skipped,
    )


def test_a_save_of_events_that_changed_meanwhile_is_refused(place, view):
    out = place / "out"
    base = page_data(out / "index.html")["base"]
    first, second, saved = view(out), view(out), edited(place).to_json()
    assert first.post(saved, Dayline_Base=base)[0] == 200
    content = (out / "events.json").read_bytes()
    status, answer = second.post(saved.replace("Breakfast", "Tea"), Dayline_Base=base)
    assert status == 409
    assert "has changed since this page was opened; reload the page" in json.loads(answer)["error"]
    assert (out / "events.json").read_bytes() == content


def test_a_save_while_a_run_writes_is_refused_and_says_so(place, view):
    out = place / "out"
    before = (out / "events.json").read_bytes()
    client = view(out)
    with output_folder(out):
        status, answer = client.post(edited(place).to_json())
    assert status == 423
    assert "another dayline run is writing there (process " in json.loads(answer)["error"]
    assert (out / "events.json").read_bytes() == before
    assert client.post(edited(place).to_json())[0] == 200


def test_a_disk_that_is_full_when_a_save_takes_the_lock_is_told(place, view, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    out = place / "out"
    client = view(out)
    before = (out / "events.json").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(FileLock, "acquire", full)
        status, answer = client.post(edited(place).to_json())
        assert status == 507
        assert json.loads(answer)["error"].endswith(
            "out: cannot be used as output folder: No space left on device"
        )
    assert (out / "events.json").read_bytes() == before
    assert client.post(edited(place).to_json())[0] == 200


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        (b"", 422, "not JSON"),
        (b"\xff", 422, "not text"),
        (b"[" * 100_000, 422, "not JSON"),
        (b'{"format": "other"}', 422, "not an events file"),
        (b'{"format": "dayline-events", "version": 1, "events": []}', 422, "missing or invalid"),
        (
            b'{"format": "dayline-events", "version": 1, "events": [{"start": 0, "stop": 5}]}',
            422,
            "other frames",
        ),
        (b" " * (6 * 2**20), 413, "larger than"),
    ],
)
def test_what_is_not_a_save_of_these_frames_is_refused(place, view, body, status, why):
    before = (place / "out" / "events.json").read_bytes()
    answered, answer = view(place / "out").post(body)
    assert (answered, why in json.loads(answer)["error"]) == (status, True), answer
    assert (place / "out" / "events.json").read_bytes() == before
    assert not (place / "out" / "corrections.json").exists()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content_Length": "x"}, 411),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Length": "9" * 30}, 413),
        ({"Transfer_Encoding": "chunked"}, 411),
        ({"Content_Type": "text/plain"}, 415),
    ],
)
def test_odd_requests_to_save_are_refused(place, view, headers, status):
    assert view(place / "out").post(b"{}", **headers)[0] == status


@pytest.mark.parametrize(
    "path",
    [
        "index.html",
        "",
        "features.npz",
        "corrections.json",
        "../out/events.json",
        "photos/events.json",
    ],
)
def test_nothing_but_the_events_can_be_written(place, view, path):
    before = files(place)
    assert view(place / "out").post(edited(place).to_json(), path)[0] == 404
    assert files(place) == before


def test_exports_that_need_photos_are_told_if_these_are_gone_and_the_others_go_on(place, view):
    (place / "photos").rename(place / "elsewhere")
    saved = edited(place).to_json()
    told = json.loads(view(place / "out").post(saved)[1])
    assert "chapters.vtt" in told["renewed"]
    assert told["notes"] == [
        "photos still shows the previous events: its source was not found; pass it with --source"
    ]
    told = json.loads(
        view(place / "out", source=place / "elsewhere").post(saved, "out/events.json")[1]
    )
    assert told["notes"] == []
    assert "photos" in told["renewed"]


def test_an_export_that_fails_or_was_changed_by_hand_does_not_stop_the_others(place, view):
    (place / "out" / "chapters.vtt").write_text("mine")
    (place / "out" / "photos" / "my own.txt").touch()
    told = json.loads(view(place / "out").post(edited(place).to_json())[1])
    assert (place / "out" / "chapters.vtt").read_text() == "mine"
    assert "chapters.vtt was changed by hand and is left as it is" in told["notes"]
    assert {"youtube.txt", "index.html"} <= set(told["renewed"])


@pytest.mark.parametrize("thumbnails", [True, False])
def test_a_save_keeps_faces_blurred(place, view, monkeypatch, thumbnails):
    for module in ("album.pictures", "album.write"):
        monkeypatch.setattr(f"dayline.{module}.face_blurrer", lambda: np.zeros_like)
    out = place / "out"
    shutil.rmtree(out)
    result = segment_source(place / "photos", model="color")
    write_result(result, out, blur_faces=True, thumbnails=thumbnails)
    assert ("Faces were blurred" in (out / "index.html").read_text()) == thumbnails
    assert view(out).post(edited(place).to_json())[0] == 200
    assert ("Faces were blurred" in (out / "index.html").read_text()) == thumbnails
    assert faces_blurred(out)


def test_a_second_save_keeps_a_second_copy(place, view):
    client, saved = view(place / "out"), edited(place).to_json()
    for name in ("Tea", "Lunch", "Lunch"):
        assert client.post(saved.replace("Breakfast", name))[0] == 200
    assert len(list((place / "out").glob("events-*.json"))) == 2
    assert list((place / "out").glob("corrections-*.json")) == []


def test_edits_of_photos_that_are_away_outlive_a_save(place):
    out = place / "out"
    save_events(edited(place), out)
    away = sorted((place / "photos").iterdir())[:12]
    for photo in away:
        photo.rename(place / photo.name)
    with pytest.warns(UserWarning, match="^'Breakfast': none of the 12"):
        result = segment_source(place / "photos", model="color", store=out)
    write_result(result, out)
    save_events(read_events(out / "events.json").about(places=()), out)
    for photo in away:
        (place / photo.name).rename(photo)
    again = segment_source(place / "photos", model="color", store=out).segmentation
    assert again.events[0].name == "Breakfast"


def test_a_page_is_renewed_from_events_that_a_person_put_there(place):
    (place / "out" / "events.json").write_text(edited(place).to_json().replace("  ", " "))
    assert not page_is_current(place / "out")
    with pytest.warns(UserWarning, match=r"events\.json is not the file that dayline wrote"):
        ((folder, renewed),) = prepare(place / "out")
    assert folder == place / "out"
    assert "chapters.vtt" in renewed.renewed
    assert page_is_current(place / "out")
    assert list(prepare(place / "out")) == []
    found = segment_source(place / "photos", model="color", store=place / "out", corrections="kept")
    assert found.segmentation.events[0].name == "Breakfast"


def test_a_page_of_other_frames_is_named_and_left(place):
    (place / "out" / "events.json").write_text(Segmentation.from_boundaries((2,), 5).to_json())
    before = (place / "out" / "index.html").read_bytes()
    renewed = renew_result(place / "out")
    assert any("run dayline segment again" in note for note in renewed.notes)
    assert (place / "out" / "index.html").read_bytes() == before
