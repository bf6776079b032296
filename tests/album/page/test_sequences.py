from __future__ import annotations

import re

import pytest

from dayline.album.page.overview import EventTitle, SequenceRow, write_sequences

NASTY = "</h2><script>alert(1)</script> \"'&"
ROWS = [
    SequenceRow(
        "2015/Lunch at the SEA.mp4",
        "2015--Lunch at the SEA.mp4",
        120,
        7,
        3.2,
        length=725.0,
        titles=[EventTitle(2, "Soup <i>", 61.5), EventTitle(5, "Fish and bread", 300.0)],
    ),
    SequenceRow(
        "2016/lunch.npy", "2016--lunch.npy", 1, 1, 0.2, why="webvtt: the frames have no times"
    ),
    SequenceRow("broken.npy", None, why="the file is empty"),
    SequenceRow(NASTY, "odd % # ? name", 90, 2, 200.0, pictures=["thumbnails/a b.jpg"]),
]


def test_the_page_has_a_row_per_sequence_and_no_html_of_theirs(tmp_path):
    page = write_sequences(ROWS, tmp_path, title="<b>", n_total=6).read_text(encoding="utf-8")
    assert '<h1 dir="auto">&lt;b&gt;</h1>' in page
    assert "6 sequences · 10 events · 2 failed · 2 not computed yet" in page
    assert page.count("<li>") == 4 + 2
    assert (
        'href="2015--Lunch%20at%20the%20SEA.mp4/index.html#event-2" dir="auto">Soup &lt;i' in page
    )
    assert "0:01:01" in page
    assert page.count("<script>") == 1
    assert "&lt;/h2&gt;&lt;script&gt;" in page
    assert 'href="odd%20%25%20%23%20%3F%20name/index.html"' in page
    assert 'src="odd%20%25%20%23%20%3F%20name/thumbnails/a%20b.jpg"' in page
    assert "12 min · 7 events · computed in 3 s" in page
    assert "1 frame · 1 event · computed in 1 s" in page
    assert "90 frames · 2 events · computed in 3 min" in page
    assert re.findall(r"Failed: (.*)</p>", page) == [
        "webvtt: the frames have no times",
        "the file is empty",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_searching_shows_the_rows_with_all_words(visit, tmp_path, color_scheme):
    write_sequences(ROWS, tmp_path, title="A batch", n_total=4)
    page = visit(tmp_path, color_scheme=color_scheme)

    def names_for(text: str) -> list[str]:
        page.page.fill("#search", text)
        return page.page.locator("li:visible h2").all_inner_texts()

    def titles() -> list[str]:
        return page.page.locator(".titles a:visible").all_inner_texts()

    everything = [row.name for row in ROWS]
    assert names_for("") == everything
    assert names_for("LUNCH") == everything[:2]
    assert page.page.inner_text("#found") == "2 of 4"
    assert names_for("  sea  2015 ") == everything[:1]
    assert names_for("<script>") == everything[3:]
    assert titles() == []
    assert names_for("soup") == everything[:1]
    assert titles() == ["Soup <i>"]
    assert names_for("sea bread") == everything[:1]
    assert titles() == ["Fish and bread"]
    page.page.click("summary")  # the link of the row does not cover it
    assert titles() == []
    assert names_for("nothing") == []
    assert page.page.inner_text("#found") == "0 of 4"
    assert names_for("") == everything
    dark = (
        page.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 19, 20)"
    )
    assert dark == (color_scheme == "dark")
    # Nothing is fetched but the page and its one picture, which does not exist here.
    assert {url.partition(":")[0] for url in page.requests} == {"file"}
    assert [text for text in page.complaints if "ERR_FILE_NOT_FOUND" not in text] == []
