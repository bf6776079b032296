"""places.json: the places of many days, which belongs to the person (docs/places.md)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from dayline.album.places import KnownPlace, Sighting, packed, unit_vector, unpacked
from dayline.files import UnreadableFileError, parse_json, read_no_follow, write_text_whole
from dayline.schema import check_against

PLACES = "places.json"
FORMAT = "dayline-places"
VERSION = 1
MOST_SIGHTINGS = 24
"""Sightings of a place whose features are kept; more would make the file large and hardly help."""
LARGEST_FILE = 2**29


def read_places(path: Path) -> tuple[KnownPlace, ...]:
    """Read the places; none if the file does not exist.

    A name that was changed in the file counts as said by the person, as one changed on a page does.

    Parameters
    ----------
    path : Path
        The file.
    """
    if path.is_dir():
        raise UnreadableFileError(
            f"{path}: is a folder; pass a file of places, such as {path / PLACES}"
        )
    try:
        if path.lstat().st_size > LARGEST_FILE:
            raise UnreadableFileError(f"{path}: larger than 512 MB; repair or remove it")
        text = (read_no_follow(path) or b"").decode("utf-8")
    except FileNotFoundError:
        return ()
    except UnicodeDecodeError:
        raise UnreadableFileError(
            f"{path}: not JSON: not a text file; repair or remove it"
        ) from None
    try:
        content = parse_json(text)
    except ValueError as error:
        raise UnreadableFileError(f"{path}: {error}; repair or remove it") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UnreadableFileError(
            f'{path}: not a file of places ("format" should be "{FORMAT}"); repair or remove it'
        )
    version = content.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise UnreadableFileError(
            f"{path}: unknown version {version!r} (known: 1 to {VERSION}); update dayline"
        )
    try:
        check_against(places_schema(), content)
        found = tuple(_place(place) for place in content["places"])
    except ValueError as error:
        raise UnreadableFileError(f"{path}: {error}; repair or remove it") from None
    keys = [sighting.key for place in found for sighting in place.sightings]
    if len(set(keys)) < len(keys) or len({place.id for place in found}) < len(found):
        raise UnreadableFileError(f"{path}: a place or a context occurs twice; repair or remove it")
    sizes: dict[str, set[int]] = defaultdict(set)
    for place in found:
        for sighting in place.sightings:
            if len(sighting.features):
                sizes[sighting.model].add(len(sighting.features))
    for model, lengths in sizes.items():
        if len(lengths) > 1:
            raise UnreadableFileError(
                f"{path}: features of {model} differ in length; repair or remove it"
            )
    return found


def _place(content: dict[str, Any]) -> KnownPlace:
    sightings = tuple(
        Sighting(
            s["day"],
            s["community"],
            s["n_frames"],
            s["model"],
            unit_vector(unpacked(s["features"])) if s.get("features") else np.empty(0),
            s.get("said"),
            s.get("shown"),
            s.get("given"),
            s.get("likeness"),
        )
        for s in content["sightings"]
    )
    name = content.get("name") or None
    if sightings and name != sightings[0].shown:
        said = {k for k, s in enumerate(sightings) if s.said is not None} or {0}
        sightings = tuple(
            replace(s, said=name) if k in said else s for k, s in enumerate(sightings)
        )
    return KnownPlace(content["id"], name, sightings)


def places_text(places: Sequence[KnownPlace]) -> str:
    """Return the text of places.json."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "places": [
            {"id": p.id, "name": p.name, "sightings": [_sighting(s) for s in _thinned(p.sightings)]}
            for p in places
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def write_places(places: Sequence[KnownPlace], path: Path) -> None:
    """Write places.json unless it already has this content.

    Parameters
    ----------
    places : sequence of KnownPlace
        The places.
    path : Path
        The file.
    """
    text = places_text(places)
    if path.is_symlink() or not path.is_file() or read_no_follow(path) != text.encode("utf-8"):
        write_text_whole(path, text)


def _sighting(sighting: Sighting) -> dict[str, Any]:
    return {
        "day": sighting.day,
        "community": sighting.community,
        "n_frames": sighting.n_frames,
        "said": sighting.said,
        "shown": sighting.shown,
        "given": sighting.given,
        "model": sighting.model,
        "likeness": sighting.likeness,
        "features": packed(sighting.features) if len(sighting.features) else None,
    }


def _thinned(sightings: Sequence[Sighting]) -> list[Sighting]:
    """Return the sightings with the features of named ones and of others, spread over the days."""
    named = [k for k, s in enumerate(sightings) if s.said is not None]
    others = [k for k, s in enumerate(sightings) if s.said is None and len(s.features)]
    room = max(MOST_SIGHTINGS - len(named), 0)
    if len(others) > room:
        others = [others[k] for k in np.linspace(0, len(others) - 1, room).astype(int)]
    kept = {*named, *others}
    return [s if k in kept else replace(s, features=np.empty(0)) for k, s in enumerate(sightings)]


def places_schema() -> dict[str, Any]:
    """Return the JSON Schema of places.json."""
    schema: dict[str, Any] = json.loads(
        (files("dayline") / "places.schema.json").read_text(encoding="utf-8")
    )
    return schema
