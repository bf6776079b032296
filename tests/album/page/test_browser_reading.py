"""The page in a browser: what is there to see, and how a person walks through it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dayline.album.page.page import write_page
from dayline.events import Segmentation, SkippedFile
from made_photos import write_pictures

NASTY = '</script><img src=x onerror="window.caught=1">&\u2028"\' \u202eשלום'


def test_opens_from_disk_without_a_complaint_and_asks_for_its_own_files_only(visit, day_folder):
    seen = visit(day_folder)
    seen.wait_until(
        "[...document.images].filter(i => i.complete && i.naturalWidth > 0).length > 20"
    )
    assert seen.complaints == []
    home = day_folder.as_uri() + "/"
    assert [url for url in seen.requests if not url.startswith(home)] == []
    assert any(url.endswith("thumbnails/00000000000000000002.jpg") for url in seen.requests)


def test_the_policy_stops_scripts_and_requests_that_are_not_the_pages_own(visit, day_folder):
    page = visit(day_folder).page
    reached = page.evaluate("""async () => {
          const stopped = [];
          addEventListener("securitypolicyviolation", (e) => stopped.push(e.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "window.caught = 1";
          const image = document.createElement("img");
          image.src = "http://127.0.0.1:9/x.png";
          document.body.append(script, image);
          await fetch("http://127.0.0.1:9/x").catch(() => null);
          await new Promise((done) => setTimeout(done, 50));
          return { caught: window.caught ?? null, stopped: stopped.sort() };
        }""")
    assert reached == {"caught": None, "stopped": ["connect-src", "img-src", "script-src-elem"]}


def test_rows_say_when_how_long_why_and_how_sure(visit, day_folder):
    seen = visit(day_folder)
    assert seen.page.locator("h1").inner_text() == "Thursday 12 March 2015"
    assert seen.spans() == ["09:00", "09:04", "09:10", "10:12"]
    assert seen.row(2).locator(".to").inner_text() == "– 09:22"
    assert seen.row(2).locator(".long").inner_text() == "12 min"
    assert seen.row(2).locator(".meta").inner_text().split("\n") == [
        "Event 3",
        "Place A",
        "Name",
        "25 photos",
        "After a pause, visual change, 70% confidence",
    ]
    assert seen.page.locator(".pause").all_inner_texts() == ["No photos for 51 min"]
    assert seen.page.locator("#summary").inner_text().split("\n") == [
        "09:00 – 10:19",
        "60 photos",
        "4 events",
        "1 place",
        "1 file left out",
    ]


def test_notes_left_out_files_and_graph_are_shown(visit, day_folder):
    seen = visit(day_folder)
    page = seen.page
    about = page.locator("#about").inner_text()
    assert "broken.jpg" in about
    assert "holds no image" in about
    assert "Ordered by EXIF time." in about
    assert not page.locator(".graph img").is_visible()
    page.locator(".graph summary").click()
    page.locator(".graph img").scroll_into_view_if_needed()
    seen.wait_until("document.querySelector('.graph img').naturalWidth === 60")


def test_events_of_one_context_share_their_colour_on_timeline_and_rows(visit, day_folder):
    page = visit(day_folder).page
    colour = "all => all.map(e => getComputedStyle(e).backgroundColor)"
    pieces = page.locator(".band .piece").evaluate_all(colour)
    assert pieces == page.locator(".event .rail").evaluate_all(colour)
    assert pieces[0] == pieces[2]
    assert len(set(pieces)) == 3
    assert page.locator(".curve polygon").count() == 2  # the pause parts the score's curve
    assert page.locator(".gap").count() == 1


def test_filtering_by_context_shows_its_events_only(visit, day_folder):
    seen = visit(day_folder)
    chips = seen.page.locator(".chip")
    assert chips.all_inner_texts() == ["Place A\n2 events · 16 min", "Seen once\n2 events · 13 min"]
    chips.nth(0).click()
    assert seen.names() == ["Event 1", "Event 3"]
    assert chips.nth(0).get_attribute("aria-pressed") == "true"
    assert seen.page.locator(".piece.dimmed").count() == 2
    chips.nth(1).click()
    assert len(seen.names()) == 4
    seen.page.click("#show-all-events")
    assert seen.page.locator(".piece.dimmed").count() == 0
    seen.row(0).locator(".tag").click()
    assert seen.names() == ["Event 1", "Event 3"]


def test_a_click_enlarges_and_keys_walk_through_the_day(visit, day_folder):
    seen = visit(day_folder)
    shown = seen.page.locator(".stage img")
    seen.row(1).locator(".thumb").nth(10).click()
    assert shown.get_attribute("src") == "thumbnails/00000000000000000018.jpg"
    for key, frame in [
        ("ArrowRight", 19),
        ("ArrowRight", 20),
        ("ArrowLeft", 19),
        ("ArrowDown", 20),
        ("ArrowDown", 45),
        ("ArrowUp", 20),
        ("End", 59),
        ("ArrowRight", 59),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("PageDown", 8),
    ]:
        seen.page.keyboard.press(key)
        assert shown.get_attribute("src") == f"thumbnails/{frame:020d}.jpg", key
    assert seen.page.locator(".viewer-title").inner_text() == "Morning"
    assert (
        seen.page.locator(".viewer-detail").inner_text()
        == "Thu 12 Mar, 09:04:00  ·  1 of 12  ·  008.jpg"
    )
    seen.page.keyboard.press("Escape")
    assert not seen.page.locator("#viewer").is_visible()
    # A dialog tells of its closing in a later task; only then does the focus move to the frame last
    # seen.
    seen.wait_until("document.activeElement.dataset.frame === '8'")
    assert seen.complaints == []


def test_the_timeline_is_walked_with_keys_and_enter_enlarges(visit, day_folder):
    page = visit(day_folder).page
    track = page.locator(".track")
    track.focus()
    for key in ("ArrowRight", "PageDown", "ArrowRight"):
        page.keyboard.press(key)
    assert track.get_attribute("aria-valuenow") == "9"
    assert track.get_attribute("aria-valuetext") == "09:04:30, Event 2"
    page.keyboard.press("Enter")
    assert page.locator(".stage img").get_attribute("src") == "thumbnails/00000000000000000009.jpg"


def test_pointing_at_the_timeline_previews_the_photo_there(visit, day_folder):
    page = visit(day_folder).page
    page.locator(".band .piece").last.scroll_into_view_if_needed()
    last = page.locator(".band .piece").last.bounding_box()
    page.mouse.move(last["x"] + last["width"] - 2, last["y"] + 5)
    assert (
        page.locator(".preview img").get_attribute("src") == "thumbnails/00000000000000000059.jpg"
    )
    assert "10:19:30" in page.locator(".preview").inner_text()


def test_tab_stops_once_per_row_of_pictures_and_arrows_walk_inside(visit, day_folder):
    seen = visit(day_folder)
    assert seen.row(0).locator('.thumb[tabindex="0"]').count() == 1
    seen.row(0).locator(".thumb").first.focus()
    seen.page.keyboard.press("ArrowRight")
    seen.page.keyboard.press("ArrowRight")
    assert seen.page.evaluate("document.activeElement.dataset.frame") == "2"
    seen.page.keyboard.press("Enter")
    assert (
        seen.page.locator(".stage img").get_attribute("src")
        == "thumbnails/00000000000000000002.jpg"
    )


def test_a_long_event_shows_a_sample_and_all_on_demand(visit, day_folder):
    seen = visit(day_folder)
    strip = seen.row(2).locator(".thumb")
    assert strip.count() == 12
    assert strip.last.inner_text() == "+14"
    strip.last.click()
    frames = strip.evaluate_all("all => all.map(e => Number(e.dataset.frame))")
    assert frames == list(range(20, 45))


def test_where_boundaries_may_lie_is_shaded_until_a_person_sets_them(visit, tmp_path, day):
    intervals = [None, None, (19, 22), (45, 45)]
    events = [replace(e, interval=one) for e, one in zip(day.events, intervals, strict=True)]
    # Without times every frame is a sixtieth wide; a boundary lies before its frame.
    write_page(replace(day, events=tuple(events), times=None, clock=None), tmp_path)
    seen = visit(tmp_path)
    marks = seen.page.locator(".interval")
    spans = marks.evaluate_all("all => all.map(e => [e.style.left, e.style.width])")
    edges = [[round(float(edge.removesuffix("%")), 2) for edge in span] for span in spans]
    assert edges == [[31.67, 5.0]]
    seen.move(2, 25)
    assert marks.count() == 0
    assert seen.complaints == []


def test_thousands_of_frames_are_not_laid_out_at_once(visit, tmp_path):
    write_pictures([(0, np.full((30, 40, 3), 120, np.uint8))], tmp_path)
    long = Segmentation.from_boundaries(
        range(2000, 6000, 100), 6000, names=tuple(f"{t}.jpg" for t in range(6000))
    )
    write_page(
        long, tmp_path, thumbnails=dict.fromkeys(range(6000), "thumbnails/00000000000000000000.jpg")
    )
    seen = visit(tmp_path)
    seen.row(0).locator(".more").click()
    assert seen.row(0).locator(".thumb").count() == 241
    assert seen.page.locator("*").count() < 3000
    assert seen.complaints == []


def test_nasty_names_are_shown_and_do_nothing(visit, tmp_path, day):
    nasty = replace(
        day,
        events=tuple(replace(e, name=NASTY) for e in day.events),
        names=(NASTY,) * 60,
        source=NASTY,
        method=NASTY,
        notes=(NASTY,),
        skipped=(SkippedFile(NASTY, NASTY),),
    )
    write_page(nasty, tmp_path)
    seen = visit(tmp_path)
    assert seen.page.locator(".overline").text_content() == NASTY
    # A one-line field drops line separators of the old kind only; U+2028 stays.
    assert seen.names() == [NASTY] * 4
    seen.page.locator(".track").focus()
    seen.page.keyboard.press("Enter")
    assert NASTY in seen.page.locator(".viewer-detail").text_content()
    assert seen.page.locator("img").count() == 0
    assert seen.page.evaluate("window.caught ?? null") is None
    assert seen.complaints == []


@pytest.mark.parametrize("width", [320, 390, 768])
def test_no_sideways_scroll_on_a_narrow_screen(visit, day_folder, tmp_path, day, width):
    long = replace(
        day, source="x" * 300, notes=("y" * 300,), skipped=(SkippedFile("z" * 300, "w" * 300),)
    )
    write_page(long, tmp_path)
    for folder in (day_folder, tmp_path):
        page = visit(folder, width=width, height=844).page
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.locator(".event .name").first.fill("renamed")
    page.locator(".event .name").first.press("Enter")
    bar = page.locator("#bar").bounding_box()
    assert bar["x"] >= 0
    assert bar["x"] + bar["width"] <= width


CONTRASTS = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) =>
    0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const under = (e) => {
    const colour = rgba(getComputedStyle(e).backgroundColor);
    return colour[3] === 255 ? colour : under(e.parentElement);
  };
  const poor = [];
  let count = 0;
  const shown = "body *:not(script, noscript, noscript *, :disabled)";
  for (const e of document.querySelectorAll(shown)) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if ((!own && !e.matches("input")) || !e.checkVisibility()) continue;
    const styles = [getComputedStyle(e)];
    if (e.matches("input")) styles.push(getComputedStyle(e, "::placeholder"));
    for (const style of styles) {
      const [a, b] = [light(rgba(style.color)), light(under(e))].sort((x, y) => y - x);
      count += 1;
      if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(`${e.className}: ${style.color}`);
    }
  }
  return { poor, count, paper: getComputedStyle(document.body).backgroundColor };
}"""


@pytest.mark.parametrize(
    ("scheme", "paper"), [("light", "rgb(248, 247, 244)"), ("dark", "rgb(19, 19, 20)")]
)
def test_text_can_be_read_in_light_and_dark(visit, day_folder, scheme, paper):
    seen = visit(day_folder, color_scheme=scheme)
    seen.rename(0, "renamed")
    seen.row(0).locator("[data-action=split]").click()
    found = seen.page.evaluate(CONTRASTS)
    assert found["paper"] == paper
    assert found["count"] > 50
    assert found["poor"] == []


def test_paper_is_white_and_buttons_are_left_out_in_print(visit_alone, day_folder):
    seen = visit_alone(day_folder, color_scheme="dark")
    seen.page.emulate_media(media="print")
    assert (
        seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert not seen.row(1).locator("[data-action=merge]").is_visible()
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert seen.row(3).locator(".thumb").count() == 12
