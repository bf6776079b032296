from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pympi

from dayline.album.export.elan import write_elan


def test_pympi_reads_both_tiers_back(film, tmp_path, expected_chapters):
    eaf = pympi.Elan.Eaf(str(write_elan(film, tmp_path / "events.eaf")))
    expected = [(round(a * 1000), round(b * 1000), title) for a, b, title in expected_chapters]
    assert sorted(eaf.get_annotation_data_for_tier("events")) == expected
    assert sorted(eaf.get_annotation_data_for_tier("contexts")) == [
        (0, 20500, "A"),
        (41000, 61250, "A"),
    ]
    assert [media["RELATIVE_MEDIA_URL"] for media in eaf.media_descriptors] == ["./my%20film.mp4"]


def test_annotations_share_no_time_slot(film, tmp_path):
    eaf = pympi.Elan.Eaf(str(write_elan(film, tmp_path / "events.eaf")))
    used = [slot for tier in eaf.tiers.values() for a in tier[0].values() for slot in a[:2]]
    assert len(used) == 12
    assert len(set(used)) == 12


def test_time_slots_are_in_order_of_time(film, tmp_path):
    slots = ElementTree.parse(write_elan(film, tmp_path / "events.eaf")).iter("TIME_SLOT")
    values = [int(slot.get("TIME_VALUE")) for slot in slots]
    assert values == sorted(values)


def test_photos_have_no_media_file(film, tmp_path):
    eaf = pympi.Elan.Eaf(str(write_elan(replace(film, clock="wall"), tmp_path / "events.eaf")))
    assert eaf.media_descriptors == []
    assert eaf.get_full_time_interval() == (0, 82250)
