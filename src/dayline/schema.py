"""Validate JSON against the small part of JSON Schema that dayline's files use."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

LARGEST = sys.float_info.max
TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def check_against(schema: Mapping[str, Any], value: Any, where: str = "") -> None:
    """Raise ValueError if a schema does not allow a value, and say where.

    Parameters
    ----------
    schema : mapping
        With type, enum, const, minimum, maximum, minItems, maxItems, items, required, properties;
        other keywords are ignored.
    value : object
        The result of `json.loads`.
    where : str
        Location of the value, for the message.
    """
    place = where or "the file"
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and (isinstance(value, (dict, list)) or value not in allowed):
        raise ValueError(
            f"{place} is {_short(value)}; it must be {' or '.join(map(_short, allowed))}"
        )

    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_a(value, kind) for kind in kinds):
        raise ValueError(f"{place} is {_short(value)}; it must be of type {' or '.join(kinds)}")

    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                raise ValueError(f"{place} has no {name!r}")
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                check_against(inner, value[name], f"{where}.{name}" if where else name)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            raise ValueError(
                f"{place} has {len(value)} values; it needs {schema['minItems']}"
                if value
                else f"{place} is empty"
            )
        if len(value) > schema.get("maxItems", len(value)):
            raise ValueError(
                f"{place} has {len(value)} values; it must have at most {schema['maxItems']}"
            )

        items = schema.get("items", {})
        for k, item in enumerate(value):
            # Lists with one value per frame are long, and formatting a location for each takes most
            # of the time.
            if not _is_plain(items, item):
                check_against(items, item, f"{where}[{k}]")
    elif isinstance(value, (int, float)):
        _check_range(schema, value, place)


def _is_plain(schema: Mapping[str, Any], value: Any) -> bool:
    """Quick check that a number or a string is valid; if False, the value is checked in full."""
    kind = schema.get("type")
    if type(value) is str:
        return kind == "string" and "enum" not in schema
    if type(value) is float or type(value) is int:
        low, high = schema.get("minimum", -LARGEST), schema.get("maximum", LARGEST)
        return bool(kind == "number" and low <= value <= high)
    return False


def _check_range(schema: Mapping[str, Any], value: float, place: str) -> None:
    low, high = schema.get("minimum"), schema.get("maximum")
    # JSON has neither NaN nor infinity, but Python's reader accepts them; an integer may be too
    # large for a float.
    if not -LARGEST <= value <= LARGEST:
        raise ValueError(f"{place} is {_short(value)}; it must be a finite number")
    # With the comparisons inverted, NaN would pass.
    if not (low is None or value >= low) or not (high is None or value <= high):
        limits = (("at least", low), ("at most", high))
        sides = [f"{side} {limit:g}" for side, limit in limits if limit is not None]
        raise ValueError(f"{place} is {_short(value)}; it must be {' and '.join(sides)}")


def _is_a(value: Any, kind: str) -> bool:
    # In Python, true and false are integers, too.
    return isinstance(value, TYPES[kind]) and (kind == "boolean") == isinstance(value, bool)


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
