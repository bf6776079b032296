"""Completion in the shells that are installed here, as `--install-completion` sets it up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.run_command import run

SETUPS = {
    "bash": ".bash_completions/dayline.sh",
    "zsh": ".zfunc/_dayline",
    "fish": ".config/fish/completions/dayline.fish",
}
WORDS = [
    (("dayline", "segment", "photos", "--expo"), "--export"),
    (("dayline", "segment", "photos", "--method", "fas"), "fast"),
]


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


def run_shell(shell: str, code: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a shell whose home is `home`, with the command on its path."""
    commands = home / "bin"
    commands.mkdir(exist_ok=True)
    command = commands / "dayline"
    command.write_text(f"#!{sys.executable}\nfrom dayline.cli import main\nmain()\n")
    command.chmod(0o755)
    paths = os.pathsep.join([str(commands), os.environ.get("PATH", "")])
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "LANG") if name in os.environ}
    environment = {**kept, "HOME": str(home), "PATH": paths, "TERM": "dumb"}
    return subprocess.run(
        [shell, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        cwd=home,
        check=False,
        timeout=120,
    )


@pytest.mark.slow
@pytest.mark.parametrize("shell", SETUPS)
def test_a_shell_completes_once_it_is_set_up(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    # The second command keeps the shell from handing over its process, by which Typer recognizes
    # it.
    done = run_shell(shell, "dayline --install-completion; true", tmp_path)
    assert (tmp_path / SETUPS[shell]).is_file(), done.stderr
    if shell == "bash":
        calls = [
            f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _dayline_completion"
            ' dayline; echo "${COMPREPLY[@]}"'
            for words, _ in WORDS
        ]
        code = "\n".join([f"source {SETUPS[shell]}", *calls])
    elif shell == "fish":
        code = "\n".join(f"complete -C '{' '.join(words)}'" for words, _ in WORDS)
    else:
        # Completion itself needs a terminal; this asks what zsh would be told.
        calls = [
            f"_TYPER_COMPLETE_ARGS='{' '.join(words)}' _DAYLINE_COMPLETE=complete_zsh dayline"
            for words, _ in WORDS
        ]
        code = "\n".join(
            ["grep -q _DAYLINE_COMPLETE=complete_zsh .zfunc/_dayline || exit 1", *calls]
        )
    done = run_shell(shell, code, tmp_path)
    assert done.returncode == 0, done.stderr
    answers = [line for line in done.stdout.splitlines() if line.strip()]
    assert len(answers) == len(WORDS), done.stdout
    for answer, (words, expected) in zip(answers, WORDS, strict=True):
        assert expected in answer, words
