"""A result of a made day, and a server that shows it."""

from __future__ import annotations

import errno
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from dayline.album.segment import segment_source
from dayline.album.view import ViewServer
from dayline.album.write import write_result
from made_photos import make_day


@pytest.fixture(scope="session")
def made_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `photos` and their result in `out`, with exports."""
    place = tmp_path_factory.mktemp("view")
    make_day(place / "photos")
    result = segment_source(place / "photos", model="color", store=place / "out")
    write_result(result, place / "out", formats=["webvtt", "youtube", "photos"])
    return place


@pytest.fixture
def place(made_result: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    shutil.copytree(made_result, tmp_path / "place")
    return tmp_path / "place"


class Client:
    """Sends requests as they are written, however wrong."""

    def __init__(self, server: ViewServer) -> None:
        self.server = server
        self.path = f"/{server.prefix}/"

    def ask(
        self,
        method: str,
        path: str,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
    ) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection("127.0.0.1", self.server.server_port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            sent = {"Host": self.server.authority} | (headers or {})
            if body is not None:
                sent = {"Content-Length": str(len(body))} | sent
            for name, value in sent.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders()
            if body:
                connection.send(body)
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        response, content = self.ask("GET", self.path + path, headers)
        return response.status, content

    def post(
        self, text: str | bytes, path: str = "events.json", **headers: str
    ) -> tuple[int, bytes]:
        usual = {"Origin": f"http://{self.server.authority}", "Content-Type": "application/json"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        body = text if isinstance(text, bytes) else text.encode()
        response, content = self.ask("POST", self.path + path, usual | named, body)
        return response.status, content


@contextmanager
def running(folder: Path, **options: Any) -> Iterator[Client]:
    server = ViewServer(folder, **options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Client(server)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no folder be written, as on a read-only disk; permissions do not hold for root."""

    def refuse(lock: FileLock, *args: Any, **options: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system", lock.lock_file)

    monkeypatch.setattr(FileLock, "acquire", refuse)


@pytest.fixture
def view() -> Iterator[Callable[..., Client]]:
    """Serve a folder: view(folder, source=...)."""
    with ExitStack() as stack:
        yield lambda folder, **options: stack.enter_context(running(folder, **options))
