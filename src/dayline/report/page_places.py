"""Change the names of places on a page that is already written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from jinja2.utils import htmlsafe_json_dumps

from dayline.events import Place
from dayline.io.files import write_text_whole

__all__ = ["replace_places"]

DATA = re.compile(r'(<script type="application/json" id="data">)(.*?)(</script>)', re.DOTALL)


def replace_places(page: Path, places: Sequence[Place]) -> bool:
    """Replace the places in the data of a page; return whether it is a page with such data.

    The page itself needs the graph and the pictures, which are gone when the places of all days are known.

    Parameters
    ----------
    page : Path
        The page, as `write_page` wrote it.
    places : sequence of Place
        The places.
    """
    text = page.read_text(encoding="utf-8")
    found = DATA.search(text)
    if found is None:
        return False
    data = json.loads(found[2])
    data["segmentation"]["places"] = [asdict(place) for place in places]
    dumped = htmlsafe_json_dumps(data, allow_nan=False, separators=(",", ":"))
    write_text_whole(page, text[: found.start(2)] + str(dumped) + text[found.end(2) :])
    return True
