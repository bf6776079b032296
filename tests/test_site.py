"""The site that `make docs` builds: whole, offline, and searchable from disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
LOADED = re.compile(r'<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//|<link[^>]*href="(?:https?:)?//')

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("material") is None or find_spec("mkdocstrings") is None:
        pytest.skip("mkdocs-material and mkdocstrings are not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed; `make chromium` installs it")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


def test_the_site_has_its_pages_and_loads_nothing_from_elsewhere(site):
    built = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    assert {"index.html", "how-to/photos.html", "method.html"} <= set(built)
    assert {"reference/api.html", "reference/command-line.html", "changelog.html"} <= set(built)
    assert [name for name, text in built.items() if LOADED.search(text)] == []
    assert "--expected-duration" in built["reference/command-line.html"]
    assert 'id="dayline.estimators.segmenter.EventSegmenter"' in built["reference/api.html"]


def test_the_search_works_from_disk(site, browser):
    page = browser.new_page()
    page.goto((site / "how-to" / "photos.html").as_uri())
    page.locator("input[name=query]").click()
    page.locator("input[name=query]").press_sequentially("expected duration")
    first = page.locator(".md-search-result__item a").first
    first.wait_for()
    assert first.get_attribute("href").startswith("file:")
    page.close()


@pytest.mark.parametrize("name", ["index", "how-to/photos", "reference/command-line", "results"])
def test_no_page_is_wider_than_a_phone(site, browser, name):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
