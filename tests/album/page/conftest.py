"""A made day with pictures, its page, and visits to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dayline.album.page.page import write_page
from dayline.events import Segmentation, SkippedFile
from made_photos import write_pictures

MORNING = 1426118400.0 + 9 * 3600  # 12 March 2015, 09:00
BOUNDARIES = (8, 20, 45)
RESTORED = "document.getElementById('status') === null || 'restored' in document.body.dataset"
UNFOLD = "document.querySelectorAll('.decided, .fold').forEach(e => { e.open = true; })"
ASKS_ON_CLOSE = "() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
COMMUNITIES = [5] * 8 + [2] * 12 + [5] * 25 + [7] * 15


def made_picture(frame: int, *, height: int = 90, width: int = 120) -> np.ndarray:
    """A gradient whose colors turn from frame to frame."""
    rows, columns = np.mgrid[:height, :width]
    mixed = 60 * np.sin(columns / 17 + frame / 5) + 60 * np.cos(rows / 13 - frame / 9)
    return (
        np.stack([128 + mixed, 110 + 0.5 * mixed + frame % 40, 150 - mixed], axis=-1)
        .clip(0, 255)
        .astype(np.uint8)
    )


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
        digests=tuple(f"photo{t}" for t in range(60)),
        source="my day",
        skipped=(SkippedFile("broken.jpg", "holds no image"),),
        notes=("Ordered by EXIF time.",),
    )
    reasons = ("start", "content", "both", "pause")
    events = [
        replace(
            e,
            reason=reasons[i],
            confidence=None if i == 0 else 0.5 + 0.1 * i,
            key_frame=e.start + 2,
        )
        for i, e in enumerate(day.events)
    ]
    return replace(day, events=tuple(events))


def edges(result: Segmentation) -> list[tuple[int, int]]:
    return [(event.start, event.stop) for event in result.events]


@pytest.fixture
def day() -> Segmentation:
    return made_day()


@pytest.fixture(scope="session")
def day_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the made day, with pictures and graph."""
    folder = tmp_path_factory.mktemp("page") / "a day, #1 & more"
    pictures = write_pictures(((t, made_picture(t)) for t in range(60)), folder)
    same = np.equal.outer(COMMUNITIES, COMMUNITIES)
    write_page(
        made_day(), folder, thumbnails=pictures, graph=0.1 + 0.8 * same, communities=COMMUNITIES
    )
    return folder


@dataclass
class Visit:
    """An open page, and all it asked for and complained about."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen to the page from now on."""
        self._listeners = {
            "request": lambda request: self.requests.append(request.url),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "console": lambda message: self.complaints.append(f"{message.type}: {message.text}"),
        }
        for event, listener in self._listeners.items():
            self.page.on(event, listener)

    def end(self) -> None:
        """Stop listening."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def open(self, address: str) -> None:
        """Go to an address and wait until the page shows the edits that the browser has stored.

        What is folded away is opened.
        """
        self.page.goto(address)
        self.wait_until(RESTORED)
        self.page.evaluate(UNFOLD)

    def reload(self) -> None:
        """Load the page again and wait in the same way."""
        self.page.reload()
        self.wait_until(RESTORED)
        self.page.evaluate(UNFOLD)

    def names(self) -> list[str]:
        """The names of the rows; the number of those without one."""
        script = """rows => rows.map(row =>
            row.value || `Event ${Number(row.closest(".event").dataset.event) + 1}`)"""
        return self.page.locator(".event .name").evaluate_all(script)

    def spans(self) -> list[str]:
        """First frame's text of every row."""
        return self.page.locator(".event .from").all_inner_texts()

    def row(self, number: int) -> Any:
        return self.page.locator(".event").nth(number)

    def rename(self, number: int, name: str) -> None:
        """Type a name into a row, and Enter."""
        self.row(number).locator(".name").fill(name)
        self.row(number).locator(".name").press("Enter")

    def merge(self, number: int) -> None:
        """Merge an event with the one before."""
        self.row(number).locator("[data-action=merge]").click()

    def split(self, number: int, frame: int) -> None:
        """Begin a new event at a frame of this one."""
        self.row(number).locator("[data-action=split]").click()
        self.page.locator(f'#chooser [data-frame="{frame}"]').click()

    def move(self, number: int, frame: int) -> None:
        """Let an event begin at another frame."""
        self.row(number).locator("[data-action=move]").click()
        self.page.locator(f'#chooser [data-frame="{frame}"]').click()

    def steps(self, control: str, *keys: str) -> None:
        """Press keys in a control."""
        self.page.locator(control).focus()
        for key in keys:
            self.page.keyboard.press(key)

    def status(self) -> str:
        """What the bar says about the edits."""
        return self.page.locator("#status").inner_text()

    def notices(self) -> list[str]:
        """The messages above the bar."""
        return self.page.locator(".notice p").all_inner_texts()

    def answer(self, text: str) -> None:
        """Press a button of a message."""
        self.page.locator(".notice button", has_text=text).click()

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


class Window:
    """Tabs of one size and color scheme, offline, which share a storage."""

    def __init__(self, browser: Any, size: tuple[int, int], color_scheme: str) -> None:
        viewport = {"width": size[0], "height": size[1]}
        # Far from Greenwich: camera time must be shown as it is, wherever the reader sits.
        self.context = browser.new_context(
            viewport=viewport, color_scheme=color_scheme, timezone_id="Asia/Tokyo"
        )
        self.context.set_default_timeout(8000)
        self.context.set_offline(True)
        self.tabs: list[Any] = []
        self.visits: list[Visit] = []

    def visit(self, folder: Path) -> Visit:
        """Open a folder's page in a tab that no test uses."""
        visited = Visit(self.tabs.pop() if self.tabs else self.context.new_page())
        # Chromium runs the timers of a tab behind another one once a second.
        visited.page.bring_to_front()
        self.visits.append(visited)
        visited.open((folder / "index.html").as_uri())
        return visited

    def tidy(self, empty: Path) -> None:
        """Leave all pages and forget all edits, for the next test."""
        for visited in self.visits:
            visited.end()
            visited.page.goto(empty.as_uri())
            visited.page.mouse.move(0, 0)
            self.tabs.append(visited.page)
        if self.visits:
            self.tabs[-1].evaluate("localStorage.clear()")
        self.visits.clear()


@pytest.fixture(scope="session")
def windows(chromium: Any) -> Iterator[dict[Any, Window]]:
    """All windows by size and color scheme: opening one takes most of the time of a test."""
    made: dict[Any, Window] = {}
    yield made
    for window in made.values():
        window.context.close()


@pytest.fixture(scope="session")
def empty_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "index.html"
    path.write_text("<!doctype html><title>empty</title>")
    return path


@pytest.fixture
def visit(chromium: Any, windows: dict[Any, Window], empty_page: Path) -> Iterator[Any]:
    """Open a folder's page: visit(folder, width=..., color_scheme=...)."""

    def opened(
        folder: Path, *, width: int = 1280, height: int = 800, color_scheme: str = "light"
    ) -> Visit:
        screen = ((width, height), color_scheme)
        if screen not in windows:
            windows[screen] = Window(chromium, *screen)
        return windows[screen].visit(folder)

    yield opened
    for window in windows.values():
        window.tidy(empty_page)


@pytest.fixture
def visit_alone(chromium: Any) -> Iterator[Any]:
    """Open a folder's page in a window of its own, for tests that change more than a page."""
    windows = []

    def opened(folder: Path, *, color_scheme: str = "light") -> Visit:
        if not windows:
            windows.append(Window(chromium, (1280, 800), color_scheme))
        return windows[0].visit(folder)

    yield opened
    for window in windows:
        window.context.close()
