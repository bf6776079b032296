"""What the site takes from the code: its reference pages, and the files beside docs/."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).parent)]

from reference import api_page, command_line_page, parameters_page, schema_page  # noqa: E402

ROOT_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
}
CODE_PAGES = {
    "src/dayline/events.schema.json": "reference/schema.md",
    "src/dayline/estimators/embedders.py": "reference/parameters.md",
}
"""Pages that are made from these files; in the repository, links lead to the files themselves."""
ROOT_FILES = ("CITATION.cff", "Containerfile", "LICENSE", "src/dayline/places.schema.json")
PAGES = {
    "reference/api.md": api_page,
    "reference/command-line.md": command_line_page,
    "reference/parameters.md": parameters_page,
    "reference/schema.md": schema_page,
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages of a folder in the navigation, in the order of its index.md."""
    config.nav = _listed(config.nav, Path(config.docs_dir))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the code, and those in the folder above."""
    for name, make in PAGES.items():
        files.append(File.generated(config, name, content=make()))
    for source, name in ROOT_PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=_to_pages(text, "")))
    for name in ROOT_FILES:
        if (ROOT / name).is_file():
            files.append(
                File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8"))
            )
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to files above docs/ lead to their pages."""
    depth = page.file.src_uri.count("/")
    return _to_pages(markdown, "../" * (depth + 1), "../" * depth)


def _to_pages(text: str, above: str, back: str = "") -> str:
    for source, name in (
        ROOT_PAGES | CODE_PAGES | dict(zip(ROOT_FILES, ROOT_FILES, strict=True))
    ).items():
        text = re.sub(rf"\]\({re.escape(above + source)}(#[^)]*)?\)", rf"]({back}{name}\1)", text)
    return text


def _listed(entry: Any, docs: Path) -> Any:
    """Return a part of the navigation with the pages of each folder in place of the folder."""
    if isinstance(entry, list):
        return [_listed(one, docs) for one in entry]
    if isinstance(entry, dict):
        return {title: _listed(content, docs) for title, content in entry.items()}
    if not entry.endswith("/"):
        return entry
    index = (docs / entry / "index.md").read_text(encoding="utf-8")
    pages = [path for path in (docs / entry).glob("*.md") if path.name != "index.md"]
    pages.sort(key=lambda path: index.find(f"]({path.name})"))
    return [f"{entry}index.md", *({_title(path): f"{entry}{path.name}"} for path in pages)]


def _title(path: Path) -> str:
    match = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else path.stem
