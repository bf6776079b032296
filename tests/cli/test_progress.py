from __future__ import annotations

import io

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dayline.cli.console import StepBar, progress_bar


def make_bar() -> tuple[StepBar, Progress]:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeRemainingColumn())
    drawn = Progress(*columns, console=console, transient=True)
    return StepBar(drawn), drawn


def test_the_bar_counts_and_starts_anew_with_work_of_another_length():
    bar, drawn = make_bar()
    bar("features", 30, 40)
    task = drawn.tasks[0]
    assert (task.description, task.completed, task.total) == ("features", 30, 40)
    began = task.start_time
    bar("features", 31, 40)
    assert task.start_time == began
    bar("embedding", 2, 5)
    assert (task.description, task.completed, task.total) == ("embedding", 2, 5)
    assert task.start_time > began
    bar.end()


def test_other_work_of_the_same_length_starts_anew():
    bar, drawn = make_bar()
    bar("features", 39, 40)
    task = drawn.tasks[0]
    began = task.start_time
    bar("pictures", 0, 40)
    assert (task.description, task.completed) == ("pictures", 0)
    assert task.start_time > began
    bar.end()


def test_a_line_is_printed_above_the_bar(capsys):
    bar, drawn = make_bar()
    drawn.start()
    bar("sequences", 1, 6)
    bar.echo("a.npy: 5 events")
    assert drawn.live.is_started
    bar.end()
    assert not drawn.live.is_started
    assert capsys.readouterr().out == "a.npy: 5 events\n"


def test_there_is_no_bar_without_a_terminal(capsys):
    with progress_bar(quiet=False, announcement="the result goes to x") as bar:
        assert capsys.readouterr().err == ""
        bar("features", 1, 2)
        bar("features", 2, 2)
    assert capsys.readouterr().err == "the result goes to x\n"
