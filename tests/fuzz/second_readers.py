"""Plain readers of formats that anybody can read, written apart from dayline's: what does a damaged text say?

Each returns the answer that dayline should give, or None if the text is not a file of its format
any more.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import numpy as np

from fuzz.readers import table_answer

__all__ = ["SECOND_READERS"]

NUMBER = re.compile(
    r"\s*[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf|infinity|nan)\s*",
    re.I | re.A,
)
MISSING = ("", "na", "n/a", "null", "none")
TIME_NAMES = ("time", "times", "seconds", "timestamp")
EVENT = (
    "start",
    "stop",
    "community",
    "key_frame",
    "start_time",
    "stop_time",
    "confidence",
    "reason",
    "name",
)
SIGHTING = ("day", "community", "n_frames", "model", "said", "shown", "given", "likeness")
ABOUT = ("scores", "times", "clock", "names", "digests", "source", "method")


def _csv(data: bytes) -> dict[str, Any] | None:
    try:
        text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline=None).read()
        rows = list(csv.reader(text.rstrip("\n").split("\n"), strict=True))
    except (UnicodeDecodeError, csv.Error):
        return None
    header: list[str] = []
    if rows and not any(NUMBER.fullmatch(cell) for cell in rows[0]):
        header = [cell.strip().lower() for cell in rows.pop(0)]
    if not rows or len({len(row) for row in rows}) > 1 or not rows[0]:
        return None
    cells = [[cell.strip().lower() for cell in row] for row in rows]
    if not all(cell in MISSING or NUMBER.fullmatch(cell) for row in cells for cell in row):
        return None
    values = np.asarray(
        [[math.nan if cell in MISSING else float(cell) for cell in row] for row in cells]
    )
    at = [header.index(name) for name in TIME_NAMES if name in header]
    if not at or len(header) != values.shape[1]:
        return table_answer(values, None)
    return table_answer(np.delete(values, at[0], axis=1), values[:, at[0]])


def _json(data: bytes) -> dict[str, Any] | None:
    content = _parsed(data)
    # The number of frames may be left out: the events say it too.
    if not isinstance(content, dict) or not _validator("events").is_valid(
        {"n_frames": 1} | content
    ):
        return None
    if content.get("n_frames", content["events"][-1]["stop"]) != content["events"][-1]["stop"]:
        return None
    answer = {key: content.get(key) for key in ABOUT}
    for key in ("scores", "times", "names", "digests"):
        answer[key] = None if answer[key] is None else tuple(answer[key])
    return answer | {
        "events": tuple(_event(event) for event in content["events"]),
        "skipped": tuple(
            {key: item[key] for key in ("name", "why")} for item in content.get("skipped", ())
        ),
        "notes": tuple(content.get("notes", ())),
        "places": tuple(
            {key: item.get(key) for key in ("community", "name", "id")}
            for item in content.get("places", ())
        ),
        "levels": tuple(
            {
                "level": item["level"],
                "boundaries": tuple(item["boundaries"]),
                "confidences": tuple(item["confidences"]),
            }
            for item in content.get("levels", ())
        ),
    }


def _event(content: dict[str, Any]) -> dict[str, Any]:
    place = content.get("location")
    about = {
        "location": None if place is None else tuple(place),
        "key_chosen": content.get("key_chosen", False),
    }
    return {key: content.get(key) for key in EVENT} | about


def _places(data: bytes) -> dict[str, Any] | None:
    content = _parsed(data)
    if not _validator("places").is_valid(content):
        return None
    sightings = []
    for place in content["places"]:
        name = place.get("name") or None
        of_place = [
            {key: item.get(key) for key in SIGHTING}
            | {"features": _direction(item), "place": place["id"]}
            for item in place["sightings"]
        ]
        # A name that was changed in the file was said by the person, where one was said before or
        # first.
        if of_place and name != of_place[0]["shown"]:
            for item in [item for item in of_place if item["said"] is not None] or of_place[:1]:
                item["said"] = name
        sightings += of_place
    return {
        "places": [(place["id"], place.get("name") or None) for place in content["places"]],
        "sightings": sightings,
    }


def _direction(sighting: dict[str, Any]) -> tuple[float, ...]:
    text = sighting.get("features")
    if not text:
        return ()
    largest, steps = text.split(" ")
    values = [
        float(largest) / 127 * int.from_bytes([step], signed=True)
        for step in base64.b64decode(steps)
    ]
    length = math.hypot(*values) or 1.0
    return tuple(round(value / length, 9) for value in values)


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode(), parse_constant=_refuse, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


@cache
def _validator(kind: Literal["events", "places"]) -> Any:
    from jsonschema import Draft202012Validator

    from dayline.album.places_file import places_schema
    from dayline.events import events_schema

    return Draft202012Validator(events_schema() if kind == "events" else places_schema())


SECOND_READERS: dict[str, Callable[[bytes], dict[str, Any] | None]] = {
    "csv": _csv,
    "json": _json,
    "places": _places,
}
