"""Serve the page of a result to one person on one machine, so that Save writes into the result."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any, ClassVar
from urllib.parse import quote, unquote_to_bytes, urlsplit

from dayline.album.days import overview_is_current, renew_overview
from dayline.album.page.page import page_data
from dayline.album.save import (
    ChangedResultError,
    Saved,
    is_result,
    page_is_current,
    renew_result,
    save_events,
)
from dayline.events import Segmentation
from dayline.files import open_no_follow
from dayline.media.frame import PHOTO_SUFFIXES, VIDEO_SUFFIXES
from dayline.result_folder import MARK, LockedFolderError, output_folder

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
OTHER_KIND = "application/octet-stream"
# Characters that separate folders or have a meaning in paths; on Windows, also those of drives and
# streams.
MEANT = re.compile(r"[/\\:\0]" if os.name == "nt" else r"[/\0]")
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True)
class OpenFile:
    """A file to send: its content, size and kind."""

    file: IO[bytes]
    size: int
    kind: str


def common_folder(folder: Path, source: Path | None) -> Path:
    """Return the folder that stands for the top of all addresses, so that the page's relative links fit.

    Parameters
    ----------
    folder : Path
        The folder of the result.
    source : Path or None
        The photos or the video that the page links to.
    """
    with suppress(ValueError):  # two drives of Windows
        return Path(os.path.commonpath([folder, folder if source is None else source.resolve()]))
    return folder


def inner_path(root: Path, address: str, *, below: Path) -> Path | None:
    """Return the path within a folder that an address asks for; None if there is none that may be read.

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
    outer = below.relative_to(root).parts if below.is_relative_to(root) else None
    parts = [os.fsdecode(unquote_to_bytes(part)) for part in address.split("/")]
    if outer is None or tuple(parts[: len(outer)]) != outer:
        return None
    inner = parts[len(outer) :]
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


def opened(path: Path) -> OpenFile | None:
    """Open a regular file; return None for anything else.

    Parameters
    ----------
    path : Path
        The file.
    """
    try:
        handle = open_no_follow(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except (OSError, ValueError):
        return None
    file = os.fdopen(handle, "rb")
    about = os.fstat(file.fileno())
    if not stat.S_ISREG(about.st_mode):
        file.close()
        return None
    return OpenFile(file, about.st_size, KINDS.get(path.suffix.lower(), OTHER_KIND))


def asked_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the first and last byte that a Range header asks for; None for the whole file.

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


HOST = "127.0.0.1"
PORTS = range(49_152, 65_536)
TRIES = 20
CHUNK = 64 * 1024
MOST_DRAINED = 64 * 2**20
ROOM_FOR_EDITS = 4 * 2**20
"""Bytes by which saved events may exceed twice the size of the present ones."""

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
log = logging.getLogger(__name__)


class _RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class ViewServer(ThreadingHTTPServer):
    """Serves one result, or a folder of results.

    Parameters
    ----------
    folder : str or Path
        The folder.
    port : int, optional
        By default one that depends on the folder only: browsers keep what they store by port, so
        that unsaved edits are there again when the page is served the next time.
    source : Path, optional
        The photos or the video: for exports that need them, and so that the page can open the
        originals.
    on_save : callable, optional
        Called with the folder of a result and what was saved there.

    Attributes
    ----------
    address : str
        The address of the page, with the token.
    """

    daemon_threads = True
    # On Windows the option lets a second program listen on the same port.
    allow_reuse_address = sys.platform != "win32"

    def __init__(
        self,
        folder: str | Path,
        *,
        port: int | None = None,
        source: Path | None = None,
        on_save: Callable[[Path, Saved], None] | None = None,
    ) -> None:
        self.shown = Path(folder)
        self.folder = self.shown.resolve()
        self.source = source
        self.root = common_folder(self.folder, source)
        self.on_save = on_save
        self.token = secrets.token_urlsafe(32)
        self.saving = threading.Lock()
        self._bind(port)

    def _bind(self, port: int | None) -> None:
        usual = int.from_bytes(
            hashlib.sha256(str(self.folder).encode("utf-8", "surrogateescape")).digest()[:4], "big"
        )
        ports = (
            [PORTS[(usual + 97 * k) % len(PORTS)] for k in range(TRIES)] if port is None else [port]
        )
        for number in ports:
            try:
                super().__init__((HOST, number), _Handler)
            except OSError as error:
                last = error
            else:
                return
        what = f"port {ports[0]}" if port is not None else f"{TRIES} ports"
        raise ValueError(f"{what} cannot be used: {last.strerror}; choose another one with --port")

    def server_bind(self) -> None:
        """Bind without asking the name service for the name of this machine, which may take seconds."""
        self.socket.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, int(self.allow_reuse_address)
        )
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, self.server_address[1]

    @property
    def authority(self) -> str:
        """Host and port, as in the Host header."""
        return f"{HOST}:{self.server_port}"

    @property
    def address(self) -> str:
        """The address of the page."""
        inner = "".join(
            f"{quote(os.fsencode(part))}/" for part in self.folder.relative_to(self.root).parts
        )
        return f"http://{self.authority}/dayline-{self.token}/{inner}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about browsers that close a connection early."""
        log.debug("%s of %s failed", request, client_address, exc_info=True)

    def path_of(self, address: str) -> Path | None:
        """Return the path that may be read at an address: in the folder, or an original in the source.

        Parameters
        ----------
        address : str
            What follows the token in the path of the URL.
        """
        places: list[tuple[Path, frozenset[str] | None]] = [(self.folder, None)]
        if self.source is not None:
            places.append((self.source.resolve(), PHOTO_SUFFIXES | VIDEO_SUFFIXES))
        for place, suffixes in places:
            path = inner_path(self.root, address, below=place)
            if path is not None:
                return path if suffixes is None or path.suffix.lower() in suffixes else None
        return None

    def save(self, folder: Path, text: str, base: str | None) -> Saved:
        """Save edited events into a result; one at a time.

        Parameters
        ----------
        folder : Path
            The folder of the result.
        text : str
            The content of events.json.
        base : str or None
            Mark of the events that were edited.
        """
        with self.saving:
            saved = save_events(Segmentation.from_json(text), folder, base=base, source=self.source)
        if self.on_save is not None:
            self.on_save(self.shown / folder.relative_to(self.folder), saved)
        return saved


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer
    protocol_version = "HTTP/1.1"
    server_version = "dayline"
    sys_version = ""
    timeout: ClassVar[float] = 60.0
    is_read = False

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the standard library
        log.debug(format, *args)

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":
            # Browsers ask for it, and would show an error.
            self._head(HTTPStatus.NO_CONTENT, "image/png", 0, {})
        else:
            self._answer(self._send_file)

    def do_HEAD(self) -> None:
        self._answer(self._send_file)

    def do_POST(self) -> None:
        self._answer(self._save)

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        self.is_read = False
        if self.command not in ("GET", "HEAD", "POST"):
            self._answer(self._no_such_method)
            return False
        return True

    def _answer(self, work: Callable[[str], None]) -> None:
        try:
            work(self._allowed_path())
        except _RefusedError as refusal:
            self.close_connection = True
            self._send_json(refusal.status, {"error": str(refusal)})
            self._drain()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def _allowed_path(self) -> str:
        """Return the path below the token, still encoded; raise if the request may come from somebody else."""
        server, headers = self.server, self.headers
        if headers.get_all("Host") != [server.authority]:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "this page is only served to this machine")
        origins = headers.get_all("Origin", [])
        from_page = [f"http://{server.authority}"]
        if (origins and origins != from_page) or headers.get("Sec-Fetch-Site", "none") not in (
            "none",
            "same-origin",
        ):
            raise _RefusedError(
                HTTPStatus.FORBIDDEN, "this page does not answer requests of other pages"
            )
        if self.command == "POST" and origins != from_page:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "only the page itself can save")
        path = (
            urlsplit(self.path).path
            if self.path.startswith("/") and not self.path.startswith("//")
            else ""
        )
        token, _, rest = path.removeprefix("/").partition("/")
        if not hmac.compare_digest(
            token.encode("utf-8", "replace"), f"dayline-{server.token}".encode()
        ):
            raise _RefusedError(
                HTTPStatus.FORBIDDEN, "open the whole address that dayline view printed"
            )
        if not path.removeprefix("/").startswith(f"{token}/"):
            raise _RefusedError(HTTPStatus.NOT_FOUND, "not found")
        return rest

    def _no_such_method(self, _: str) -> None:
        raise _RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "only GET, HEAD and one POST are known")

    def _send_file(self, address: str) -> None:
        path = self.server.path_of(address)
        if path is not None and path.is_dir():
            raise _RefusedError(HTTPStatus.NOT_FOUND, "folders are not listed")
        found = None if path is None else opened(path)
        if found is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "not found")
        with found.file:
            try:
                part = asked_range(self.headers.get("Range"), found.size)
            except ValueError:
                self._head(
                    HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
                    found.kind,
                    0,
                    {"Content-Range": f"bytes */{found.size}"},
                )
                return
            first, last = part or (0, found.size - 1)
            more = {"Accept-Ranges": "bytes"}
            if part is not None:
                more["Content-Range"] = f"bytes {first}-{last}/{found.size}"
            self._head(
                HTTPStatus.OK if part is None else HTTPStatus.PARTIAL_CONTENT,
                found.kind,
                last - first + 1,
                more,
            )
            if self.command == "HEAD":
                return
            found.file.seek(first)
            left = last - first + 1
            while left > 0:
                chunk = found.file.read(min(CHUNK, left))
                if (
                    not chunk
                ):  # the file became shorter; the browser sees that the answer is not whole
                    self.close_connection = True
                    return
                self.wfile.write(chunk)
                left -= len(chunk)

    def _save(self, address: str) -> None:
        path = inner_path(self.server.root, address, below=self.server.folder)
        if path is None or path.name != "events.json" or not is_result(path.parent):
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is no result of dayline here")
        text = self._body(most=2 * path.stat().st_size + ROOM_FOR_EDITS)
        try:
            saved = self.server.save(path.parent, text, self.headers.get("Dayline-Base"))
        except ChangedResultError as error:
            raise _RefusedError(HTTPStatus.CONFLICT, str(error)) from None
        except LockedFolderError as error:
            raise _RefusedError(
                HTTPStatus.LOCKED, f"{error}; your changes stay in this browser"
            ) from None
        except ValueError as error:
            raise _RefusedError(
                HTTPStatus.UNPROCESSABLE_ENTITY, " ".join(str(error).split())
            ) from None
        except OSError as error:
            why = f"{error.filename or path}: {error.strerror or error}"
            raise _RefusedError(HTTPStatus.INSUFFICIENT_STORAGE, why) from None
        shown = self.server.shown / path.parent.relative_to(self.server.folder)
        self._send_json(
            HTTPStatus.OK,
            {
                "folder": str(shown if shown.name else path.parent.name),
                "base": saved.mark,
                "history": None if saved.history is None else saved.history.name,
                "renewed": saved.renewed,
                "notes": saved.notes,
            },
        )

    def _body(self, *, most: int) -> str:
        length = self.headers.get("Content-Length", "")
        if self.headers.get("Transfer-Encoding") is not None or not (
            length.isascii() and length.isdigit()
        ):
            raise _RefusedError(
                HTTPStatus.LENGTH_REQUIRED, "the length of the events must be given"
            )
        if len(length) > 18 or int(length) > most:
            raise _RefusedError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the events are larger than {most:,} bytes"
            )
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the events must be JSON")
        content = self.rfile.read(int(length))
        self.is_read = True
        if len(content) < int(length):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "the events did not arrive whole")
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise _RefusedError(
                HTTPStatus.UNPROCESSABLE_ENTITY, "the events are not text"
            ) from None

    def _drain(self) -> None:
        """Read what a refused request still sends: a browser that cannot send it all does not show the answer."""
        length = self.headers.get("Content-Length", "0")
        left = (
            min(int(length), MOST_DRAINED)
            if length.isascii() and length.isdigit() and len(length) < 18
            else 0
        )
        self.connection.settimeout(1.0)
        with suppress(OSError):
            while left > 0 and not self.is_read:
                left -= len(self.rfile.read(min(CHUNK, left))) or left

    def _send_json(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        text = json.dumps(content).encode("ascii")
        self._head(
            status,
            "application/json",
            len(text),
            {"Connection": "close"} if self.close_connection else {},
        )
        if self.command != "HEAD":
            self.wfile.write(text)

    def _head(self, status: HTTPStatus, kind: str, length: int, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {
            **HEADERS,
            "Content-Type": kind,
            "Content-Length": str(length),
            **more,
        }.items():
            self.send_header(name, value)
        self.end_headers()


def prepare(
    folder: str | Path, *, source: Path | None = None
) -> Iterator[tuple[Path, Saved | ValueError]]:
    """Check that there is something to serve, and renew pages that do not show their events.json.

    That is so after a person replaced events.json, or after a save was killed. Yields the results
    that were renewed, or why they could not be.

    Parameters
    ----------
    folder : str or Path
        A result, or a folder of results.
    source : Path, optional
        See `ViewServer`.
    """
    folder = Path(folder)
    page = folder / "index.html"
    if not page.is_file() or not ((folder / MARK).is_file() or page_data(page)):
        raise ValueError(
            f"{folder}: not a result of dayline; make one with dayline segment SOURCE -o OUT"
        )
    inner = (path for path in sorted(folder.iterdir()) if path.is_dir() and not path.is_symlink())
    for result in (folder, *inner):
        # The page of a folder of days has no events of its own.
        if not is_result(result) or page_data(result / "index.html") is None:
            continue
        # Entering it removes what a killed run left behind, unless another run is writing there.
        with suppress(LockedFolderError), output_folder(result):
            pass
        try:
            if not page_is_current(result):
                yield result, renew_result(result, source=source)
        except ValueError as error:
            yield result, error
    try:
        if not overview_is_current(folder):
            renew_overview(folder)
    except LockedFolderError:
        pass  # the run that writes there renews it
    except (ValueError, OSError) as error:
        yield folder, ValueError(" ".join(str(error).split()))


def serve(server: ViewServer) -> None:
    """Serve until Ctrl-C; a save that is under way is finished.

    Parameters
    ----------
    server : ViewServer
        The server.
    """
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        with server.saving:
            pass
    finally:
        server.server_close()
