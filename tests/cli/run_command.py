"""Run a command of dayline in this process, which saves loading all libraries anew."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from dayline.cli import main

ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, cwd: Path | None = None) -> Done:
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        patch.object(sys, "argv", ["dayline", *map(str, arguments)]),
        patch.dict(os.environ, ENVIRONMENT),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def segmented(*arguments: object) -> Done:
    """Segment photos by their colors, which the made ones differ in; it must succeed."""
    done = run("segment", "--model", "color", *arguments)
    assert done.returncode == 0, done.stderr
    return done


def contents(folder: Path) -> dict[str, bytes]:
    """All files in a folder, by their paths in it."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def run_process(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run it as a user does, where that makes a difference: warnings, imports, signals."""
    command = [sys.executable, "-c", "from dayline.cli import main; main()", *map(str, arguments)]
    environment = os.environ | ENVIRONMENT
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=environment, check=False
    )
