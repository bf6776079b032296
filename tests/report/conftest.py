"""A made day with pictures, its page, and visits to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dayline.events import Segmentation, SkippedFile
from dayline.report import write_page, write_thumbnails

MORNING = 1426118400.0 + 9 * 3600  # 12 March 2015, 09:00
BOUNDARIES = (8, 20, 45)
COMMUNITIES = [5] * 8 + [2] * 12 + [5] * 25 + [7] * 15


def made_picture(frame: int, *, height: int = 90, width: int = 120) -> np.ndarray:
    """A gradient whose colours turn from frame to frame."""
    rows, columns = np.mgrid[:height, :width]
    mixed = 60 * np.sin(columns / 17 + frame / 5) + 60 * np.cos(rows / 13 - frame / 9)
    return np.stack([128 + mixed, 110 + 0.5 * mixed + frame % 40, 150 - mixed], axis=-1).clip(0, 255).astype(np.uint8)


def made_day() -> Segmentation:
    """Sixty photos in four events: one every 30 s, with 50 minutes of pause before frame 45."""
    times = [MORNING + 30 * t + (3000 if t >= 45 else 0) for t in range(60)]
    scores = [0.1 + 0.8 * (t in BOUNDARIES) + 0.01 * (t % 7) for t in range(60)]
    day = Segmentation.from_boundaries(
        BOUNDARIES,
        60,
        communities=COMMUNITIES,
        times=tuple(times),
        scores=tuple(scores),
        clock="wall",
        names=tuple(f"{t:03d}.jpg" for t in range(60)),
        source="my day",
        skipped=(SkippedFile("broken.jpg", "holds no image"),),
        notes=("Ordered by EXIF time.",),
    )
    reasons = ("start", "looks", "both", "pause")
    events = [
        replace(e, reason=reasons[i], confidence=None if i == 0 else 0.5 + 0.1 * i, key_frame=e.start + 2)
        for i, e in enumerate(day.events)
    ]
    return replace(day, events=tuple(events))


@pytest.fixture
def day() -> Segmentation:
    return made_day()


@pytest.fixture(scope="session")
def day_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the made day, with pictures and graph."""
    folder = tmp_path_factory.mktemp("page") / "a day, #1 & more"
    pictures = write_thumbnails(((t, made_picture(t)) for t in range(60)), folder)
    same = np.equal.outer(COMMUNITIES, COMMUNITIES)
    write_page(made_day(), folder, thumbnails=pictures, graph=0.1 + 0.8 * same, communities=COMMUNITIES)
    return folder


@dataclass
class Visit:
    """An open page, and all it asked for and complained about."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def names(self) -> list[str]:
        """What the rows are called, as shown."""
        script = "rows => rows.map(row => row.value || row.placeholder)"
        return self.page.locator(".event .name").evaluate_all(script)

    def spans(self) -> list[str]:
        """First frame's text of every row."""
        return self.page.locator(".event .from").all_inner_texts()

    def row(self, number: int) -> Any:
        return self.page.locator(".event").nth(number)

    def wait_until(self, script: str) -> None:
        """Ask again and again; the page's policy forbids Playwright's own way of waiting."""
        for _ in range(100):
            if self.page.evaluate(script):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never true: {script}")

    def saved(self) -> Segmentation:
        """Press save, and read the file as dayline does."""
        with self.page.expect_download() as download:
            self.page.click("#save")
        assert download.value.suggested_filename == "events.json"
        return Segmentation.from_json(Path(download.value.path()).read_text(encoding="utf-8"))


@pytest.fixture
def screen(chromium: Any) -> Iterator[Any]:
    """A browser window per size and colour scheme, offline; its storage, where edits live, begins empty."""
    contexts = []

    @cache
    def made(width: int, height: int, color_scheme: str) -> Any:
        size = {"width": width, "height": height}
        # Far from Greenwich: camera time must be shown as it is, wherever the reader sits.
        context = chromium.new_context(viewport=size, color_scheme=color_scheme, timezone_id="Asia/Tokyo")
        context.set_default_timeout(8000)
        context.set_offline(True)
        contexts.append(context)
        return context

    yield made
    for context in contexts:
        context.close()


@pytest.fixture
def visit(screen: Any) -> Iterator[Any]:
    """Open a folder's page: visit(folder, width=..., color_scheme=...)."""
    pages = []

    def opened(folder: Path, *, width: int = 1280, height: int = 800, color_scheme: str = "light") -> Visit:
        visited = Visit(screen(width, height, color_scheme).new_page())
        pages.append(visited.page)
        visited.page.on("request", lambda request: visited.requests.append(request.url))
        visited.page.on("pageerror", lambda error: visited.complaints.append(str(error)))
        visited.page.on("console", lambda message: visited.complaints.append(f"{message.type}: {message.text}"))
        visited.page.goto((folder / "index.html").as_uri())
        return visited

    yield opened
    for page in pages:
        page.close()
