from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dayline.album.page.page import write_page
from dayline.album.page.template import bundle, modules
from dayline.events import Segmentation, SkippedFile
from made_photos import write_pictures

PAGE = Path(__file__).parents[3] / "src" / "dayline" / "album" / "page"
NASTY = '</script><img src=x onerror="window.caught=1">&\u2028\u202e"\''


def embedded(html: str) -> dict:
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1]
    )


def test_the_page_carries_the_segmentation_as_it_is(tmp_path, day):
    path = write_page(day, tmp_path / "new" / "folder")
    data = embedded(path.read_text(encoding="utf-8"))
    assert path == tmp_path / "new" / "folder" / "index.html"
    assert Segmentation.from_json(json.dumps(data["segmentation"])) == day
    assert data["pictures"] is None


def test_nasty_names_cannot_leave_the_data_block(tmp_path, day):
    events = (replace(day.events[0], name=NASTY), *day.events[1:])
    nasty = replace(
        day,
        events=events,
        names=(NASTY,) * 60,
        source=NASTY,
        method=NASTY,
        notes=(NASTY,),
        skipped=(SkippedFile(NASTY, NASTY),),
    )
    html = write_page(nasty, tmp_path).read_text(encoding="utf-8")
    assert "<img" not in html.replace("&lt;img", "")
    assert html.count("</script>") == 2
    assert "\u2028" not in html.split('id="data">')[1].split("</script>")[0]
    assert embedded(html)["segmentation"]["names"][3] == NASTY


def test_names_of_broken_utf8_survive_in_the_data(tmp_path, day):
    broken = "caf\udce9.jpg"
    html = write_page(replace(day, names=(broken,) * 60, source=broken), tmp_path).read_text(
        encoding="utf-8"
    )
    assert embedded(html)["segmentation"]["names"][0] == broken
    assert "<h1" in html


def test_the_policy_admits_the_pages_own_script_and_style_only(tmp_path, day):
    html = write_page(day, tmp_path).read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    policy = policy.replace("&#39;", "'")
    for tag in ("script", "style"):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_scripts_put_text_in_as_text_only():
    for path in PAGE.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text
        ), path.name


@pytest.mark.parametrize(
    ("times", "heading", "overline"),
    [
        ([1426147200.0, 1426150800.0], "Thursday 12 March 2015", "my day"),
        ([1426147200.0, 1426233600.0], "12–13 March 2015", "my day"),
        ([1426147200.0, 1428739200.0], "12 March – 11 April 2015", "my day"),
        ([32400.0, 36000.0], "my day", None),
        ([-86400.0, 36000.0], "31 December 1969 – 1 January 1970", "my day"),
    ],
)
def test_a_day_goes_by_its_date_if_the_clock_knows_it(tmp_path, times, heading, overline):
    short = Segmentation.from_boundaries([1], 2, times=tuple(times), clock="wall", source="my day")
    html = write_page(short, tmp_path).read_text(encoding="utf-8")
    assert f'<h1 dir="auto">{heading}</h1>' in html
    assert re.findall(r'class="overline" dir="auto">([^<]*)<', html) == (
        [overline] if overline else []
    )


def test_a_page_without_pictures_leaves_none_of_an_earlier_run_behind(tmp_path, day):
    pictures = write_pictures([(0, np.full((20, 20, 3), 90, np.uint8))], tmp_path)
    write_page(day, tmp_path, thumbnails=pictures, graph=np.ones((60, 60)))
    (tmp_path / "thumbnails" / "holiday.jpg").write_bytes(b"somebody's own")
    write_page(day, tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"index.html", "thumbnails/holiday.jpg"}


def test_the_page_knows_width_by_height_of_every_picture(tmp_path, day):
    pictures = write_pictures([(3, np.full((20, 40, 3), 90, np.uint8))], tmp_path)
    html = write_page(day, tmp_path, thumbnails=pictures).read_text(encoding="utf-8")
    assert embedded(html)["pictures"][2:5] == [None, "thumbnails/00000000000000000003.jpg", None]
    assert embedded(html)["ratios"][2:5] == [None, 2.0, None]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": (0.5, float("nan"), *[0.1] * 58)}, "frame 1 has no finite value in scores"),
        ({"times": (*[0.5] * 59, float("inf"))}, "frame 59 has no finite value in times"),
        ({"times": (*[0.5] * 58, 1e14, 1e14)}, "time of frame 58 lies outside the years"),
    ],
)
def test_values_no_page_can_show_are_refused(tmp_path, day, change, message):
    with pytest.raises(ValueError, match=message):
        write_page(replace(day, **change), tmp_path)


def test_a_failed_update_leaves_the_old_page(tmp_path, day, monkeypatch):
    before = write_page(day, tmp_path).read_bytes()

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_page(replace(day, source="another"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    assert (tmp_path / "index.html").read_bytes() == before


def test_every_script_is_in_a_page():
    used = set().union(*(modules(entry) for entry in ("page", "overview", "sequences", "share")))
    assert used == {path.stem for path in PAGE.glob("*.js")}


@pytest.mark.parametrize("entry", ["page", "overview", "sequences", "share"])
def test_modules_import_what_others_export_under_names_of_their_own(entry):
    declared = r"^%s(?:async )?(?:function|const|let) ([\[{][^\]}]*[\]}]|\w+)"
    words = re.compile(r"\w+")
    texts = modules(entry)
    exported = {
        module: set(words.findall(" ".join(re.findall(declared % "export ", text, re.M))))
        for module, text in texts.items()
    }
    for text in texts.values():
        for names, module in re.findall(r'^import \{([^}]*)\} from "\./(.*?)\.js";', text, re.M):
            assert set(words.findall(names)) <= exported[module]

    # They share one scope, in which a second function would silently replace the first.
    everything = "\n".join(texts.values())
    found = words.findall(" ".join(re.findall(declared % "(?:export )?", everything, re.M)))
    assert sorted(found) == sorted(set(found))
    assert not re.search(r"^(import|export)\b", bundle(entry), re.M)
