"""What a shell asks when it completes a command."""

from __future__ import annotations

import pytest

from cli.run_command import run


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("dayline", "seg"), ["segment"]),
        (("dayline", "segment", "photos", "--export", "webv"), ["webvtt"]),
        (("dayline", "segment", "photos", "--model", "color"), ["color", "color-lab"]),
        (("dayline", "batch", "photos", "--device", "c"), ["cpu", "cuda"]),
        (("dayline", "export", "events.json", "--format", "yout"), ["youtube"]),
    ],
)
def test_commands_options_and_values_are_completed(words, expected, monkeypatch):
    monkeypatch.setenv("_DAYLINE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    done = run()
    assert (done.returncode, done.stdout.split()) == (0, expected)
