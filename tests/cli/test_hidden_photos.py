"""Nothing of hidden photos is in any file but those of the album's own pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cli.run_command import run, segmented
from dayline.album.save import save_events
from dayline.events import Segmentation, read_events
from made_photos import make_day, save, scene
from made_secrets import FILE, NAME, PLACE, hide, make_trip, traces, traces_below

pytestmark = pytest.mark.filterwarnings("ignore:.* is kept as:UserWarning")

FORMATS = ("csv", "webvtt", "ffmetadata", "edl", "otio", "ics", "xmp", "photos", "story")
OWN = ("events.json", "index.html", "thumbnails", "corrections.json", "features.npz",
       ".dayline-files.json", ".dayline-day.json", "places.json", "events.npz")  # fmt: skip
"""Files of the album, in the folder of a day, which nobody is to send."""


@pytest.fixture(scope="module")
def trip(tmp_path_factory) -> tuple[Path, Segmentation]:
    """The photos and, beside them, their album after a person hid some and ran it again."""
    place = tmp_path_factory.mktemp("hidden")
    make_trip(place / "trip")
    segmented(place / "trip", "-o", place / "out")
    hidden = hide(place / "out" / "2015-03-12")
    segmented(place / "trip", "-o", place / "out")
    return place, hidden


def test_the_search_finds_what_it_looks_for(trip):
    place, hidden = trip
    found = {one.partition(" ")[0] for one in traces_below(place, hidden)}
    assert {f"trip/2015-03-12/{FILE}-04.jpg:", "out/2015-03-12/events.json:"} <= found
    photo = (place / "trip" / "2015-03-12" / f"{FILE}-04.jpg").read_bytes()
    assert set(traces(photo, hidden)) == {"picture", "exif"}
    page = (place / "out" / "2015-03-12" / "index.html").read_bytes()
    assert {NAME, PLACE, f"digest {hidden.digests[4]}"} <= set(traces(page, hidden))
    own = "out/2015-03-12/thumbnails/"
    assert sum(one.startswith(own) and one.endswith("picture") for one in traces_below(place, hidden)) == 11  # fmt: skip


def test_hidden_photos_are_found_again_and_in_no_file_but_the_album_s_own(trip):
    place, hidden = trip
    again = read_events(place / "out" / "2015-03-12" / "events.json")
    assert again.hidden == hidden.hidden == (4, *range(10, 20))
    red = again.events[0]
    assert red.location == pytest.approx((38.7169, -9.1399), abs=1e-4)
    assert red.key_frame != 4
    day = place / "out" / "2015-03-12"
    dated = tuple(path.name for path in day.glob("events-*.json"))
    assert traces_below(day, hidden, but=(*OWN, *dated)) == []
    overview = (place / "out" / "index.html").read_bytes()
    assert traces(overview, hidden) == []
    assert b"photo-05.jpg" in overview
    digests = {p.name for p in (place / "out" / "2015-03-12" / "thumbnails").iterdir()}
    shown = {name for name in digests if name.encode() in overview}
    folder = place / "out" / "2015-03-12" / "thumbnails"
    assert shown
    assert all(traces((folder / name).read_bytes(), hidden) == [] for name in shown)


def test_the_terminal_counts_only_what_is_shown(trip, tmp_path):
    """Eleven photos are hidden, among them a whole event."""
    place, hidden = trip
    events, photos = len(hidden.events) - 1, hidden.n_frames - 11
    album = segmented(place / "trip", "-o", place / "out").stdout
    assert f"2015-03-12: {events} events in {photos} photos" in album
    source, out = place / "trip" / "2015-03-12", tmp_path / "out"
    segmented(source, "-o", out)
    hide(out)
    alone = segmented(source, "-o", out).stdout
    assert f"{events} events in {photos} frames" in alone
    assert NAME not in alone


def test_exports_say_nothing_of_them(trip, tmp_path):
    place, hidden = trip
    day = place / "out" / "2015-03-12"
    formats = [word for name in FORMATS for word in ("--format", name)]
    done = run(
        "export", day, *formats, "--source", place / "trip" / "2015-03-12", "-o", tmp_path / "x"
    )
    assert done.returncode == 0, done.stderr
    written = {path.name for path in (tmp_path / "x").iterdir()}
    assert len(written - {".dayline", ".dayline-files.json"}) == len(FORMATS)
    # Sorted photos are the photos themselves, with their tags.
    found = [one for one in traces_below(tmp_path / "x", hidden) if not one.endswith(": exif")]
    assert found == []
    assert len(list((tmp_path / "x" / "photos").rglob("*.jpg"))) == 19
    assert len(list((tmp_path / "x" / "xmp").rglob("*.xmp"))) == 19


def test_a_save_takes_them_out_of_exports_that_are_there(tmp_path):
    make_trip(tmp_path / "trip")
    photos, out = tmp_path / "trip" / "2015-03-12", tmp_path / "out"
    segmented(photos, "-o", out, "--export", "ics", "--export", "photos", "--export", "xmp",
              "--export", "story")  # fmt: skip
    assert "picture" in traces((out / "story.html").read_bytes(), read_events(out / "events.json"))
    shown = [p.name for p in (out / "photos").rglob("*.jpg")]
    assert sum(FILE in name for name in shown) == 11
    before = read_events(out / "events.json")
    hidden = hide(out)
    (out / "events.json").write_text(before.to_json(), encoding="utf-8")
    save_events(hidden, out, source=photos)
    assert sorted(p.name for p in (out / "photos").rglob("*.jpg")) == sorted(
        name for name in shown if FILE not in name
    )
    assert len(list((out / "xmp").rglob("*.xmp"))) == 19
    assert traces((out / "story.html").read_bytes(), hidden) == []
    dated = tuple(path.name for path in out.glob("events-*.json"))
    left = traces_below(out, hidden, but=(*OWN, *dated, "photos"))
    # Until the next run, the location of an event with a hidden photo is that of all its photos.
    assert [one for one in left if "64." not in one and "21." not in one] == []


def test_hidden_photos_that_are_renamed_and_moved_to_another_day_stay_hidden(trip, tmp_path):
    place, _ = trip
    segmented(place / "trip", "-o", tmp_path / "out")
    hide(tmp_path / "out" / "2015-03-12")
    make_trip(tmp_path / "trip")
    for k, path in enumerate(sorted((tmp_path / "trip" / "2015-03-12").glob(f"{FILE}*"))):
        path.rename(tmp_path / "trip" / "2015-03-13" / f"renamed-{k}.jpg")
    segmented(tmp_path / "trip", "-o", tmp_path / "out", "--by-folder")
    moved = read_events(tmp_path / "out" / "2015-03-13" / "events.json")
    names = [moved.names[k] for k in moved.hidden]
    assert len(names) == 11
    assert all("renamed" in name for name in names)
    assert read_events(tmp_path / "out" / "2015-03-12" / "events.json").hidden == ()


def test_photos_that_are_added_to_a_hidden_event_are_hidden_and_others_are_not(tmp_path):
    make_day(tmp_path / "in", (("red", 12), ("green", 14)), pause_before=1)
    segmented(tmp_path / "in", "-o", tmp_path / "out")
    events = tmp_path / "out" / "events.json"
    found = read_events(events)
    green = found.events[1]
    assert (green.start, green.stop) == (12, 26)
    edited = replace(found, hidden=(3, *range(12, 26)))  # the green event, and one red photo
    events.write_text(edited.to_json(), encoding="utf-8")

    # One photo between the green ones, one between the red ones.
    for beside, colour in ((20, "green"), (3, "red")):
        name = Path((found.names or ())[beside])
        save(scene(colour, 900), tmp_path / "in" / f"{name.stem}_1.png")
    done = segmented(tmp_path / "in", "-o", tmp_path / "out")
    again = read_events(events)
    assert again.n_frames == 28
    added = [k for k, name in enumerate(again.names or ()) if name.endswith("_1.png")]
    assert [k in again.hidden for k in added] == [False, True]
    assert len(again.hidden) == 16
    assert "1 photo added to an event that you hid: hidden, too" in done.stdout

    # Shown again by a person, it stays shown.
    shown = tuple(k for k in again.hidden if k != added[1])
    events.write_text(replace(again, hidden=shown).to_json(), encoding="utf-8")
    segmented(tmp_path / "in", "-o", tmp_path / "out")
    assert read_events(events).hidden == shown


def test_an_export_of_hidden_photos_only_says_so(trip, tmp_path):
    place, _ = trip
    day = place / "out" / "2015-03-13"
    found = read_events(day / "events.json")
    file = tmp_path / "events.json"
    file.write_text(found.about(hidden=tuple(range(found.n_frames))).to_json(), encoding="utf-8")
    done = run("export", file, "--format", "ics")
    assert done.returncode == 2
    assert "all photos are hidden" in done.stderr


def test_frames_of_a_film_cannot_be_hidden():
    with pytest.raises(ValueError, match="frames of a film cannot be hidden"):
        Segmentation.from_boundaries([], 3, clock="media", hidden=(1,))


def test_a_folder_whose_photos_are_all_hidden_is_segmented_again(tmp_path):
    make_day(tmp_path / "walk")
    assert run("segment", "walk", "-o", "out", "--model", "color", cwd=tmp_path).returncode == 0
    result = read_events(tmp_path / "out" / "events.json")
    hidden = replace(result, hidden=tuple(range(result.n_frames)))
    (tmp_path / "out" / "events.json").write_text(hidden.to_json(), encoding="utf-8")
    again = run("segment", "walk", "-o", "out", "--model", "color", cwd=tmp_path)
    assert (again.returncode, again.stdout.splitlines()[0]) == (0, "all photos are hidden")
