"""Requests to a page that is served: which are answered, and with which file."""

from __future__ import annotations

import hmac
import json
import logging
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote_to_bytes, urlsplit

from dayline.album.days import save_trip_name
from dayline.album.page.overview import overview_data
from dayline.album.save import ChangedResultError, is_result
from dayline.album.trips import TRIPS
from dayline.files import open_no_follow
from dayline.result_folder import LockedFolderError, OutputFolderError

if TYPE_CHECKING:
    from dayline.album.view import ViewServer

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".vtt": "text/vtt; charset=utf-8",
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
}

# Also for a page that dayline did not write: nothing that it shows may contact another machine.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

# Characters that separate folders or have a meaning in paths; on Windows, also those of drives and
# streams.
MEANT = re.compile(r"[/\\:\0]" if os.name == "nt" else r"[/\0]")
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
CHUNK = 64 * 1024
MOST_DRAINED = 64 * 2**20
ROOM_FOR_EDITS = 4 * 2**20
"""Bytes by which saved events may exceed twice the size of the present ones."""

log = logging.getLogger(__name__)


class RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class RequestHandler(BaseHTTPRequestHandler):
    """Answers GET with files, and POST by saving events."""

    server: ViewServer
    protocol_version = "HTTP/1.1"
    server_version = "dayline"
    sys_version = ""
    timeout: ClassVar[float] = 60.0
    is_read = False

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by http.server
        """Say nothing on the terminal."""
        log.debug(format, *args)

    def do_GET(self) -> None:
        """Send a file."""
        if self.path == "/favicon.ico":
            # Browsers ask for it, and would show an error.
            self._send_head(HTTPStatus.NO_CONTENT, "image/png", 0)
        else:
            self._answer(self._send_file)

    def do_POST(self) -> None:
        """Save events."""
        self._answer(self._save)

    def _answer(self, work: Callable[[str], None]) -> None:
        self.is_read = False
        try:
            work(self._allowed_address())
        except RefusedError as refusal:
            self.close_connection = True
            self._send_json(refusal.status, {"error": str(refusal)})
            self._drain()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def _allowed_address(self) -> str:
        """Return the path below the token, still encoded; raise if others may be asking."""
        forbidden = HTTPStatus.FORBIDDEN
        if self.headers.get_all("Host") != [self.server.authority]:
            raise RefusedError(forbidden, "this page is only served to this machine")

        origins = self.headers.get_all("Origin", [])
        is_from_page = origins == [f"http://{self.server.authority}"]
        site = self.headers.get("Sec-Fetch-Site", "none")
        if (origins and not is_from_page) or site not in ("none", "same-origin"):
            raise RefusedError(forbidden, "this page does not answer requests of other pages")
        if self.command == "POST" and not is_from_page:
            raise RefusedError(forbidden, "only the page itself can save")

        # "//host/path" would be the path of another host.
        is_path = self.path.startswith("/") and not self.path.startswith("//")
        path = urlsplit(self.path).path if is_path else ""
        token, slash, address = path.removeprefix("/").partition("/")
        expected = self.server.prefix.encode()
        if not hmac.compare_digest(token.encode("utf-8", "replace"), expected):
            raise RefusedError(forbidden, "open the whole address that dayline view printed")
        self.server.has_shown_token(self.connection)
        if not slash:
            raise RefusedError(HTTPStatus.NOT_FOUND, "not found")
        return address

    def _send_file(self, address: str) -> None:
        path = self.server.path_of(address)
        found = None if path is None else opened(path)
        if path is None or found is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "not found")
        kind = KINDS.get(path.suffix.lower(), "application/octet-stream")
        with found as file:
            size = os.fstat(file.fileno()).st_size
            try:
                part = asked_range(self.headers.get("Range"), size)
            except ValueError:
                status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
                self._send_head(status, kind, 0, {"Content-Range": f"bytes */{size}"})
                return

            first, last = part or (0, size - 1)
            left = last - first + 1
            more = {"Accept-Ranges": "bytes"}
            if part is not None:
                more["Content-Range"] = f"bytes {first}-{last}/{size}"
            status = HTTPStatus.OK if part is None else HTTPStatus.PARTIAL_CONTENT
            self._send_head(status, kind, left, more)

            file.seek(first)
            while left > 0:
                chunk = file.read(min(CHUNK, left))
                if not chunk:
                    # The file became shorter; the browser sees that the answer is not whole.
                    self.close_connection = True
                    return
                self.wfile.write(chunk)
                left -= len(chunk)

    def _save(self, address: str) -> None:
        server = self.server
        if address.rpartition("/")[2] == TRIPS:
            self._name_trip(address)
            return
        path = inner_path(server.root, address, below=server.folder)
        if path is None or path.name != "events.json" or not is_result(path.parent):
            raise RefusedError(HTTPStatus.NOT_FOUND, "there is no result of dayline here")
        self._refuse_unwritable()
        text = self._body(most=2 * path.stat().st_size + ROOM_FOR_EDITS)
        with answered_errors(path):
            saved = server.save(path.parent, text, self.headers.get("Dayline-Base"))

        shown = server.shown / path.parent.relative_to(server.folder)
        answer = {
            "folder": str(shown if shown.name else path.parent.name),
            "base": saved.mark,
            "history": None if saved.history is None else saved.history.name,
            "renewed": saved.renewed,
            "notes": saved.notes,
        }
        self._send_json(HTTPStatus.OK, answer)

    def _name_trip(self, address: str) -> None:
        """Keep the name of a trip: its days, by the names of their folders, and the name."""
        server = self.server
        page = inner_path(server.root, address.removesuffix(TRIPS), below=server.folder)
        if page is None or overview_data(page.parent) is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "there is no overview of days here")
        self._refuse_unwritable()
        text = self._body(most=ROOM_FOR_EDITS)
        with answered_errors(page), server.saving:
            save_trip_name(page.parent, text)
        self._send_json(HTTPStatus.OK, {})

    def _refuse_unwritable(self) -> None:
        if self.server.unwritable is not None:
            why = f"the folder of the result cannot be written ({self.server.unwritable})"
            raise RefusedError(HTTPStatus.FORBIDDEN, why)

    def _body(self, *, most: int) -> str:
        length = self.headers.get("Content-Length", "")
        is_number = length.isascii() and length.isdigit()
        if self.headers.get("Transfer-Encoding") is not None or not is_number:
            raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "the length of the events must be given")
        if len(length) > 18 or int(length) > most:
            why = f"the events are larger than {most:,} bytes"
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
        if self.headers.get_content_type() != "application/json":
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the events must be JSON")

        content = self.rfile.read(int(length))
        self.is_read = True
        if len(content) < int(length):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the events did not arrive whole")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            why = "the events are not text"
            raise RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, why) from None

    def _drain(self) -> None:
        """Read the rest of a refused request, without which a browser does not show the answer."""
        length = self.headers.get("Content-Length", "")
        is_number = length.isascii() and length.isdigit() and len(length) < 18
        left = min(int(length), MOST_DRAINED) if is_number and not self.is_read else 0
        self.connection.settimeout(1.0)
        with suppress(OSError):
            while left > 0:
                chunk = self.rfile.read(min(CHUNK, left))
                if not chunk:
                    return
                left -= len(chunk)

    def _send_json(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        text = json.dumps(content).encode("ascii")
        more = {"Connection": "close"} if self.close_connection else {}
        self._send_head(status, "application/json", len(text), more)
        self.wfile.write(text)

    def _send_head(
        self, status: HTTPStatus, kind: str, length: int, more: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        about = {"Content-Type": kind, "Content-Length": str(length)}
        for name, value in {**HEADERS, **about, **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def answered_errors(path: Path) -> Iterator[None]:
    """Answer why something cannot be saved."""
    try:
        yield
    except ChangedResultError as error:
        raise RefusedError(HTTPStatus.CONFLICT, str(error)) from None
    except LockedFolderError as error:
        why = f"{error}; your changes stay in this browser"
        raise RefusedError(HTTPStatus.LOCKED, why) from None
    except OutputFolderError as error:
        raise RefusedError(HTTPStatus.INSUFFICIENT_STORAGE, str(error)) from None
    except ValueError as error:
        why = " ".join(str(error).split())
        raise RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, why) from None
    except OSError as error:
        why = f"{error.filename or path}: {error.strerror or error}"
        raise RefusedError(HTTPStatus.INSUFFICIENT_STORAGE, why) from None


def inner_path(root: Path, address: str, *, below: Path) -> Path | None:
    """Return the path within a folder that an address means; None if it may not be read.

    Hidden names, links, and anything outside the folder have no path.

    Parameters
    ----------
    root : Path
        What the address is relative to.
    address : str
        The path of the URL, percent-encoded, without a query.
    below : Path
        The folder, or the file, in `root`; without links in its own path.
    """
    if not below.is_relative_to(root):
        return None
    outer = below.relative_to(root).parts
    parts = [os.fsdecode(unquote_to_bytes(part)) for part in address.split("/")]
    inner = parts[len(outer) :]
    if tuple(parts[: len(outer)]) != outer:
        return None
    if inner and inner[-1] == "":
        inner[-1] = "index.html"
    if any(not part or part.startswith(".") or MEANT.search(part) for part in inner):
        return None
    path = below.joinpath(*inner)
    try:
        # Equal only if no part of the way is a link.
        return path if path.resolve(strict=True) == path else None
    except (OSError, ValueError, RuntimeError):
        return None


def opened(path: Path) -> IO[bytes] | None:
    """Open a regular file; return None for anything else, such as a folder or a pipe.

    Parameters
    ----------
    path : Path
        The file.
    """
    no_wait, binary = getattr(os, "O_NONBLOCK", 0), getattr(os, "O_BINARY", 0)
    try:
        handle = open_no_follow(path, os.O_RDONLY | no_wait | binary)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return os.fdopen(handle, "rb")


def asked_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the first and last byte of a Range header; None for the whole file.

    Parameters
    ----------
    header : str or None
        The header; several ranges, or other units, give the whole file.
    size : int
        Size of the file.

    Raises
    ------
    ValueError
        If the file has no such bytes.
    """
    found = RANGE.fullmatch(header.strip()) if header is not None else None
    if found is None or found[1] == found[2] == "":
        return None
    if found[1] == "":
        first, last = max(0, size - int(found[2])), size - 1
    else:
        first, last = int(found[1]), min(size - 1, int(found[2]) if found[2] else size - 1)
    if first > last:
        raise ValueError(f"no bytes {header} in a file of {size}")
    return first, last
