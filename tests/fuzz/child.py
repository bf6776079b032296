"""Read damaged files of one format, one after the other, in a process that may die of it.

`python -m fuzz.child FORMAT INDEX` with tests/ on the path repeats one and says how it went.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from fuzz.mutations import SEED, damage
from fuzz.oracle import Fault, judge_answer, judge_error
from fuzz.readers import READERS, Reading, place_beside
from fuzz.samples import Sample, samples

__all__ = ["MOST_MEMORY", "damaged_file"]

MOST_MEMORY = 2**30
ADDRESSES = 8 * 2**30
"""Libraries reserve addresses that they never use, so this limit only keeps the machine from
harm."""


@dataclass(frozen=True)
class DamagedFile:
    """One damaged file, the sample it was made of, and whether its checksums still tell."""

    data: bytes
    how: str
    sample: int
    checked: bool


def damaged_file(kind: str, index: int, wholes: Sequence[Sample]) -> DamagedFile:
    """Make damaged file number `index` of a format."""
    random = Random(f"{SEED} {kind} {index}")
    number = random.randrange(len(wholes))
    sample = wholes[number]
    if sample.seal is None or random.random() < 0.5:
        damaged = damage(sample.data, random, hot=sample.hot)
        return DamagedFile(damaged.data, damaged.how, number, sample.checked)
    parts = sample.seal.parts(sample.data)
    at = random.choice((0, random.choice([k for k, part in enumerate(parts) if part])))
    damaged = damage(parts[at], random)
    parts[at] = damaged.data
    how = f"part {at}: {damaged.how}; checksums made anew"
    return DamagedFile(sample.seal.close(sample.data, parts), how, number, checked=False)


def check(kind: str, damaged: DamagedFile, whole: Reading, path: Path) -> Fault | None:
    """Read one damaged file and judge the answer, and the memory it took."""
    path.write_bytes(damaged.data)
    _reset_peak()
    try:
        reading = READERS[kind](path)
    except Exception as error:
        fault = judge_error(error, path)
    else:
        fault = judge_answer(whole, reading, kind=kind, checked=damaged.checked)
    peak = _peak()
    if peak > MOST_MEMORY:
        _, _, used = (fault.cause if fault else "").partition(" at ")
        return Fault("memory", f"over {MOST_MEMORY >> 20} MB {used}", f"{peak >> 20} MB")
    return fault


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """Return the most memory used since the last reset, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _work(kind: str, indices: range, folder: Path, report: int) -> None:
    """Check files, with a line before and after each: the parent knows which one was fatal."""
    wholes = samples(kind)
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
        damaged = damaged_file(kind, index, wholes)
        os.write(report, (json.dumps({"begun": index, "how": damaged.how}) + "\n").encode())
        fault = check(kind, damaged, answers[damaged.sample], path)
        os.write(
            report, (json.dumps({"done": index, "fault": fault and asdict(fault)}) + "\n").encode()
        )


def main(arguments: Sequence[str]) -> None:
    """Check one file and print, or a range of them for a parent process."""
    kind, first = arguments[0], int(arguments[1])
    if len(arguments) == 2:
        with tempfile.TemporaryDirectory() as folder:
            _work(kind, range(first, first + 1), Path(folder), sys.stdout.fileno())
    else:
        _work(kind, range(first, int(arguments[2])), Path(arguments[3]), int(arguments[4]))


if __name__ == "__main__":
    main(sys.argv[1:])
