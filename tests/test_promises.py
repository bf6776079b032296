from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def test_every_test_that_the_promises_name_exists():
    text = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    named = NAMED.findall(text)
    assert len(named) > 40
    missing = [
        f"{file}::{name}"
        for file, name in named
        if f"\ndef {name}(" not in read(ROOT / "tests" / file)
    ]
    assert missing == []


def test_every_promise_names_a_test():
    text = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    rows = [
        line
        for line in text.splitlines()
        if line.startswith("| ") and not line.startswith(("| ---", "| promise"))
    ]
    assert [row for row in rows if not NAMED.search(row)] == []


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
