"""Networks built once and kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from dayline.io.files import remove_unfinished, write_text_whole, writing_whole

__all__ = ["cache_folder", "kept_in_cache"]

_log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Return where this system keeps files that can be made again; the folder may not exist yet."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]) / "dayline"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "dayline" / "cache"
    home = Path(os.environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - Path.home() may raise
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "dayline"


def kept_in_cache(name: str, build: Callable[[], bytes], *, folder: Path | None = None) -> bytes:
    """Return the bytes kept under `name`, building them if they are missing or damaged.

    Parameters
    ----------
    name : str
        File name; must change whenever the result of `build` would.
    build : function
        Makes the bytes. A cache folder that cannot be written costs time, not the result.
    folder : Path, optional
        Where to keep them; the user's cache folder if not given.
    """
    file = (folder or cache_folder()) / name
    digest_file = file.with_name(f"{name}.sha256")
    try:
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() == digest_file.read_text("ascii").strip():
            return content
        _log.warning("%s does not match its hash; it is built again", file)
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        _log.warning("%s cannot be used (%s); it is built again", file, error)
    content = build()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Other processes may be writing here right now, but not for a day.
        remove_unfinished(file.parent, older_than=86_400)
        with writing_whole(file, "wb") as out:
            out.write(content)
        write_text_whole(digest_file, hashlib.sha256(content).hexdigest() + "\n")
    except OSError as error:
        _log.warning("%s cannot be kept (%s); it will be built again next time", file, error)
    return content
