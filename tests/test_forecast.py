from __future__ import annotations

import json

import pytest

from dayline import forecast as module
from dayline.forecast import (
    DENSE_SECONDS,
    LINEAR_FROM,
    LINEAR_SECONDS,
    forecast,
    made_features,
    needed_memory,
)


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Forecasts of a machine that is three times as slow; counts how often that is measured."""
    counts = []

    def slow() -> float:
        counts.append(1)
        return 3.0

    monkeypatch.setattr(module, "_measured_slowness", slow)
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache")
    module._slowness.cache_clear()
    yield counts
    module._slowness.cache_clear()


def test_dense_methods_grow_with_the_square_and_others_do_so_up_to_a_length(measured):
    for n_frames in (20_000, 40_000):
        assert forecast(n_frames, 8, "paper").bytes == pytest.approx(80 * n_frames**2, rel=0.01)
        assert forecast(n_frames, 8).bytes == n_frames * (8 * 32 + 15_000)
    assert forecast(40_000, 8).seconds == pytest.approx(2 * forecast(20_000, 8).seconds)
    assert forecast(40_000, 8, "paper").seconds == pytest.approx(
        4 * forecast(20_000, 8, "paper").seconds, rel=0.05
    )
    below, above = (forecast(LINEAR_FROM["default"] + step, 8) for step in (-1, 0))
    assert below.bytes == pytest.approx(80 * LINEAR_FROM["default"] ** 2, rel=0.1)
    assert above.bytes < below.bytes


def test_long_work_is_scaled_to_this_machine_which_is_measured_once(measured, tmp_path):
    short, long = forecast(100, 8), forecast(10_000, 8)
    assert short.seconds == pytest.approx(DENSE_SECONDS["default"].at(100, 8))
    assert long.seconds == pytest.approx(3 * LINEAR_SECONDS["default"].at(10_000, 8))
    forecast(20_000, 8, "paper")
    module._slowness.cache_clear()  # as in the next process
    forecast(20_000, 8)
    assert len(measured) == 1
    (stored,) = (tmp_path / "cache").glob("forecast-*.json")
    assert json.loads(stored.read_text()) == {"slowness": 3.0}


def test_a_cache_that_cannot_be_used_does_no_harm(measured, tmp_path, monkeypatch, caplog):
    (tmp_path / "cache").write_text("a file, where the folder should be")
    assert forecast(10_000, 8).seconds == pytest.approx(3 * LINEAR_SECONDS["default"].at(10_000, 8))
    assert "cannot be written" in caplog.text

    def missing() -> None:
        raise ModuleNotFoundError(name="platformdirs")

    monkeypatch.setattr(module, "cache_folder", missing)
    module._slowness.cache_clear()
    assert forecast(10_000, 8).seconds is not None
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(module, "kept_in_cache", lambda *_, **__: b"[]")
    module._slowness.cache_clear()
    assert forecast(10_000, 8).seconds is not None
    assert "measuring again" in caplog.text


def test_baselines_have_no_time_but_memory(measured):
    assert forecast(10_000, 8, "kts").seconds is None
    assert needed_memory(forecast(1000, 8, "kts")) > 250_000_000 + 80 * 1000**2
    assert measured == []


def test_the_trial_takes_a_positive_time_and_its_features_have_their_shape():
    assert made_features(70, 5).shape == (70, 5)
    assert 0.01 < module._measured_slowness() < 100
