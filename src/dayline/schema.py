"""Validate JSON against the small part of JSON Schema that dayline's files use."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

LARGEST = sys.float_info.max
TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def check_against(schema: Mapping[str, Any], value: Any, where: tuple[str | int, ...] = ()) -> None:
    """Raise ValueError if a schema does not allow a value, and say where.

    Parameters
    ----------
    schema : mapping
        With type, enum, const, minimum, maximum, minItems, maxItems, items, required, properties;
        other keywords are ignored. Strings in a list have no enum.
    value : object
        The result of `json.loads`.
    where : tuple of str or int
        Names and positions that lead to the value, for the message.
    """
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and (isinstance(value, (dict, list)) or value not in allowed):
        raise _wrong(where, value, " or ".join(map(_short, allowed)))
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds is not None and not any(_is_a(value, kind) for kind in kinds):
        raise _wrong(where, value, f"of type {' or '.join(kinds)}")

    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                raise ValueError(f"{_place(where)} has no {name!r}")
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                check_against(inner, value[name], (*where, name))
    elif isinstance(value, list):
        low, high = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if not low <= len(value) <= high:
            wanted = f"at least {low}" if len(value) < low else f"at most {high}"
            raise ValueError(f"{_place(where)} has {len(value)} values; it must have {wanted}")
        items = schema.get("items", {})
        smallest, largest = items.get("minimum", -LARGEST), items.get("maximum", LARGEST)
        # Lists with one value per frame are long: take a tenth of the time for the usual ones.
        quick = {"number": float, "string": str}.get(items.get("type"))
        for k, item in enumerate(value):
            if type(item) is not quick or (quick is float and not smallest <= item <= largest):
                check_against(items, item, (*where, k))
    elif isinstance(value, (int, float)):
        # JSON has neither NaN nor infinity, but Python's reader accepts them; an integer may be too
        # large for a float. With the comparison inverted, NaN would pass.
        low, high = schema.get("minimum", -LARGEST), schema.get("maximum", LARGEST)
        if not low <= value <= high:
            limits = (("at least", "minimum"), ("at most", "maximum"))
            sides = [f"{side} {schema[limit]:g}" for side, limit in limits if limit in schema]
            raise _wrong(where, value, " and ".join(sides) or "a finite number")


def _is_a(value: Any, kind: str) -> bool:
    # In Python, true and false are integers, too.
    return isinstance(value, TYPES[kind]) and (kind == "boolean") == isinstance(value, bool)


def _wrong(where: tuple[str | int, ...], value: Any, wanted: str) -> ValueError:
    return ValueError(f"{_place(where)} is {_short(value)}; it must be {wanted}")


def _place(where: tuple[str | int, ...]) -> str:
    """Return where a value is: "events[0].name"."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    return "".join(parts).removeprefix(".") or "the file"


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
