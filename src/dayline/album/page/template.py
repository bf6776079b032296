"""Pages as one file each: a template with its style sheet, script and data inside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from dayline.files import read_no_follow

IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=async |function |const |let )", re.MULTILINE)
DATA = re.compile(r'<script type="application/json" id="data">([^<]*)</script>')
SHEETS = {
    "page": ("theme", "slideshow", "page"),
    "overview": ("theme", "overview"),
    "sequences": ("theme", "overview"),
    "share": ("theme", "slideshow", "share"),
}
"""The style sheets of every page."""


def render(name: str, content: Mapping[str, Any], *, data: Mapping[str, Any] | None = None) -> str:
    """Render the page with this name: its template, style sheet and script.

    Parameters
    ----------
    name : str
        "page", "overview", "sequences" or "share".
    content : mapping
        Values of the template's variables; all are escaped.
    data : mapping, optional
        What the script reads.
    """
    text = _template(name).render(
        data=htmlsafe_json_dumps(data, allow_nan=False, separators=(",", ":")),
        **content,
    )
    # A file name of invalid UTF-8 contains lone surrogates, which cannot be encoded.
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _template(name: str) -> Template:
    """Return the template of a page with its style sheet and script, which are the same for all."""
    style = "".join(_package_text(f"{sheet}.css") for sheet in SHEETS[name])
    script = bundle(name)
    environment = Environment(
        loader=PackageLoader("dayline.album", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    our_own = {
        "style": Markup(style),  # noqa: S704 - our own file
        "style_hash": _content_hash(style),
        "script": Markup(script),  # noqa: S704 - our own files
        "script_hash": _content_hash(script),
    }
    return environment.get_template(f"{name}.html", globals=our_own)


def bundle(entry: str) -> str:
    """Join a script with all modules that it imports: browsers do not load modules from disk.

    The modules become one function, so that no two of them may have the same name at the top level.

    Parameters
    ----------
    entry : str
        Name of the module, without its suffix.
    """
    parts = [EXPORT.sub("", IMPORT.sub("", text)) for text in modules(entry).values()]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


def modules(entry: str) -> dict[str, str]:
    """Return the texts of a script and of all modules that it imports, each after its own imports.

    Modules that import each other in a circle are an error.

    Parameters
    ----------
    entry : str
        Name of the module, without its suffix.
    """
    texts: dict[str, str] = {}
    imports: dict[str, list[str]] = {}
    waiting = [entry]
    while waiting:
        module = waiting.pop()
        if module not in texts:
            texts[module] = _package_text(f"{module}.js")
            imports[module] = IMPORT.findall(texts[module])
            waiting += imports[module]
    return {module: texts[module] for module in TopologicalSorter(imports).static_order()}


def embedded_data(path: Path) -> dict[str, Any] | None:
    """Return the data that the script of a page reads; None if the file has none.

    Parameters
    ----------
    path : Path
        The page.
    """
    text = (read_no_follow(path) or b"").decode("utf-8", "replace")
    found = DATA.search(text)
    try:
        data = None if found is None else json.loads(found[1])
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _package_text(name: str) -> str:
    return (files("dayline.album.page") / name).read_text(encoding="utf-8")


def _content_hash(text: str) -> str:
    """Return the hash of a text for the content security policy, which allows nothing else."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
