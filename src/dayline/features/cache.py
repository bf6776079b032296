"""Keep networks that are built once in the user's cache folder."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dayline.files import UNFINISHED, remove_unfinished, write_text_whole, writing_whole

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


def cached_files(folder: Path) -> list[Path]:
    """Return the files that dayline keeps in a cache folder, and unfinished ones that a killed run left there.

    Files of others are not among them: a file counts only with the file of its hash, which
    `kept_in_cache` writes.

    Parameters
    ----------
    folder : Path
        The cache folder; it may not exist.
    """
    try:
        names = {path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink()}
    except FileNotFoundError:
        return []
    kept = {name for name in names if f"{name}.sha256" in names}
    mine = (
        kept
        | {f"{name}.sha256" for name in kept}
        | {name for name in names if UNFINISHED.fullmatch(name)}
    )
    return [folder / name for name in sorted(mine)]


def free_cache(folder: Path) -> int:
    """Remove what dayline keeps in a cache folder, and the folder if it is then empty; return the bytes freed.

    Parameters
    ----------
    folder : Path
        The cache folder; it may not exist. All that is removed is built again when it is needed.
    """
    freed = 0
    for path in cached_files(folder):
        size = path.stat().st_size
        path.unlink()
        freed += size
    # Files of others keep the folder, and so does a folder that is not there.
    with suppress(OSError):
        folder.rmdir()
    return freed
