"""A name given on the page of one day is shown on the others, and in batches."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cli.run_command import contents, run, segmented
from dayline.album.places import EVENT_FEATURES
from dayline.album.save import save_events
from dayline.events import Place, Segmentation, read_events
from made_photos import make_day

# Dayline keeps a copy of every file that a person saved or changed, and says so.
pytestmark = pytest.mark.filterwarnings("ignore:.* is kept as:UserWarning")

DAYS = {
    "2015-03-12": (("red", 10), ("green", 10), ("red", 10)),
    "2015-03-13": (("blue", 10), ("red", 12)),
    "2015-03-14": (("green", 10), ("sand", 10), ("green", 10)),
}


@pytest.fixture
def trip(tmp_path) -> Path:
    for name, scenes in DAYS.items():
        make_day(tmp_path / "trip" / name, scenes, day=name.replace("-", ""))
    return tmp_path / "trip"


def events(folder: Path) -> Segmentation:
    return read_events(folder / "events.json")


def labels(folder: Path) -> list[str | None]:
    found = events(folder)
    names = {place.community: place.name for place in found.places}
    return [names.get(event.community) for event in found.events]


def name_context(folder: Path, number: int, name: str | None) -> None:
    """Save what the page saves after a person named the context of an event."""
    found = events(folder)
    community = found.events[number].community
    others = tuple(place for place in found.places if place.community != community)
    identity = next((place.id for place in found.places if place.community == community), None)
    (folder / "events.json").write_text(
        replace(found, places=(*others, Place(community, name, identity))).to_json()
    )


def on_page(folder: Path) -> list[str | None]:
    text = (folder / "index.html").read_text(encoding="utf-8")
    data = json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0])
    return [place["name"] for place in data["segmentation"]["places"]]


@pytest.fixture
def out(trip, tmp_path) -> Path:
    """The results of all days."""
    segmented(trip, "-o", tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def named(trip, out) -> Path:
    """The results after a person named the context of the first event."""
    name_context(out / "2015-03-12", 0, "kitchen")
    segmented(trip, "-o", out)
    return out


def test_naming_once_names_all_days_on_page_table_and_exports(trip, tmp_path):
    out = tmp_path / "out"
    segmented(trip, "-o", out, "--export", "webvtt")
    assert labels(out / "2015-03-12") == [None, None, None]
    name_context(out / "2015-03-12", 0, "kitchen")
    segmented(trip, "-o", out)
    assert labels(out / "2015-03-12") == ["kitchen", None, "kitchen"]
    assert labels(out / "2015-03-13") == [None, "kitchen"]
    assert labels(out / "2015-03-14") == [None, None, None]
    assert "kitchen" in on_page(out / "2015-03-13")
    assert "\n2,kitchen,kitchen," in (out / "2015-03-13" / "events.csv").read_text()
    assert "kitchen" in (out / "index.html").read_text()


def test_a_second_run_changes_nothing(trip, named):
    before = contents(named)
    segmented(trip, "-o", named)
    assert contents(named) == before


def test_another_name_on_another_day_is_another_place(trip, named):
    name_context(named / "2015-03-13", 1, "barn")
    segmented(trip, "-o", named)
    assert labels(named / "2015-03-12") == ["kitchen", None, "kitchen"]
    assert labels(named / "2015-03-13") == [None, "barn"]


def test_a_new_name_where_the_old_one_was_given_renames_the_place(trip, out):
    for name in ("kitchn", "kitchen"):
        name_context(out / "2015-03-12", 0, name)
        segmented(trip, "-o", out)
    assert labels(out / "2015-03-13") == [None, "kitchen"]
    name_context(out / "2015-03-12", 0, None)
    segmented(trip, "-o", out)
    assert labels(out / "2015-03-13") == [None, None]


def test_a_save_keeps_the_names_that_were_given_while_two_events_were_merged(trip, out):
    folder = out / "2015-03-12"
    found = events(folder)
    red, green, _ = found.events
    rest = replace(green, stop=found.n_frames, community=9)  # "this event only"
    named = (Place(red.community, "kitchen"), Place(9, "garden"))
    saved = save_events(replace(found, events=(red, rest), places=named), folder)
    assert labels(folder) == ["kitchen", "garden"]
    assert on_page(folder) == ["kitchen", "garden"]
    assert [place.name for place in saved.segmentation.places] == ["kitchen", "garden"]
    assert labels(out / "2015-03-13") == [None, "kitchen"]

    renamed = (Place(red.community, None), Place(9, "yard"))
    save_events(replace(events(folder), places=renamed), folder)
    assert labels(folder) == [None, "yard"]
    assert labels(out / "2015-03-13") == [None, None]


def test_a_name_changed_in_the_file_of_places_reaches_all_days(trip, named):
    text = (named / "places.json").read_text()
    (named / "places.json").write_text(text.replace('"name": "kitchen"', '"name": "K\\u00fcche"'))
    segmented(trip, "-o", named)
    segmented(trip, "-o", named)
    assert labels(named / "2015-03-12") == ["K\u00fcche", None, "K\u00fcche"]
    assert labels(named / "2015-03-13") == [None, "K\u00fcche"]


def test_a_day_alone_uses_the_places_of_its_neighbors(trip, out):
    name_context(out / "2015-03-12", 1, "garden")
    segmented(trip, "-o", out)
    done = segmented(trip / "2015-03-14", "-o", out / "2015-03-14")
    assert labels(out / "2015-03-14") == ["garden", None, "garden"]
    assert "garden" in done.stdout


def test_a_file_of_places_is_used_by_single_days_wherever_they_are(trip, tmp_path):
    places = tmp_path / "mine.json"
    segmented(trip / "2015-03-12", "-o", tmp_path / "a", "--places", places)
    name_context(tmp_path / "a", 0, "kitchen")
    segmented(trip / "2015-03-12", "-o", tmp_path / "a", "--places", places)
    segmented(trip / "2015-03-13", "-o", tmp_path / "b", "--places", places)
    assert labels(tmp_path / "b") == [None, "kitchen"]
    segmented(trip / "2015-03-13", "-o", tmp_path / "c")
    assert labels(tmp_path / "c") == [None, None]


@pytest.mark.parametrize("command", ["segment", "batch"])
def test_a_damaged_file_of_places_is_refused_before_any_work(trip, tmp_path, command):
    (tmp_path / "mine.json").write_text("no JSON")
    done = run(command, trip, "-o", tmp_path / "out", "--places", tmp_path / "mine.json")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"dayline: {tmp_path / 'mine.json'}: not JSON")
    assert (tmp_path / "mine.json").read_text() == "no JSON"
    assert not (tmp_path / "out").exists()


def test_pages_reveal_no_features(out):
    stored = json.loads((out / "2015-03-12" / EVENT_FEATURES).read_text())
    for row in stored["events"]:
        for page in out.rglob("*.html"):
            assert row.split()[1][:40] not in page.read_text()


@pytest.mark.slow
def test_a_batch_matches_places_and_skips_what_is_finished(trip, tmp_path):
    out = tmp_path / "out"
    command = ("batch", trip, "-o", out, "--jobs", 2, "--model", "color")
    assert run(*command).returncode == 0
    again = run(*command)
    assert "3 sequences: 3 skipped" in again.stdout
    name_context(out / "2015-03-12", 0, "kitchen")
    named = run(*command)
    assert "3 sequences: 1 done, 2 skipped" in named.stdout
    assert labels(out / "2015-03-13") == [None, "kitchen"]
    assert "3 sequences: 3 skipped" in run(*command).stdout
