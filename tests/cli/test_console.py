"""The table of events in terminals of any width and in pipes, and the progress bar."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from rich.cells import cell_len

from dayline.cli.console import one_line, print_events, progress_bar
from dayline.events import Place, Segmentation, Shot

MORNING = 1_689_321_600.0  # 2023-07-14 08:00
NAMES = (
    "breakfast with grandmother and everybody who came along",
    "朝食の時間はとても長い名前です" * 2,
    None,
    "lunch",
)


def made_days(*, gap: float = 3000.0, names=(None,) * 4, **about) -> Segmentation:
    times = tuple((MORNING + gap * np.arange(60)).tolist())
    communities = [3] * 10 + [1] * 15 + [3] * 15 + [2] * 20
    about = {"times": times, "clock": "wall", **about}
    made = Segmentation.from_boundaries([10, 25, 40], 60, communities=communities, **about)
    confidences = (None, 0.5, 0.75, 1.0)
    events = (
        replace(e, name=n, confidence=c)
        for e, n, c in zip(made.events, names, confidences, strict=True)
    )
    return made.about(events=tuple(events))


def printed(
    segmentation: Segmentation, *, columns: int | None = 80, encoding: str = "utf-8"
) -> list[str]:
    written = io.BytesIO()
    out = io.TextIOWrapper(
        written, encoding=encoding, errors="backslashreplace", write_through=True
    )
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"} | {"NO_COLOR": "1"}
    if columns is not None:
        environment["COLUMNS"] = str(columns)
    with patch.object(sys, "stdout", out), patch.dict(os.environ, environment, clear=True):
        print_events(segmentation)
    return written.getvalue().decode(encoding).splitlines()


def test_several_days_have_dates():
    lines = printed(made_days())
    assert lines[1].split() == ["event", "frames", "from", "to", "confidence", "context"]
    assert lines[2].split()[:5] == ["1", "10", "2023-07-14", "08:00:00", "2023-07-14"]
    assert lines[3].split()[2:6] == ["2023-07-14", "16:20:00", "2023-07-15", "04:00:00"]
    assert lines[-1] == "4 events in 60 frames, 2023-07-14 08:00 to 2023-07-16 09:10"


def test_one_day_has_its_date_in_the_last_line_alone():
    lines = printed(made_days(gap=60.0))
    assert lines[2].split() == ["1", "0", "10", "10", "8:00:00", "8:09:00", "start", "A"]
    assert lines[-1] == "4 events in 60 frames, 2023-07-14 08:00 to 08:59"
    times = tuple(float(t) for t in range(60))
    assert (
        printed(made_days(times=times, clock="media"))[-1]
        == "4 events in 60 frames, 0:00:00 to 0:00:59"
    )
    shots = (Shot(0, 1500, 0.0, 59.96),)
    film = made_days(times=times, clock="media", shots=shots)
    assert printed(film)[-1] == "4 events in 60 of 1500 frames, 0:00:00 to 0:00:59"
    assert printed(made_days(times=None, clock=None))[-1] == "4 events in 60 frames"


@pytest.mark.parametrize("columns", [120, 100, 80, 60, 55])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_no_line_is_wider_than_the_terminal_and_names_are_shortened(columns, encoding):
    days = made_days(names=NAMES[:1] + NAMES[2:] + NAMES[2:3], gap=60.0)
    lines = printed(days, columns=columns, encoding=encoding)
    assert len(lines) == 1 + 1 + 4 + 1
    assert max(cell_len(line) for line in lines[:-1]) <= columns
    assert lines[1].split()[-1] == "name"
    assert "breakfast" in lines[2]
    assert lines[2].rstrip().endswith("…")
    assert lines[4].rstrip().endswith("lunch")


def test_a_terminal_of_80_columns_keeps_times_and_contexts_beside_names():
    assert printed(made_days(names=NAMES))[1].split() == ["event", "from", "to", "context", "name"]


def test_a_pipe_gets_every_column_and_whole_names():
    lines = printed(made_days(names=NAMES), columns=None)
    assert lines[1].split() == [
        "event", "start", "stop", "frames", "from", "to", "confidence", "reason", "context", "name",
    ]  # fmt: skip
    assert lines[2].rstrip().endswith(NAMES[0])
    assert lines[3].rstrip().endswith(NAMES[1])


def test_contexts_have_the_names_of_their_places():
    lines = printed(made_days(gap=60.0, places=(Place(3, "kitchen"), Place(1, None))))
    # Contexts that occur once have no letter.
    assert [line.split()[-1] for line in lines[2:6]] == ["kitchen", "content", "kitchen", "content"]


def test_names_cannot_send_commands_to_the_terminal():
    lines = printed(
        made_days(gap=60.0, names=("\x1b[31mred\x1b]0;title\x07\nnew line", None, None, None))
    )
    assert "\x1b" not in "".join(lines)
    assert "  [31mred]0;title " in lines[2]


def test_a_clock_that_nobody_believes_is_printed_all_the_same():
    printed(made_days(times=(1e300,) * 60))
    printed(made_days(times=tuple(-30.0 + t for t in range(60)), clock=None))


@pytest.mark.parametrize("is_shared", [True, False])
def test_lines_are_printed_above_the_bar_or_go_where_they_are_sent(is_shared, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out, screen = (Terminal() if is_shared else io.StringIO()), Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(quiet=False) as step:
        step("features", 30, 40)
        print("a.npy: 5 events")
        step("pictures", 0, 40)
    assert "pictures" in screen.getvalue()
    assert " 0/40" in screen.getvalue()
    assert ("a.npy: 5 events\n" in screen.getvalue()) == is_shared
    assert out.getvalue() == ("" if is_shared else "a.npy: 5 events\n")


def test_there_is_no_bar_without_a_terminal(capsys):
    with progress_bar(quiet=False) as step:
        step("features", 1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("n_events=3 is not possible", "--n-events 3 is not possible"),
        ("kind='films' is not known", "--kind films is not known"),
        (
            'device="cuda" needs PyTorch; use device="cpu"',
            "--device cuda needs PyTorch; use --device cpu",
        ),
        ("expected_duration=nan; it must", "--expected-duration nan; it must"),
        ('pass missing="interpolate"', 'pass missing="interpolate"'),
    ],
)
def test_parameters_are_named_as_the_options_that_set_them(message, line):
    assert one_line(ValueError(message)) == line
