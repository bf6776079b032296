"""The site that `make docs` builds: whole, offline, and searchable from disk."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOADED = re.compile(
    r'<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//|<link[^>]*href="(?:https?:)?//'
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("material") is None or find_spec("mkdocstrings") is None:
        pytest.skip("mkdocs-material and mkdocstrings are not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder


def test_the_site_has_its_pages_and_loads_nothing_from_elsewhere(site):
    built = {
        path.relative_to(site).as_posix(): path.read_text(encoding="utf-8")
        for path in site.rglob("*.html")
    }
    assert {"index.html", "how-to/photos.html", "method.html"} <= set(built)
    assert {"reference/api.html", "reference/command-line.html", "changelog.html"} <= set(built)
    assert [name for name, text in built.items() if LOADED.search(text)] == []
    assert "--expected-duration" in built["reference/command-line.html"]
    assert 'id="dayline.estimators.segmenter.EventSegmenter"' in built["reference/api.html"]


def test_links_from_page_to_page_lead_somewhere(site):
    missing = [
        (page.name, link)
        for page in site.rglob("*.html")
        for link in re.findall(
            r'<a[^>]*\shref="([^"#:?]+)[^":]*"', page.read_text(encoding="utf-8")
        )
        if page.name != "404.html" and not (page.parent / link).exists()
    ]
    assert missing == []


def test_the_search_works_from_disk(site, chromium):
    page = chromium.new_page()
    page.goto((site / "how-to" / "photos.html").as_uri())
    page.locator("input[name=query]").click()
    page.locator("input[name=query]").press_sequentially("expected duration")
    first = page.locator(".md-search-result__item a").first
    first.wait_for()
    assert first.get_attribute("href").startswith("file:")
    page.close()


@pytest.mark.parametrize("name", ["index", "how-to/photos", "reference/command-line", "results"])
def test_no_page_is_wider_than_a_phone(site, chromium, name):
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
