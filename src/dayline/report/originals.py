"""Addresses of the original files, relative to the page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

__all__ = ["relative_addresses"]


def relative_addresses(files: Sequence[Path], folder: Path) -> list[str | None]:
    """Return the URLs of files relative to a page in `folder`; None for a file whose address must not be written.

    An address names the folders between the file and the page. It must not say whose computer this is: there is none
    if only the root of the disk, or a folder above the user's own, contains both.

    Parameters
    ----------
    files : sequence of Path
        The files. They are not read, and links among them are not followed.
    folder : Path
        The folder of the page.
    """
    page, home = folder.resolve(), _home()
    folders = {parent: parent.resolve() for parent in {file.parent for file in files}}
    return [_address(folders[file.parent] / file.name, page, home) for file in files]


def _address(path: Path, page: Path, home: Path | None) -> str | None:
    try:
        shared = Path(os.path.commonpath([path, page]))
    except ValueError:  # two drives of Windows
        return None
    if shared == Path(shared.anchor) or (home is not None and shared != home and home.is_relative_to(shared)):
        return None
    return quote(os.fsencode(Path(os.path.relpath(path, page)).as_posix()))


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except RuntimeError:  # a user without one
        return None
