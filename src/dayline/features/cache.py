"""Keep networks that are built once in the user's cache folder."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

from dayline.io.files import remove_unfinished, write_text_whole, writing_whole

__all__ = ["cache_folder", "kept_in_cache"]

_log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Return the system's folder for cached files; it may not exist yet."""
    from platformdirs import user_cache_path

    return user_cache_path("dayline", appauthor=False)


def kept_in_cache(name: str, build: Callable[[], bytes], *, folder: Path | None = None) -> bytes:
    """Return the cached bytes called `name`; build them if they are missing or damaged.

    Parameters
    ----------
    name : str
        File name; must change whenever the result of `build` changes.
    build : function
        Builds the bytes. If the cache folder is not writable, they are built every time.
    folder : Path, optional
        Cache folder; the user's if not given.
    """
    file = (folder or cache_folder()) / name
    digest_file = file.with_name(f"{name}.sha256")
    try:
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() == digest_file.read_text("ascii").strip():
            return content
        _log.warning("%s does not match its hash; rebuilding it", file)
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        _log.warning("%s cannot be used (%s); rebuilding it", file, error)
    content = build()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Other processes may be writing here now, but not for a whole day.
        remove_unfinished(file.parent, older_than=86_400)
        with writing_whole(file, "wb") as out:
            out.write(content)
        write_text_whole(digest_file, hashlib.sha256(content).hexdigest() + "\n")
    except OSError as error:
        _log.warning("%s cannot be written (%s); it will be rebuilt next time", file, error)
    return content
