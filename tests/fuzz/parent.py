"""Start children that read damaged files, and outlive them."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.oracle import Fault

__all__ = ["Found", "find_faults", "in_words"]

TESTS = Path(__file__).parents[1]
CHILD = (sys.executable, "-m", "fuzz.child")
SECONDS_EACH = 20.0
SECONDS_TO_START = 120.0


@dataclass(frozen=True)
class Found:
    """A fault, and the damaged file that showed it."""

    kind: str
    index: int
    how: str
    fault: Fault


def find_faults(kind: str, n_files: int, folder: Path) -> list[Found]:
    """Read damaged files 0 .. n_files-1 of a format; a new child goes on after a fatal one.

    Parameters
    ----------
    kind : str
        The format.
    n_files : int
        How many.
    folder : Path
        For the files, and for what children print.
    """
    found: list[Found] = []
    first = 0
    while first < n_files:
        begun, how = first - 1, ""
        with _Child(kind, first, n_files, folder) as child:
            for line in child.lines():
                if "begun" in line:
                    begun, how = line["begun"], line["how"]
                elif line["fault"] is not None:
                    found.append(Found(kind, begun, how, Fault(**line["fault"])))
                first = line.get("done", first - 1) + 1
            end = child.end()
        if first == n_files and end is None:
            break
        if begun < first:
            raise RuntimeError(f"the child for {kind} failed outside of a file: {child.printed()}")
        found.append(
            Found(
                kind,
                begun,
                how,
                end or Fault("signal", "the child ended without a word", child.printed()),
            )
        )
        first = begun + 1
    return found


class _Child:
    """A child process and the pipe on which it reports."""

    def __init__(self, kind: str, first: int, stop: int, folder: Path) -> None:
        self._output = folder / "output"
        self._late = False
        reading, writing = os.pipe()
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])
        }
        command = [*CHILD, kind, str(first), str(stop), str(folder), str(writing)]
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                command, stdout=output, stderr=output, pass_fds=[writing], env=environment
            )
        os.close(writing)
        self._pipe = reading

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._pipe)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield reports until the child ends or is late with one."""
        waiting, limit = b"", SECONDS_TO_START
        while True:
            if not select.select([self._pipe], [], [], limit)[0]:
                self._late = True
                self._process.kill()
                return
            received = os.read(self._pipe, 65536)
            if not received:
                return
            *whole, waiting = (waiting + received).split(b"\n")
            yield from map(json.loads, whole)
            limit = SECONDS_EACH

    def end(self) -> Fault | None:
        """Wait for the child; a fault unless it ended by itself."""
        code = self._process.wait()
        if self._late:
            return Fault("time", f"over {SECONDS_EACH:g} s", self.printed())
        if code < 0:
            return Fault("signal", signal.Signals(-code).name, self.printed())
        return None if code == 0 else Fault("signal", f"exit code {code}", self.printed())

    def printed(self) -> str:
        """Return the end of what the child printed."""
        return self._output.read_text(errors="replace")[-2000:]


def in_words(found: Sequence[Found]) -> str:
    """List faults by cause, each with one file that shows it and how to see it again."""
    by_cause: defaultdict[tuple[str, str], list[Found]] = defaultdict(list)
    for one in found:
        by_cause[one.fault.kind, one.fault.cause].append(one)
    lines = []
    for (kind, cause), all_of_it in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        one = all_of_it[0]
        lines += [
            f"{len(all_of_it)} x {kind}: {cause}",
            f"    such as: {one.how}",
            f"    gave: {one.fault.detail}",
            f"    again: PYTHONPATH=tests python -m fuzz.child {one.kind} {one.index}",
        ]
    return "\n".join(lines)
