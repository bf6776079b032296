from __future__ import annotations

import gzip
import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from dayline.album import where
from dayline.album.segment import segment_source
from dayline.album.where import find_towns, towns_near
from made_locations import photo_at

# Importing it would raise the field limit of csv for all tests.
pytestmark = pytest.mark.skipif(
    find_spec("reverse_geocode") is None, reason="reverse_geocode is not installed"
)

ALFAMA, BELEM, ALMADA = (38.7115, -9.1300), (38.6916, -9.2160), (38.68, -9.16)
SINTRA, SEVILLE, FAR_OUT = (38.7876, -9.3906), (37.3861, -5.9926), (35.0, -40.0)


def test_a_city_wins_over_its_quarters_but_not_over_the_town_across_the_river():
    towns = find_towns([ALFAMA, BELEM, ALMADA, SINTRA, SEVILLE])
    assert [None if town is None else (town.name, town.country) for town in towns] == [
        ("Lisbon", "Portugal"),
        ("Lisbon", "Portugal"),
        ("Almada", "Portugal"),
        ("Sintra", "Portugal"),
        ("Sevilla", "Spain"),
    ]


def test_nothing_is_named_in_the_middle_of_the_sea_and_the_date_line_is_no_seam():
    assert find_towns([FAR_OUT]) == [None]
    # Suva is at 178.4 degrees east; the Fijian islands go on beyond 180.
    (town,) = find_towns([(-16.80, 180.0 - 1e-9)])
    (same,) = find_towns([(-16.80, -180.0 + 1e-9)])
    assert town == same


def test_towns_near_come_by_size():
    near = towns_near(ALFAMA, 10.0)
    assert near[0].name == "Lisbon"
    assert [t.population for t in near] == sorted((t.population for t in near), reverse=True)


def holiday_morning(folder):
    for k in range(20):
        photo_at(folder / f"{k:02d}.jpg", 30 * k + 900 * (k >= 10), ALFAMA if k < 10 else SINTRA)


def test_events_have_the_town_of_their_location(tmp_path):
    holiday_morning(tmp_path)
    found = segment_source(tmp_path, model="color").segmentation
    assert [(e.town, e.country) for e in found.events] == [
        ("Lisbon", "Portugal"),
        ("Sintra", "Portugal"),
    ]
    assert [row["town"] for row in found.to_dicts()] == ["Lisbon", "Sintra"]


def test_without_the_gazetteer_a_note_says_how_to_get_names(tmp_path, monkeypatch):
    holiday_morning(tmp_path)
    where._gazetteer.cache_clear()
    monkeypatch.setattr(where, "PACKAGE", "no_such_package")
    found = segment_source(tmp_path, model="color").segmentation
    where._gazetteer.cache_clear()
    assert [e.town for e in found.events] == [None, None]
    assert [note for note in found.notes if 'pip install "dayline[where]"' in note] != []


@pytest.mark.parametrize(
    "content", [b"not gzip", gzip.compress(json.dumps([{}]).encode())], ids=["bytes", "towns"]
)
def test_a_damaged_gazetteer_is_one_line(tmp_path, monkeypatch, content):
    (tmp_path / "broken_towns").mkdir()
    (tmp_path / "broken_towns" / "__init__.py").touch()
    (tmp_path / "broken_towns" / "countries.csv").touch()
    (tmp_path / "broken_towns" / "geocode.gz").write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(where, "PACKAGE", "broken_towns")
    where._gazetteer.cache_clear()
    with pytest.raises(ValueError, match="reinstall it"):
        find_towns([ALFAMA])
    where._gazetteer.cache_clear()


def test_the_package_of_the_towns_is_not_imported():
    code = (
        "import sys; from dayline.album.where import find_towns; print(find_towns([(38.7, -9.1)]));"
        " assert 'reverse_geocode' not in sys.modules and 'urllib.request' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Lisbon" in done.stdout
