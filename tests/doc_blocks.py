"""The code blocks of Markdown pages, with what is said about running them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
FENCE = re.compile(r"^( *)```(\w*)")
ITEM = re.compile(r"^ *([-*]|\d+\.) ")


@dataclass(frozen=True)
class Block:
    """One block of code: its page, line, language ("" if indented), text, and why it is not run, if so."""

    page: str
    line: int
    language: str
    text: str
    not_run: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_commands(self) -> bool:
        return self.language in ("", "bash", "console")

    def commands(self) -> list[list[str]]:
        """The words of each command, without comments."""
        return [
            words for line in self.text.splitlines() if (words := shlex.split(line, comments=True))
        ]


def pages() -> list[Path]:
    """All pages but those of the gallery, which are made by scripts that have tests of their own."""
    above = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    below = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "gallery" not in path.parts]
    return above + below


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks_of(path: Path) -> list[Block]:
    """Fenced blocks, and indented ones; in a list, a block is indented by six or more."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    k, reason, depth = 0, "", 4
    while k < len(lines):
        line, before = lines[k], lines[k - 1] if k else ""
        if match := NOT_RUN.fullmatch(line.strip()):
            reason = match[1]
        elif match := FENCE.match(line):
            stop = next(i for i in range(k + 1, len(lines)) if lines[i].strip() == "```")
            text = "\n".join(one[len(match[1]) :] for one in lines[k + 1 : stop])
            found.append(Block(name_of(path), k + 1, match[2] or "text", text, reason))
            k, reason = stop, ""
        elif line.strip() and not before.strip() and len(line) - len(line.lstrip()) >= depth:
            stop = next(
                (
                    i
                    for i in range(k, len(lines))
                    if lines[i].strip() and not lines[i].startswith("    ")
                ),
                len(lines),
            )
            text = "\n".join(one.strip() for one in lines[k:stop]).strip().replace("\\\n", "")
            found.append(Block(name_of(path), k + 1, "", text, reason))
            k, reason = stop - 1, ""
        elif line.strip():
            reason = ""
            if ITEM.match(line):
                depth = 6
            elif not line.startswith(" "):
                depth = 4
        k += 1
    return found


BLOCKS = {name_of(path): blocks_of(path) for path in pages()}
