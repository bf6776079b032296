"""JSON that others may have written, read strictly."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["parse_json"]


def parse_json(text: str) -> Any:
    """Read JSON; raise ValueError if it is not JSON, or if one object has the same key twice.

    JSON does not define which of two values counts, so that programs would read different things.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"contains {next(key for key in keys if keys.count(key) > 1)!r} twice in one object")
    return content
