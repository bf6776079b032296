"""Read damaged files of one format, in a process that may die of it.

`python -m fuzz.run FORMAT INDEX` with tests/ on the path repeats one and says how it went.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random

from fuzz.containers import damage_to_parts, parts
from fuzz.mutations import SEED, damage
from fuzz.oracle import Fault, judge_answer, judge_error
from fuzz.readers import READERS, Reading, place_beside
from fuzz.samples import Sample, samples

TESTS = Path(__file__).parents[1]
CHILD = (sys.executable, "-m", "fuzz.run")
SECONDS_EACH = 20.0
MOST_MEMORY = 2**30
ADDRESSES = 8 * 2**30
"""Libraries reserve addresses that they never use, so this limit only keeps the machine from
harm."""

Found = tuple[int, str, Fault]
"""Number of a damaged file, how it was damaged, and what went wrong."""


def find_faults(kind: str, n_files: int, folder: Path) -> list[Found]:
    """Read damaged files 0 .. n_files-1 of a format; a new child goes on after a fatal one.

    Parameters
    ----------
    kind : str
        The format.
    n_files : int
        How many.
    folder : Path
        For the files, and for what children report: faults, and the file that is being read.
    """
    faults, begun = folder / "faults", folder / "begun"
    found: list[Found] = []
    first = 0
    while first < n_files:
        faults.write_text("")
        begun.unlink(missing_ok=True)
        done = subprocess.run(
            [*CHILD, kind, str(first), str(n_files), str(folder)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])},
            capture_output=True,
            text=True,
            errors="replace",
        )
        for line in faults.read_text().splitlines():
            index, how, fault = json.loads(line)
            found.append((index, how, Fault(*fault)))
        if done.stdout:
            raise RuntimeError(f"reading {kind} files prints: {done.stdout[:2000]}")
        if done.returncode == 0:
            break
        if not begun.exists():
            raise RuntimeError(f"the child for {kind} failed before a file: {done.stderr}")

        index, how = json.loads(begun.read_text())
        cause = f"exit code {done.returncode}"
        if done.returncode < 0:
            cause = signal.Signals(-done.returncode).name
        elif "Timeout" in done.stderr:
            cause = f"over {SECONDS_EACH:g} s"
        found.append((index, how, Fault("died", cause, done.stderr[-2000:])))
        first = index + 1
    return found


def in_words(kind: str, found: Sequence[Found]) -> str:
    """List faults by cause, each with one file that shows it and how to see it again."""
    by_cause: defaultdict[tuple[str, str], list[Found]] = defaultdict(list)
    for one in found:
        by_cause[one[2].kind, one[2].cause].append(one)
    lines = []
    for (what, cause), all_of_it in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        index, how, fault = all_of_it[0]
        lines += [
            f"{len(all_of_it)} x {what}: {cause}",
            f"    such as: {how}",
            f"    gave: {fault.detail}",
            f"    again: PYTHONPATH=tests python -m fuzz.run {kind} {index}",
        ]
    return "\n".join(lines)


def damaged_file(
    kind: str, index: int, wholes: Sequence[Sample], lost_parts: Sequence[tuple[bytes, str, int]]
) -> tuple[bytes, str, int]:
    """Return the bytes of a damaged file, how they were damaged, and the number of the sample."""
    if index % 2 == 0 and index // 2 < len(lost_parts):
        return lost_parts[index // 2]
    random = Random(f"{SEED} {kind} {index}")
    number = random.randrange(len(wholes))
    return *damage(wholes[number].data, random, hot=wholes[number].hot), number


def without_parts(kind: str, wholes: Sequence[Sample]) -> list[tuple[bytes, str, int]]:
    """Return all files that lost whole parts, in an order in which the first are of every sort."""
    damaged = [
        (data, how, number)
        for number, whole in enumerate(wholes)
        for data, how in damage_to_parts(whole.data, parts(whole.data, kind))
    ]
    Random(SEED).shuffle(damaged)
    return damaged


def check(kind: str, path: Path, whole: Reading, *, checked: bool) -> Fault | None:
    """Read a damaged file and judge the answer, and the memory it took."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    try:
        reading = READERS[kind](path)
    except Exception as error:
        fault = judge_error(error, path)
    else:
        fault = judge_answer(whole, reading, kind=kind, checked=checked)

    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    if peak > MOST_MEMORY:
        return Fault("memory", f"over {MOST_MEMORY >> 20} MB", f"{peak >> 20} MB")
    return fault


def read_damaged(kind: str, indices: range, folder: Path) -> None:
    """Check damaged files; a process that takes too long over one ends itself."""
    wholes = samples(kind)
    lost_parts = without_parts(kind, wholes)
    source = folder / "source"
    source.mkdir(exist_ok=True)
    path = source / f"b.{kind}"
    place_beside(path)
    answers = []
    for sample in wholes:
        path.write_bytes(sample.data)
        answers.append(READERS[kind](path))

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for index in indices:
        data, how, number = damaged_file(kind, index, wholes, lost_parts)
        path.write_bytes(data)
        (folder / "begun").write_text(json.dumps([index, how]))
        faulthandler.dump_traceback_later(SECONDS_EACH, exit=True)
        fault = check(kind, path, answers[number], checked=wholes[number].checked)
        faulthandler.cancel_dump_traceback_later()
        if fault is not None:
            with (folder / "faults").open("a") as file:
                file.write(json.dumps([index, how, fault]) + "\n")


def main(arguments: Sequence[str]) -> None:
    """Check one file and print, or a range of them for a parent process."""
    kind, first = arguments[0], int(arguments[1])
    if len(arguments) > 2:
        read_damaged(kind, range(first, int(arguments[2])), Path(arguments[3]))
        return
    with tempfile.TemporaryDirectory() as folder:
        read_damaged(kind, range(first, first + 1), Path(folder))
        faults = Path(folder) / "faults"
        print(faults.read_text() if faults.exists() else "no fault")


if __name__ == "__main__":
    main(sys.argv[1:])
