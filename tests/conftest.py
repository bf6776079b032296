"""What every test may use: both array libraries, and the shared data where it is."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import array_api_compat
import numpy as np
import pytest
from hypothesis import settings

from browser import ARGUMENTS, CHROMIUM

ROOT = Path(__file__).parents[1]

# Damaged files are read by a child whose memory is measured in /proc, which only Linux has.
collect_ignore = [] if Path("/proc/self").exists() else ["fuzz"]

# A busy machine is no failure; nothing here tests how long a thing takes.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


# A shell without job control starts its background with Ctrl-C ignored; tests send it to commands.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def shared_data() -> Path:
    return Path(os.environ.get("DAYLINE_SHARED", ROOT.parent / "shared")) / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    if not shared_data().is_dir():
        pytest.skip("the shared data are not beside this checkout")
    return shared_data()


@pytest.fixture(scope="session")
def authors_run(shared: Path) -> dict[str, np.ndarray]:
    with np.load(shared / "authors_run.npz") as content:
        return {name: content[name] for name in content.files}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what opens a page in Chromium."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One for all tests: Playwright cannot be started twice in a process."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (make chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(params=["numpy", "torch"])
def xp(request: pytest.FixtureRequest) -> Any:
    """The array library under test."""
    library = pytest.importorskip(request.param)
    example = library.asarray([0.0]) if request.param == "numpy" else library.tensor([0.0])
    return array_api_compat.array_namespace(example)


@pytest.fixture
def assert_close() -> Callable[..., None]:
    def check(actual: Any, expected: Any, **tolerances: float) -> None:
        np.testing.assert_allclose(
            np.asarray(actual), np.asarray(expected), **({"rtol": 1e-7, "atol": 1e-12} | tolerances)
        )

    return check


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)
