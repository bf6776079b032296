"""Run commands of dayline in forked children, each killed before a change to the file system.

Reads one JSON request per line: {"arguments": [...], "log": path, "kill_before": number or null};
answers with {"killed": bool, "code": int, "changes": number, "said": text}. "save FOLDER FILE"
stands for `dayline view FOLDER` on whose page a person saves the events in FILE. Forking saves
loading all libraries for every kill.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

CHANGES = {
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.truncate",
}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Changes:
    """Count changes to the file system, and end the process before one."""

    def __init__(self, kill_before: int | None) -> None:
        self.kill_before = kill_before
        self.count = 0
        self.active = True

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event in CHANGES or (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES
        ):
            if self.count == self.kill_before:
                os.kill(os.getpid(), signal.SIGKILL)
            self.count += 1


def save(folder: str, file: str) -> None:
    """Start to serve a result, and save as its page does."""
    import threading
    from http.client import HTTPConnection

    from dayline.album.page.page import events_mark
    from dayline.album.view import ViewServer, prepare
    from dayline.events import read_events

    list(prepare(folder))
    content = Path(file).read_bytes()
    if events_mark(read_events(file)) == events_mark(read_events(Path(folder) / "events.json")):
        return  # the page shows that all is saved
    with ViewServer(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        connection = HTTPConnection(server.authority, timeout=60)
        headers = {
            "Origin": f"http://{server.authority}",
            "Content-Type": "application/json",
            "Dayline-Base": events_mark(read_events(Path(folder) / "events.json")),
        }
        connection.request("POST", f"/dayline-{server.token}/events.json", content, headers)
        response = connection.getresponse()
        print(response.read().decode())
        server.shutdown()
        sys.exit(0 if response.status == 200 else 2)


def child(request: dict[str, Any]) -> None:
    from dayline.cli import main

    log = Path(request["log"])
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.argv = ["dayline", *request["arguments"]]
    changes = Changes(request["kill_before"])
    sys.addaudithook(changes)
    code = 0
    try:
        if request["arguments"][0] == "save":
            save(*request["arguments"][1:])
        else:
            main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 70
    changes.active = False
    sys.stdout.flush()
    sys.stderr.flush()
    log.with_suffix(".count").write_text(str(changes.count))
    os._exit(code)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    log = Path(request["log"])
    log.with_suffix(".count").unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        child(request)
    _, status = os.waitpid(pid, 0)
    count = log.with_suffix(".count")
    return {
        "killed": os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL,
        "code": os.waitstatus_to_exitcode(status),
        "changes": int(count.read_text()) if count.exists() else None,
        "said": log.read_text(encoding="utf-8", errors="replace") if log.exists() else "",
    }


def serve() -> None:
    import av  # noqa: F401 - loaded once, for all children
    import PIL.Image  # noqa: F401

    import dayline.album.view  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
