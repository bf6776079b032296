from __future__ import annotations

import pytest

from dayline.frames import day_folders
from dayline.pipeline import segment_days, segment_source, write_result
from made_photos import make_day


def segment_day(day, folder):
    result = segment_source(day, model="color", store=folder)
    return result.segmentation, write_result(result, folder).pictures


def test_each_day_has_its_result_and_the_overview_leads_to_it(tmp_path):
    make_day(tmp_path / "trip" / "2015-03-12")
    make_day(tmp_path / "trip" / "2015-03-13 <i>", day="20150313")
    (tmp_path / "trip" / "2015-03-14").mkdir()
    (tmp_path / "trip" / "2015-03-14" / "a.jpg").touch()
    days = day_folders(tmp_path / "trip")
    results = segment_days(days, tmp_path / "out", segment_day=segment_day, title="A trip")
    assert [len(r.segmentation.events) if r.segmentation else r.why for r in results[:2]] == [3, 3]
    assert "more than half" in results[2].why
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert '<h1 dir="auto">A trip</h1>' in page
    assert "3 days · 6 events" in page
    assert 'href="2015-03-12/index.html">Thursday 12 March 2015</a>' in page
    assert 'href="2015-03-13%20%3Ci%3E/index.html">Friday 13 March 2015</a>' in page
    assert "2015-03-13 &lt;i&gt;" in page
    assert "<i>" not in page
    assert page.count("<img ") == 6
    assert "Left out: 1 of 1 frames cannot be read" in page
    assert str(tmp_path) not in page
    assert (tmp_path / "out" / "2015-03-13 <i>" / "index.html").is_file()


def test_days_of_which_none_can_be_used_are_an_error(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.jpg").touch()
    days = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(ValueError, match=r"none of 2 days could be used; the first: .*more than half"):
        segment_days(days, tmp_path / "out", segment_day=segment_day, title="none")
