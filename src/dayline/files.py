"""Write files atomically; read untrusted files, and check their JSON."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import IO, Any, TypeAlias

UNFINISHED = re.compile(r"\.dayline-.*-[a-z0-9_]{8}\.part")
"""Names of unfinished files and folders: still being written, or left behind by a killed run."""

BeforeReplacing: TypeAlias = Callable[[Path, Path], None]
"""Called with the path to be replaced and the file that replaces it; may raise to prevent it."""

_watched: dict[Path, BeforeReplacing] = {}


@contextmanager
def writing_whole(path: str | Path, mode: str = "w", *, durable: bool = True) -> Iterator[IO[Any]]:
    """Open a temporary file that replaces `path` only if the block succeeds.

    A link at `path` is replaced, not followed.

    Parameters
    ----------
    path : str or Path
        The file to write. Its folder must exist.
    mode : {"w", "wb"}
        Text (UTF-8, line feeds) or bytes.
    durable : bool
        Wait until the content is on disk, so that a power cut leaves either the old or the new
        file. Not needed for files that are checked and rebuilt if damaged.
    """
    path = Path(path)
    if path.is_dir() and not path.is_symlink():
        raise ValueError(f"{path}: a folder is in the way of a file; move or remove it")

    encoding, newline = (None, None) if "b" in mode else ("utf-8", "")
    try:
        handle, temporary = tempfile.mkstemp(
            prefix=_prefix(path.name), suffix=".part", dir=path.parent
        )
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None

    try:
        with open(handle, mode, encoding=encoding, newline=newline) as file:  # noqa: PTH123
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        # mkstemp creates files that only the owner can read; results are meant to be shared.
        os.chmod(temporary, 0o666 & ~_umask())  # noqa: PTH101
        watcher = _watched.get(path.parent.resolve())
        if watcher is not None:
            watcher(path, Path(temporary))
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            # The error for a full disk does not name the file.
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


@contextmanager
def before_replacing(folder: Path, watcher: BeforeReplacing) -> Iterator[None]:
    """Call `watcher` before any file directly in `folder` is replaced by `writing_whole`.

    An output folder uses this to protect files that dayline did not write.
    """
    place = folder.resolve()
    _watched[place] = watcher
    try:
        yield
    finally:
        del _watched[place]


def write_text_whole(path: str | Path, text: str) -> None:
    """Write a text file so that readers see either the old or the new content, never a part."""
    with writing_whole(path) as file:
        file.write(text)


def file_digest(path: Path) -> str:
    """Return a hash of the content of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def temporary_folder(folder: Path, name: str) -> Path:
    """Create a hidden folder in `folder` for preparing `name`."""
    return Path(tempfile.mkdtemp(prefix=_prefix(name), suffix=".part", dir=folder))


def remove_unfinished(folder: Path) -> None:
    """Remove unfinished files that killed runs left in a folder, unless it is missing or a link."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in [path for path in folder.iterdir() if UNFINISHED.fullmatch(path.name)]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _prefix(name: str) -> str:
    return f".dayline-{name[:40]}-"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def open_no_follow(path: Path, flags: int) -> int:
    """Open a file like os.open, but raise ValueError if it is a link."""
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise ValueError(f"{path}: is a link to another place; remove it") from None
        raise


def read_no_follow(path: Path, *, most: int | None = None) -> bytes | None:
    """Read a regular file of at most so many bytes; None if it is missing."""
    try:
        # Opening a pipe would block forever; for a regular file the flag has no effect.
        handle = open_no_follow(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    # Before os.fdopen, which refuses a folder with an error that names the number of the handle.
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise ValueError(f"{path}: is not a regular file; remove it")
    if most is not None and about.st_size > most:
        os.close(handle)
        raise ValueError(f"larger than {_size(most)}")
    with os.fdopen(handle, "rb") as file:
        return file.read()


def refuse_link(path: Path) -> None:
    """Raise ValueError if a result folder is a link, which would lead elsewhere."""
    if path.is_symlink():
        raise ValueError(
            f"{path}: is a link to another place; remove it: results must stay inside their folder"
        )


ALWAYS_ALLOWED = 256 * 2**20
"""Bytes of memory that the content of any file may take, however small the file is."""

LARGEST_EXPANSION = 16
"""Above that, content may take this many times the file size; features compress 2 to 3 times."""


class UnreadableFileError(ValueError):
    """A file that cannot be used; the message is one line that names the file."""


@contextmanager
def reading(name: str | PurePath, kind: str) -> Iterator[None]:
    """Turn any exception that a library raises on a damaged file into a one-line error.

    Wrap only the library calls: a bug in dayline inside the block would be reported as damage.
    Checks in the block raise `UnreadableFileError`, which passes unchanged.

    Parameters
    ----------
    name : str or PurePath
        Name of the file in the message.
    kind : str
        What the file should be, with an article: "a NumPy file".
    """
    try:
        yield
    except UnreadableFileError:
        raise
    except MemoryError as error:
        raise UnreadableFileError(f"{name}: not enough memory to read it") from error
    except OSError as error:
        reason = _first_line(error.strerror or str(error)) or type(error).__name__
        raise UnreadableFileError(f"{name}: cannot be read as {kind}: {reason}") from error
    # Libraries raise anything on damaged files: their own types, struct.error, AssertionError,
    # RecursionError, ...
    except Exception as error:
        reason = _first_line(str(error)) or type(error).__name__
        raise UnreadableFileError(f"{name}: damaged, or not {kind} ({reason})") from error


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 200 else f"{line[:197]}..."


def allowed_bytes(file_size: int) -> int:
    """Return how many bytes of memory the content of a file of this size may take."""
    return max(ALWAYS_ALLOWED, LARGEST_EXPANSION * file_size)


def check_allocation(
    name: str | PurePath, n_bytes: int, *, file_size: int | None = None, what: str = "it"
) -> None:
    """Raise an error if a file declares sizes that need more memory than its own size justifies.

    Call this with the sizes declared in a header, before allocating.

    Parameters
    ----------
    name : str or PurePath
        Name of the file in the message.
    n_bytes : int
        Bytes that reading would allocate.
    file_size : int, optional
        Size of the file; if not given, `name` must be its path.
    what : str
        What declares the size, for the message: "array 'features'".
    """
    limit = allowed_bytes(os.stat(name).st_size if file_size is None else file_size)  # noqa: PTH116
    if n_bytes > limit:
        raise UnreadableFileError(
            f"{name}: {what} declares {_size(n_bytes)}, over the limit of {_size(limit)} for a file"
            " of this size"
        )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.0f} MB" if n_bytes < 2**30 else f"{n_bytes / 2**30:,.1f} GB"


LARGEST_JSON = 512 * 2**20


def read_json(path: Path, *, kind: str, form: str, version: int) -> dict[str, Any] | None:
    """Read a JSON file that dayline writes and anyone may change; None if there is none.

    Parameters
    ----------
    path : Path
        The file; a link is not followed.
    kind : str
        What the file should be, for the message: "a file of places".
    form, version : str and int
        The "format" and the "version" that it should have.

    Raises
    ------
    ValueError
        If it is something else; the message does not name the file.
    """
    content = read_no_follow(path, most=LARGEST_JSON)
    if content is None:
        return None
    try:
        parsed = parse_json(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("not JSON: not a text file") from None
    if not isinstance(parsed, dict) or parsed.get("format") != form:
        raise ValueError(f'not {kind} ("format" should be "{form}")')
    if parsed.get("version") != version:
        raise ValueError(
            f"unknown version {parsed.get('version')!r} (known: {version}); update dayline"
        )
    return parsed


def parse_json(text: str) -> Any:
    """Read JSON; raise ValueError if it is not JSON, or if one object has the same key twice.

    JSON does not define which of two values counts, so that programs would read different things.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(
            f"contains {next(key for key in keys if keys.count(key) > 1)!r} twice in one object"
        )
    return content


LARGEST_VALUE = sys.float_info.max
JSON_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def check_against(schema: Mapping[str, Any], value: Any, where: tuple[str | int, ...] = ()) -> None:
    """Raise ValueError if a schema does not allow a value, and say where.

    Parameters
    ----------
    schema : mapping
        With type, enum, const, minimum, maximum, minItems, maxItems, items, required, properties;
        other keywords are ignored. Strings in a list have no enum.
    value : object
        The result of `json.loads`.
    where : tuple of str or int
        Names and positions that lead to the value, for the message.
    """
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and (isinstance(value, (dict, list)) or value not in allowed):
        raise _wrong_value(where, value, " or ".join(map(_short_value, allowed)))
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds is not None and not any(_is_a(value, kind) for kind in kinds):
        raise _wrong_value(where, value, f"of type {' or '.join(kinds)}")

    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                raise ValueError(f"{_position(where)} has no {name!r}")
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                check_against(inner, value[name], (*where, name))
    elif isinstance(value, list):
        low, high = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if not low <= len(value) <= high:
            wanted = f"at least {low}" if len(value) < low else f"at most {high}"
            raise ValueError(f"{_position(where)} has {len(value)} values; it must have {wanted}")
        items = schema.get("items", {})
        smallest, largest = (
            items.get("minimum", -LARGEST_VALUE),
            items.get("maximum", LARGEST_VALUE),
        )
        # Lists with one value per frame are long: take a tenth of the time for the usual ones.
        kinds = items.get("type")
        quick = {"number": float, "string": str}.get(kinds[0] if isinstance(kinds, list) else kinds)
        for k, item in enumerate(value):
            if type(item) is not quick or (quick is float and not smallest <= item <= largest):
                check_against(items, item, (*where, k))
    elif isinstance(value, (int, float)):
        # JSON has neither NaN nor infinity, but Python's reader accepts them; an integer may be too
        # large for a float. With the comparison inverted, NaN would pass.
        low, high = schema.get("minimum", -LARGEST_VALUE), schema.get("maximum", LARGEST_VALUE)
        if not low <= value <= high:
            limits = (("at least", "minimum"), ("at most", "maximum"))
            sides = [f"{side} {schema[limit]:g}" for side, limit in limits if limit in schema]
            raise _wrong_value(where, value, " and ".join(sides) or "a finite number")


def _is_a(value: Any, kind: str) -> bool:
    # In Python, true and false are integers, too.
    return isinstance(value, JSON_TYPES[kind]) and (kind == "boolean") == isinstance(value, bool)


def _wrong_value(where: tuple[str | int, ...], value: Any, wanted: str) -> ValueError:
    return ValueError(f"{_position(where)} is {_short_value(value)}; it must be {wanted}")


def _position(where: tuple[str | int, ...]) -> str:
    """Return where a value is: "events[0].name"."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    return "".join(parts).removeprefix(".") or "the file"


def _short_value(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
