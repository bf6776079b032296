"""What the server answers, and to whom."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import warnings
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path
from select import select
from time import monotonic

import pytest
from filelock import FileLock

from dayline.album.days import find_days, segment_days
from dayline.album.page.template import DATA
from dayline.album.save import save_events
from dayline.album.settings import Settings
from dayline.album.view import MOST_UNKNOWN, ViewServer, prepare, why_unwritable
from dayline.album.view_requests import asked_range
from dayline.events import Segmentation
from dayline.result_folder import OwnFiles
from made_photos import make_day


def test_the_files_of_the_result_are_served(place, view):
    client = view(place / "out")
    response, page = client.ask("GET", client.path)
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page == (place / "out" / "index.html").read_bytes()
    assert client.get("index.html") == (200, page)
    picture = next((place / "out" / "thumbnails").iterdir())
    assert client.get(f"thumbnails/{picture.name}") == (200, picture.read_bytes())
    assert client.get("graph.png?anything") == (200, (place / "out" / "graph.png").read_bytes())


def test_a_browser_that_asks_for_an_icon_gets_none_and_no_error(place, view):
    response, content = view(place / "out").ask("GET", "/favicon.ico")
    assert (response.status, content) == (204, b"")


def test_nothing_of_a_result_is_stored_or_framed_and_no_page_contacts_others(place, view):
    client = view(place / "out")
    response, _ = client.ask("GET", client.path)
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in response.headers


def test_the_port_is_the_same_each_time_and_the_token_another(place):
    with ViewServer(place / "out") as first, ViewServer(place / "out") as second:
        assert first.server_port != second.server_port  # it is taken, so the next one
        assert first.token != second.token
        assert len(first.token) >= 43
        assert first.server_address[0] == "127.0.0.1"  # only this machine is listened to
    with ViewServer(place / "out") as again:
        assert again.server_port == first.server_port
        assert again.token != first.token


def test_a_port_that_is_taken_is_named(place, view):
    port = view(place / "out").server.server_port
    with pytest.raises(
        ValueError, match=f"port {port} cannot be used: .*; choose another one with --port"
    ):
        ViewServer(place / "out", port=port)


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""]
)
def test_other_hosts_are_refused(place, view, host):
    client = view(place / "out")
    response, content = client.ask(
        "GET", client.path, {"Host": host.format(port=client.server.server_port)}
    )
    assert response.status == 403
    assert b"only served to this machine" in content


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},  # another port of this machine
    ],
)
def test_other_origins_are_refused(place, view, headers):
    client = view(place / "out")
    events = (place / "out" / "events.json").read_bytes()
    assert client.get("", **headers)[0] == 403
    assert client.post(events, **headers)[0] == 403


def test_a_save_without_an_origin_is_refused(place, view):
    client = view(place / "out")
    assert client.post((place / "out" / "events.json").read_bytes(), Origin="")[0] == 403


@pytest.mark.parametrize(
    "path", ["/", "/index.html", "/dayline-/", "/dayline-x/index.html", "/dayline-{half}/", "*"]
)
def test_requests_without_the_token_are_refused(place, view, path):
    client = view(place / "out")
    response, content = client.ask("GET", path.format(half=client.server.token[:-1]))
    assert response.status == 403
    assert b"whole address" in content


@pytest.mark.parametrize("path", ["http://evil.example{path}", "//evil.example{path}"])
def test_addresses_of_others_are_refused(place, view, path):
    client = view(place / "out")
    assert client.ask("GET", path.format(path=client.path))[0].status == 403


def test_the_token_alone_is_no_page(place, view):
    client = view(place / "out")
    assert client.ask("GET", client.path.rstrip("/"))[0].status == 404


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "..%2fsecret.txt",
        "%2e%2e/secret.txt",
        "%2e%2e%2fsecret.txt",
        "thumbnails/../../secret.txt",
        "thumbnails/..%2f..%2fsecret.txt",
        "/etc/hostname",
        "%2fetc%2fhostname",
        "//etc/hostname",
        "..%5csecret.txt",
        "..%c0%afsecret.txt",
        "index.html%00.jpg",
        ".dayline",
        ".dayline-files.json",
        "%2edayline",
        "photos/.dayline-photos.json",
        "link.txt",
        "folder/secret.txt",
        "thumbnails",
        "thumbnails/",
        "index.html/",
        "nothing",
        "pipe",
        "a" * 5000,
    ],
)
def test_nothing_outside_of_the_folder_is_served_and_no_hidden_file_or_list(place, view, path):
    (place / "secret.txt").write_text("secret")
    (place / "out" / "link.txt").symlink_to(place / "secret.txt")
    (place / "out" / "folder").symlink_to(place)
    if hasattr(os, "mkfifo"):
        os.mkfifo(place / "out" / "pipe")
    status, content = view(place / "out").get(path)
    assert status == 404
    assert b"secret" not in content


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(place, view, method):
    client = view(place / "out")
    assert (
        client.ask(
            method, client.path + "events.json", {"Origin": f"http://{client.server.authority}"}
        )[0].status
        == 501
    )


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, None),
        ("bytes=0-", (0, 99)),
        ("bytes=10-19", (10, 19)),
        ("bytes=90-500", (90, 99)),
        ("bytes=-30", (70, 99)),
        ("bytes=-300", (0, 99)),
        ("bytes=1-2,5-6", None),
        ("frames=1-2", None),
        ("bytes=-", None),
    ],
)
def test_a_part_of_a_film_can_be_asked_for(asked, expected):
    assert asked_range(asked, 100) == expected


def test_a_player_gets_the_part_it_asks_for(place, view):
    (place / "out" / "film.mp4").write_bytes(bytes(range(256)) * 1000)
    client = view(place / "out")
    response, content = client.ask("GET", client.path + "film.mp4", {"Range": "bytes=300-809"})
    assert (response.status, content) == (206, (bytes(range(256)) * 4)[300:810])
    assert response.headers["Content-Range"] == "bytes 300-809/256000"
    assert response.headers["Content-Type"] == "video/mp4"
    response, content = client.ask("GET", client.path + "film.mp4", {"Range": "bytes=256000-"})
    assert (response.status, content) == (416, b"")
    assert response.headers["Content-Range"] == "bytes */256000"


def test_originals_are_served_if_the_person_names_their_folder(place, view):
    name = next(path.name for path in sorted((place / "photos").iterdir()))
    (place / "photos" / "notes.txt").write_text("secret")
    (place / "photos" / ".hidden.png").write_text("secret")
    (place / "photos" / "link.png").symlink_to(place / "secret.txt")
    (place / "secret.txt").write_text("secret")
    client = view(place / "out", source=place / "photos")
    assert client.server.address.endswith("/out/")
    assert client.get("out/")[0] == 200
    assert client.get(f"photos/{name}") == (200, (place / "photos" / name).read_bytes())
    for path in (
        "photos/notes.txt",
        "photos/.hidden.png",
        "photos/link.png",
        "photos/",
        "photos",
        "secret.txt",
        "",
        "out",
    ):
        status, content = client.get(path)
        assert (status, b"secret" in content) == (404, False), path
    saved = (place / "out" / "events.json").read_bytes()
    assert client.post(saved, "out/events.json")[0] == 200
    assert client.post(saved, "photos/events.json")[0] == 404
    assert view(place / "out").get(f"photos/{name}")[0] == 404


def test_the_film_is_served_if_the_person_names_it(place, view):
    (place / "film.mp4").write_bytes(bytes(1000))
    (place / "other.mp4").write_bytes(bytes(1000))
    client = view(place / "out", source=place / "film.mp4")
    response, content = client.ask("GET", client.path + "film.mp4", {"Range": "bytes=10-"})
    assert (response.status, content) == (206, bytes(990))
    assert client.get("other.mp4")[0] == 404


def test_a_folder_without_a_result_is_refused(tmp_path):
    (tmp_path / "index.html").write_text("<p>my own</p>")
    with pytest.raises(ValueError, match=r"not a result of dayline; make one with dayline segment"):
        list(prepare(tmp_path))


@pytest.fixture
def trip(tmp_path) -> Path:
    """The result of two days; a third one could not be used."""
    source, out, settings = tmp_path / "A trip", tmp_path / "out", Settings(model="color")
    for number in (1, 2):
        day = f"2015031{number}"
        make_day(source / f"day {number}", [("red", 6), ("green", 7)], day=day)
    (source / "day 3").mkdir()
    (source / "day 3" / "broken.jpg").touch()
    days = find_days(source, settings, by_folder=True, store=out).days
    list(segment_days(days, out, settings, source=source))
    return out


def with_name(folder: Path, name: str) -> str:
    return (folder / "events.json").read_text().replace('"name": null', f'"name": "{name}"', 1)


def test_the_overview_shows_what_was_saved(trip, view):
    client = view(trip)
    before = client.get("")[1]
    status, answer = client.post(with_name(trip / "day 2", "Tearoom"), "day%202/events.json")
    assert status == 200
    assert json.loads(answer)["notes"] == []
    after = client.get("")[1]
    assert b"Tearoom" not in before
    assert b"Tearoom" in after
    # All else stays: the heading, pictures, events that look alike, and the day that could not be
    # used.
    was, now = (json.loads(DATA.search(text.decode())[1]) for text in (before, after))
    assert now["days"][1].pop("base") != was["days"][1].pop("base")
    now["days"][1]["events"][0][0] = None
    assert now == was
    assert was["why"][2]
    assert was["days"][0]["events"][0][5:] != [None, []]
    assert OwnFiles(trip).wrote("index.html")


def test_a_day_saved_alone_and_one_saved_by_hand_are_shown_too(trip):
    save_events(Segmentation.from_json(with_name(trip / "day 1", "Breakfast")), trip / "day 1")
    assert "Breakfast" in (trip / "index.html").read_text()
    (trip / "day 2" / "events.json").write_text(with_name(trip / "day 2", "Tearoom"))
    with warnings.catch_warnings(action="ignore"):  # the previous events.json is kept
        assert [folder.name for folder, _ in prepare(trip)] == ["day 2"]
    text = (trip / "index.html").read_text()
    assert "Breakfast" in text
    assert "Tearoom" in text


def test_an_overview_that_a_kill_left_behind_is_renewed(trip):
    before = (trip / "index.html").read_bytes()
    save_events(Segmentation.from_json(with_name(trip / "day 1", "Breakfast")), trip / "day 1")
    after = (trip / "index.html").read_bytes()
    (trip / "index.html").write_bytes(before)
    with warnings.catch_warnings(action="ignore"):
        assert list(prepare(trip)) == []
    assert (trip / "index.html").read_bytes() == after


def test_a_save_whose_overview_cannot_be_written_says_so(trip, view):
    client = view(trip)
    before = (trip / "index.html").read_bytes()
    (trip / "day 1" / "events.json").write_text("{")
    status, answer = client.post(with_name(trip / "day 2", "Tearoom"), "day%202/events.json")
    assert status == 200
    (note,) = json.loads(answer)["notes"]
    assert note.startswith("the overview of all days still shows the previous events: ")
    assert (trip / "index.html").read_bytes() == before
    assert '"Tearoom"' in (trip / "day 2" / "events.json").read_text()


def test_an_overview_that_cannot_be_read_is_left_and_named(trip):
    text = (trip / "index.html").read_text().replace('"folders":', '"other":')
    (trip / "index.html").write_text(text)
    saved = save_events(
        Segmentation.from_json(with_name(trip / "day 2", "Tearoom")), trip / "day 2"
    )
    assert [note for note in saved.notes if "not an overview of days" in note]
    assert (trip / "index.html").read_text() == text
    ((folder, error),) = prepare(trip)
    assert folder == trip
    assert "not an overview of days" in str(error)


def test_a_day_whose_result_was_removed_leaves_the_overview(trip):
    shutil.rmtree(trip / "day 1")
    assert list(prepare(trip)) == []
    assert "day%201" not in (trip / "index.html").read_text()


def test_days_are_served_and_saved_each_in_its_own_folder(tmp_path, trip, view):
    client = view(tmp_path / "out")
    assert b"A trip" in client.get("")[1]
    assert client.get("day%202/")[0] == 200
    before = (tmp_path / "out" / "day 1" / "events.json").read_bytes()
    text = with_name(tmp_path / "out" / "day 2", "Tea")
    status, answer = client.post(text, "day%202/events.json")
    assert status == 200
    assert b"day 2" in answer
    assert '"Tea"' in (tmp_path / "out" / "day 2" / "events.json").read_text()
    assert (tmp_path / "out" / "day 1" / "events.json").read_bytes() == before
    assert client.post(text, "events.json")[0] == 404  # the overview has no events
    assert client.post(text, "day%201/events.json")[0] == 422  # other frames


def test_a_result_that_cannot_be_written_is_shown_and_a_save_is_refused(place, view, read_only):
    out, source = place / "out", place / "photos"
    assert list(prepare(out)) == []
    assert why_unwritable(out) == "Read-only file system"
    client = view(out, source=source, unwritable=why_unwritable(out))
    assert client.path.startswith("/dayline-readonly-")
    assert client.get("out/")[0] == 200
    original = next(source.iterdir()).name
    assert client.get(f"photos/{original}")[0] == 200

    events = (out / "events.json").read_bytes()
    status, answer = client.post(events, "out/events.json")
    assert (status, json.loads(answer)) == (
        403,
        {"error": "the folder of the result cannot be written (Read-only file system)"},
    )
    usual = client.path.replace("readonly-", "") + "out/"
    assert client.ask("GET", usual)[0].status == 403


def test_days_that_cannot_be_written_are_shown_though_their_pages_are_old(trip, view, read_only):
    (trip / "day 2" / "events.json").write_text(with_name(trip / "day 2", "Tearoom"))
    found = dict(prepare(trip))
    assert sorted(folder.name for folder in found) == ["day 2", "out"]
    assert all("Read-only file system" in str(why) for why in found.values())
    client = view(trip, unwritable=why_unwritable(trip))
    assert client.get("day%202/")[0] == 200
    assert (
        client.post((trip / "day 2" / "events.json").read_bytes(), "day%202/events.json")[0] == 403
    )


def test_one_day_that_can_be_written_is_enough_to_save(trip, monkeypatch):
    acquire = FileLock.acquire

    def refuse_day_1(lock, *args, **options):
        if Path(lock.lock_file).parent.name == "day 1":
            raise PermissionError(errno.EACCES, "Permission denied")
        return acquire(lock, *args, **options)

    monkeypatch.setattr(FileLock, "acquire", refuse_day_1)
    assert why_unwritable(trip / "day 1") == "Permission denied"
    assert why_unwritable(trip) is None


def connection_without_token(server):
    """Connect, and send no more than the beginning of a request."""
    connection = socket.create_connection(("127.0.0.1", server.server_port), timeout=20)
    connection.sendall(b"GET /")
    return connection


def test_others_cannot_keep_the_page_from_the_one_who_has_the_token(place, view):
    client = view(place / "out")
    with ExitStack() as opened:
        others = [
            opened.enter_context(connection_without_token(client.server))
            for _ in range(2 * MOST_UNKNOWN)
        ]
        assert client.get("index.html")[0] == 200
        # All but the last of them were ended.
        assert others[0].recv(1) == b""
        assert len(client.server._unknown) <= MOST_UNKNOWN


def test_a_connection_without_the_token_has_a_deadline_for_its_whole_request(
    place, view, monkeypatch
):
    monkeypatch.setattr("dayline.album.view.UNKNOWN_SECONDS", 1.0)
    client = view(place / "out")
    known = HTTPConnection("127.0.0.1", client.server.server_port, timeout=20)
    known.request("GET", f"{client.path}graph.png")
    known.getresponse().read()

    began = monotonic()
    with connection_without_token(client.server) as slow, suppress(OSError):
        # One byte at a time, each long before the time for one read is over.
        while monotonic() - began < 20 and not select([slow], [], [], 0.2)[0]:
            slow.sendall(b"x")
    assert monotonic() - began < 10
    known.request("GET", f"{client.path}graph.png")
    assert known.getresponse().status == 200
    known.close()
