"""Draw the first picture of the README: the page that `dayline demo` writes, in a browser.

python examples/demo_page.py DEMO [--output docs/images/demo.webp]

DEMO is the folder that `make demo` writes. This needs Chromium (`make chromium`).
"""

from __future__ import annotations

import argparse
import io
import shutil
from pathlib import Path


def draw(page: Path, path: Path) -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        raise SystemExit("Chromium is not installed; make chromium installs it")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = opened.new_page(viewport={"width": 1120, "height": 768}, color_scheme="light")
        tab.goto(page.resolve().as_uri())
        tab.wait_for_load_state("networkidle")
        shown = tab.screenshot()
        opened.close()
    with Image.open(io.BytesIO(shown)) as image:  # as PNG, its photographs take 1 MB
        image.save(path, quality=85, method=6)
    print(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("demo", type=Path)
    parser.add_argument("--output", type=Path, default=Path("demo.webp"))
    options = parser.parse_args()

    draw(options.demo / "index.html", options.output)


if __name__ == "__main__":
    main()
