"""The code in the documentation runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_code_about_arrays_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    for package in ("matplotlib", "pandas", "PIL"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "arrays.md").read_text(encoding="utf-8")
    known: dict[str, object] = {}
    for code in SNIPPET.findall(text):
        exec(compile(code, "arrays.md", "exec"), known)
    printed = capsys.readouterr().out
    said = re.findall(r"# (Segmentation\(.*\))", text)
    assert len(said) == 3
    assert [line for line in printed.splitlines() if line.startswith("Segmentation")] == said
    assert {"events.png", "out"} <= {path.name for path in tmp_path.iterdir()}


def test_the_columns_of_a_table_are_documented():
    from dayline.events import COLUMN_KINDS

    text = (ROOT / "docs" / "arrays.md").read_text(encoding="utf-8")
    table = text[text.index("| column | is |") : text.index("Types do not depend")]
    first_cells = [line.split("|")[1] for line in table.strip().splitlines()[2:]]
    assert re.findall(r"`(\w+)`", " ".join(first_cells)) == list(COLUMN_KINDS)
