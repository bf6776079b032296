"""Serve the page of a result to one person on one machine, so that Save writes into the result."""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

from dayline.album.days import overview_is_current, renew_overview
from dayline.album.page.page import page_data
from dayline.album.save import Saved, is_result, page_is_current, renew_result, save_events
from dayline.album.view_requests import RequestHandler, inner_path
from dayline.events import Segmentation
from dayline.media.frame import PHOTO_SUFFIXES, VIDEO_SUFFIXES
from dayline.result_folder import MARK, LockedFolderError, UnwritableFolderError, output_folder

HOST = "127.0.0.1"
PORTS = range(49_152, 65_536)
TRIES = 20

MOST_UNKNOWN = 32
"""Connections at once that have not shown the token; one more ends the oldest of them."""

UNKNOWN_SECONDS = 10.0
"""How long a connection may take to show the token, however slowly it sends."""

log = logging.getLogger(__name__)


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
    unwritable : str, optional
        Why nothing can be saved: the page then downloads events.json, as it does from disk.

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
        unwritable: str | None = None,
    ) -> None:
        self.shown = Path(folder)
        self.folder = self.shown.resolve()
        self.source = source
        self.on_save = on_save
        self.unwritable = unwritable
        self.token = secrets.token_urlsafe(32)
        self.saving = threading.Lock()
        # Connections that have not shown the token, the oldest first, and when each began.
        self._unknown: dict[socket.socket, float] = {}
        # The top of all addresses, so that the page's relative links to the source fit.
        self.root = self.folder
        if source is not None:
            with suppress(ValueError):  # two drives of Windows
                self.root = Path(os.path.commonpath([self.folder, source.resolve()]))

        name = str(self.folder).encode("utf-8", "surrogateescape")
        usual = int.from_bytes(hashlib.sha256(name).digest()[:4], "big")
        ports = [PORTS[(usual + 97 * k) % len(PORTS)] for k in range(TRIES)]
        for number in ports if port is None else [port]:
            try:
                super().__init__((HOST, number), RequestHandler)
            except OSError as error:
                why = error.strerror
            else:
                return
        what = f"{TRIES} ports" if port is None else f"port {port}"
        raise ValueError(f"{what} cannot be used: {why}; choose another one with --port")

    def server_bind(self) -> None:
        """Bind without asking for the name of this machine, which may take seconds."""
        reuse = int(self.allow_reuse_address)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, self.server_address[1]

    @property
    def authority(self) -> str:
        """Host and port, as in the Host header."""
        return f"{HOST}:{self.server_port}"

    @property
    def prefix(self) -> str:
        """The first part of all addresses; it tells the page whether it can save."""
        return f"dayline-{'' if self.unwritable is None else 'readonly-'}{self.token}"

    @property
    def address(self) -> str:
        """The address of the page."""
        parts = self.folder.relative_to(self.root).parts
        inner = "".join(f"{quote(os.fsencode(part))}/" for part in parts)
        return f"http://{self.authority}/{self.prefix}/{inner}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a new connection in a thread; one too many without the token ends the oldest."""
        for connection in list(self._unknown)[: 1 - MOST_UNKNOWN]:
            self._hang_up(connection)
        self._unknown[request] = monotonic()
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """End connections that have not shown the token in time; called while serving."""
        for connection, began in list(self._unknown.items()):
            if monotonic() - began > UNKNOWN_SECONDS:
                self._hang_up(connection)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection that was answered."""
        self.has_shown_token(request)
        super().shutdown_request(request)

    def has_shown_token(self, connection: socket.socket) -> None:
        """Let a connection stay as long as it likes."""
        self._unknown.pop(connection, None)

    def _hang_up(self, connection: socket.socket) -> None:
        """End a connection; the thread that reads from it finds its end and closes it."""
        self._unknown.pop(connection, None)
        with suppress(OSError):  # it has ended by itself
            connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about browsers that close a connection early."""
        log.debug("%s of %s failed", request, client_address, exc_info=True)

    def path_of(self, address: str) -> Path | None:
        """Return the path to read at an address: in the folder, or an original in the source.

        Parameters
        ----------
        address : str
            What follows the token in the path of the URL.
        """
        path = inner_path(self.root, address, below=self.folder)
        if path is None and self.source is not None:
            path = inner_path(self.root, address, below=self.source.resolve())
            if path is not None and path.suffix.lower() not in PHOTO_SUFFIXES | VIDEO_SUFFIXES:
                return None
        return path

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

    for result in _results(folder):
        # Entering it removes what a killed run left behind, unless another run is writing there.
        with suppress(LockedFolderError, UnwritableFolderError), output_folder(result):
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


def why_unwritable(folder: Path) -> str | None:
    """Return why no result in a folder can be written, as on a read-only disk; None if one can.

    Parameters
    ----------
    folder : Path
        A result, or a folder of results.
    """
    why = None
    for result in _results(folder):
        try:
            with output_folder(result):
                return None
        except LockedFolderError:
            return None
        except UnwritableFolderError as error:
            why = error.why
    return why


def _results(folder: Path) -> Iterator[Path]:
    """Yield the results in a folder, itself first, that have a page of their own."""
    inner = (path for path in sorted(folder.iterdir()) if path.is_dir() and not path.is_symlink())
    for result in (folder, *inner):
        # The page of a folder of days has no events of its own.
        if is_result(result) and page_data(result / "index.html") is not None:
            yield result


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
