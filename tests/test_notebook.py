"""What a segmentation shows in a console and a notebook, and the events as a table."""

from __future__ import annotations

from datetime import datetime
from html.parser import HTMLParser

import numpy as np
import pytest

from dayline.events import COLUMN_KINDS, Event, Place, Segmentation
from dayline.metrics import LabelScore, score_boundaries

SUMMER_DAY = 1_689_321_600.0  # 2023-07-14 08:00


class Elements(HTMLParser):
    """The elements of a text, their attributes, and what is written in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


def made_day(*, hours: float = 10.0, **about) -> Segmentation:
    times = tuple((SUMMER_DAY + np.linspace(0, hours * 3600, 9)).tolist())
    about = {"times": times, "clock": "wall", **about}
    return Segmentation.from_boundaries([3, 6], 9, communities=[7] * 3 + [2] * 3 + [7] * 3, **about)


@pytest.mark.parametrize(
    ("segmentation", "text"),
    [
        (Segmentation((Event(0, 5),)), "Segmentation(1 event, 5 frames)"),
        (made_day(), "Segmentation(3 events, 9 frames, 2023-07-14 08:00 to 18:00)"),
        (
            made_day(hours=50),
            "Segmentation(3 events, 9 frames, 2023-07-14 08:00 to 2023-07-16 10:00)",
        ),
        (
            made_day(times=tuple(3600.0 * h for h in range(7, 16))),
            "Segmentation(3 events, 9 frames, 07:00 to 15:00)",
        ),
        (
            made_day(times=tuple(600.0 * k for k in range(9)), clock="media"),
            "Segmentation(3 events, 9 frames, 0:00:00 to 1:20:00)",
        ),
        (
            made_day(times=(-30.0, *range(8)), clock=None),
            "Segmentation(3 events, 9 frames, -0:00:30 to 0:00:07)",
        ),
        (made_day(times=(1e300,) * 9), "Segmentation(3 events, 9 frames)"),
        (made_day(times=(float("nan"),) * 9), "Segmentation(3 events, 9 frames)"),
    ],
)
def test_a_segmentation_is_shown_in_one_short_line(segmentation, text):
    assert repr(segmentation) == str(segmentation) == text
    assert text.isascii()


def test_two_segmentations_are_still_compared_by_their_values():
    assert made_day() == made_day() != made_day(hours=11)


def test_a_notebook_shows_a_strip_to_scale_and_a_row_per_event():
    html = made_day(places=(Place(2, "kitchen"),))._repr_html_()
    seen = Elements(html)
    assert seen.tags.count("tr") == 1 + 3
    assert [value for name, value in seen.attributes if name == "title"] == [
        "event 1: A",
        "event 2: kitchen",
        "event 3: A",
    ]
    assert html.count("flex:3 1 0") == 3
    assert {"11:45:00", "14:15:00"} <= set(seen.texts)
    assert {"kitchen", "A"} <= set(seen.texts)
    assert "confidence" not in seen.texts  # none has one


def test_a_notebook_shows_what_has_no_usable_times():
    for times in ((float("nan"),) * 9, (1e300,) * 9):
        for clock in ("wall", "media", None):
            assert "<table" in made_day(times=times, clock=clock)._repr_html_()


def test_html_in_names_is_text_in_a_notebook():
    wicked = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    day = made_day(source=wicked, places=(Place(2, wicked),))
    events = (Event(0, 3, community=7, name=wicked), *day.events[1:])
    seen = Elements(day.about(events=events)._repr_html_())
    assert set(seen.tags) == {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert {name for name, _ in seen.attributes} == {"style", "title"}
    assert wicked in seen.texts


def test_a_notebook_shows_the_first_events_of_many_in_bounded_space():
    n = 5000
    many = Segmentation.from_boundaries(range(1, n), n, communities=list(range(n)))
    html = many._repr_html_()
    assert Elements(html).tags.count("tr") == 1 + 40
    assert "and 4960 more events" in html
    assert html.count('title="event') == 400
    assert len(html) < 100_000


def test_events_become_dictionaries_with_dates_and_places():
    names = tuple(f"{k}.jpg" for k in range(9))
    day = made_day(places=(Place(2, "kitchen"),), names=names)
    first, second, _ = day.to_dicts()
    assert list(first) == list(COLUMN_KINDS)
    assert (first["event"], first["context"], first["place"], second["place"]) == (
        1,
        "A",
        None,
        "kitchen",
    )
    assert second["started"] == datetime(2023, 7, 14, 11, 45)
    assert (second["start"], second["stop"], second["n_frames"]) == (3, 6, 3)
    assert (second["first_photo"], second["last_photo"], second["key_photo"]) == (
        "3.jpg",
        "5.jpg",
        None,
    )
    assert second["duration"] == pytest.approx(2 * 4500)


def test_times_of_day_are_no_dates_and_a_clock_set_back_gives_no_duration():
    rows = made_day(times=(10.0, 20.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0)).to_dicts()
    assert (rows[0]["start_time"], rows[0]["started"], rows[0]["duration"]) == (10.0, None, None)
    assert rows[1]["duration"] == 2.0


def located_day() -> Segmentation:
    day = made_day()
    first = Event(0, 3, community=7, key_frame=1, confidence=None, location=(48.1, 11.5))
    return day.about(events=(first, *day.events[1:]))


def test_pandas_keeps_the_types_of_columns_with_missing_values():
    pandas = pytest.importorskip("pandas")
    frame = located_day().to_frame()
    assert list(frame.columns) == list(COLUMN_KINDS)
    assert frame["key_frame"].dtype == "Int64"
    assert frame["key_frame"].tolist() == [1, pandas.NA, pandas.NA]
    assert frame["started"].dtype.kind == "M"
    assert frame["latitude"].dtype == "float64"
    assert frame.groupby("context")["n_frames"].sum().to_dict() == {"A": 6}


def test_polars_and_pyarrow_have_the_same_columns_and_values():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    day = located_day()
    frame, table = day.to_frame("polars"), day.to_frame("pyarrow")
    assert isinstance(frame, polars.DataFrame)
    assert isinstance(table, pyarrow.Table)
    assert frame.to_dicts() == table.to_pylist() == day.to_dicts()
    assert frame.schema["confidence"] == polars.Float64  # though no event has one


def test_an_unknown_or_missing_library_is_said_in_one_line(monkeypatch):
    with pytest.raises(ValueError, match='backend=\'duckdb\' is not known; use "pandas", "polars"'):
        made_day().to_frame("duckdb")
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(ValueError, match=r"needs polars, which is not installed; pip install"):
        made_day().to_frame("polars")


def test_printing_a_score_shows_f1_first():
    score = score_boundaries([10, 20, 33], [10, 21], tolerance=2)
    assert str(score) == "F1 0.800, precision 0.667, recall 1.000 (2 matched, 3 found, 2 true)"
    assert repr(score) == "BoundaryScore(n_matched=2, n_found=3, n_true=2)"
    labels = LabelScore(0.5, 0.75, 0.625, 0.6, 0.3)
    assert (
        str(labels)
        == "accuracy 0.500 (majority 0.750), NMI 0.625 (arithmetic 0.600), adjusted Rand 0.300"
    )
