"""The format of events.json: its version, its schema and its limits (docs/events-json.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from dayline.io.json_text import parse_json
from dayline.io.schema import check_against

__all__ = ["EVENTS_VERSION", "MOST_FRAMES", "events_schema", "events_text", "parse_events"]

EVENTS_VERSION = 1
EVENTS_FORMAT = "dayline-events"
MOST_FRAMES = 10_000_000
"""More than a day of video at 100 frames per second; a small file that declares more is rejected."""


def events_text(content: Mapping[str, Any]) -> str:
    """Write the content of events.json, with its format and version."""
    about = {"format": EVENTS_FORMAT, "version": EVENTS_VERSION}
    return json.dumps({**about, **content}, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def parse_events(text: str) -> dict[str, Any]:
    """Read the content of events.json in this or an older version; raise ValueError if it does not fit the schema."""
    content = parse_json(text)
    if not isinstance(content, dict) or content.get("format") != EVENTS_FORMAT:
        raise ValueError(f'not an events file: "format" should be "{EVENTS_FORMAT}"')
    version = content.get("version")
    if not isinstance(version, int) or not 1 <= version <= EVENTS_VERSION:
        raise ValueError(f"unknown events version {version!r} (known: 1 to {EVENTS_VERSION}); update dayline")
    try:
        # The events also give the number of frames, so a file without it is fine.
        check_against(events_schema(), {"n_frames": 1} | content)
    except ValueError as error:
        raise ValueError(f"missing or invalid fields: {error}") from None
    return content


def events_schema() -> dict[str, Any]:
    """Return the JSON Schema of events.json."""
    schema: dict[str, Any] = json.loads((files("dayline") / "events.schema.json").read_text(encoding="utf-8"))
    return schema
