"""`dayline share`: a page to give away, in one file or a folder."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from cli.run_command import contents, run, segmented
from dayline.album.hidden import without_hidden
from dayline.album.share import share
from dayline.events import Place, Segmentation, read_events
from made_films import make_moving_film
from made_photos import make_film
from made_secrets import EMBEDDED, FILE, MAGENTA, hide, make_trip, traces, traces_below

pytestmark = pytest.mark.filterwarnings("ignore:.* is kept as:UserWarning")


@pytest.fixture(scope="module")
def trip(tmp_path_factory) -> tuple[Path, Segmentation]:
    """The photos and, beside them, their album with hidden ones, which was not run again."""
    place = tmp_path_factory.mktemp("share")
    make_trip(place / "trip")
    segmented(place / "trip", "-o", place / "out")
    return place, hide(place / "out" / "2015-03-12")


def shared(place: Path, output: Path, *options: object) -> str:
    done = run("share", place / "out", "-o", output, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def pictures(page: Path) -> list[np.ndarray]:
    """The pictures that are embedded in a page."""
    found = [base64.b64decode(match[1]) for match in EMBEDDED.finditer(page.read_bytes())]
    return [np.asarray(Image.open(io.BytesIO(one)).convert("RGB"), dtype=int) for one in found]


@pytest.mark.parametrize("output", ["one.html", "folder"])
def test_nothing_of_hidden_photos_is_in_it(trip, tmp_path, output):
    place, hidden = trip
    assert "31 photos" in shared(place, tmp_path / "x" / output)
    assert traces_below(tmp_path / "x", hidden) == []
    # Nor of where it was made, of file names and of places.
    everything = b"".join(contents(tmp_path / "x").values())
    for secret in (str(place).encode(), b"photo-0", b"Lisbon", b"38.71", b"Exif", b"thumbnails"):
        assert secret not in everything
    assert b"fetch(" not in everything
    assert b"localStorage" not in everything


def test_all_that_is_left_is_in_it(trip, tmp_path):
    place, _ = trip
    shared(place, tmp_path / "one.html")
    text = (tmp_path / "one.html").read_text()
    assert '<h1 dir="auto">12–13 March 2015</h1>' in text
    assert text.count("<section") == 3  # red, blue, green
    means = [picture.mean(axis=(0, 1)).argmax() for picture in pictures(tmp_path / "one.html")]
    assert means == [0] * 9 + [2] * 10 + [1] * 12
    assert "09:00 – 09:09" in text
    assert len(re.findall("<button[^>]* data-best", text)) == 3 * 6


def test_places_coordinates_and_names_are_in_it_if_asked_for(trip, tmp_path):
    place, hidden = trip
    # The location of the red event was found with a hidden photo; the next run finds it without.
    options = ("--with-places", "--with-locations", "--with-names")
    shared(place, tmp_path / "blue.html", "--days", 2, *options)
    content = (tmp_path / "blue.html").read_bytes()
    assert traces(content, hidden) == []
    assert b"38.7169, -9.1399" in content
    assert b"photo-03.jpg" in content


def test_names_of_places_are_in_it_if_asked_for(tmp_path):
    make_trip(tmp_path / "trip")
    segmented(tmp_path / "trip", "-o", tmp_path / "out")
    day = tmp_path / "out" / "2015-03-13"
    found = read_events(day / "events.json")
    community = found.events[0].community
    named = replace(found, places=(Place(community or 0, "Allotment"),))
    (day / "events.json").write_text(named.to_json())
    for options, expected in (((), False), (("--with-places",), True)):
        shared(tmp_path, tmp_path / "one.html", *options)
        assert ("Allotment" in (tmp_path / "one.html").read_text()) == expected


def test_chosen_days_and_events_only(trip, tmp_path):
    place, _ = trip
    assert "12 photos" in shared(place, tmp_path / "a.html", "--days", "2")
    assert "10 photos" in shared(place, tmp_path / "b.html", "--days", "1", "--events", "3")
    assert all(p.mean(axis=(0, 1)).argmax() == 2 for p in pictures(tmp_path / "b.html"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--days", "3"), "--days: there is no day 3; they are 1 to 2"),
        (("--days", "1", "--events", "2"), "event 2 is hidden"),
        (("--days", "1", "--events", "9"), "there is no event 9; they are 1 to 3"),
        (("--events", "1"), "choose one day, too"),
        (("--days", "5-3"), "'5-3' is not a number or a range"),
        (("--source", "nowhere"), "nowhere: no such folder"),
    ],
)
def test_wrong_requests_are_one_line(trip, tmp_path, options, message):
    place, _ = trip
    done = run("share", place / "out", "-o", tmp_path / "x.html", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_called_like_a_file_of_another_kind(trip, tmp_path):
    place, _ = trip
    done = run("share", place / "out", "-o", tmp_path / "mine.txt")
    assert done.returncode == 2
    assert done.stderr.endswith(
        "mine.txt: give a file that ends with .html, or a folder (no extension)\n"
    )
    assert list(tmp_path.iterdir()) == []
    shared(place, tmp_path / "2023.07", "--days", "2")
    assert (tmp_path / "2023.07" / "index.html").is_file()


def test_pictures_are_reduced_until_they_fit_and_it_says_so(tmp_path):
    rng = np.random.default_rng(0)
    for k in range(6):
        path = tmp_path / "trip" / f"20150312_09{k:02d}00.jpg"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (900, 1200, 3), dtype=np.uint8)).save(path)
    segmented(tmp_path / "trip", "-o", tmp_path / "out")
    sides = []
    for limit in (20, 1.5, 0.5):
        printed = shared(tmp_path, tmp_path / "one.html", "--max-mb", limit)
        assert (tmp_path / "one.html").stat().st_size <= limit * 1e6
        sides.append(max(max(picture.shape) for picture in pictures(tmp_path / "one.html")))
        assert f"up to {sides[-1]} pixels" in printed
    assert sides[0] == 1200 > sides[1] > sides[2] >= 340
    assert re.search(r": \d of 6 photos, the best of each event", printed)
    with pytest.raises(ValueError, match=r"take more than 0\.07 MB"):
        share(tmp_path / "out", tmp_path / "two.html", max_mb=0.07)
    assert not (tmp_path / "two.html").exists()


def test_another_photo_under_the_name_of_a_shown_one_is_not_shared(tmp_path):
    make_trip(tmp_path / "trip")
    segmented(tmp_path / "trip", "-o", tmp_path / "out")
    hidden = hide(tmp_path / "out" / "2015-03-12")
    shown, secret = (
        tmp_path / "trip" / "2015-03-12" / f"{n}.jpg" for n in ("photo-03", f"{FILE}-04")
    )
    secret.replace(shown)
    shared(tmp_path, tmp_path / "one.html")
    assert traces((tmp_path / "one.html").read_bytes(), hidden) == []
    assert len(pictures(tmp_path / "one.html")) == 31


def test_without_the_photos_the_small_pictures_are_used(trip, tmp_path):
    place, hidden = trip
    (tmp_path / "alone").mkdir()
    (place / "out").rename(tmp_path / "alone" / "out")
    try:
        shared(tmp_path / "alone", tmp_path / "one.html")
    finally:
        (tmp_path / "alone" / "out").rename(place / "out")
    assert len(pictures(tmp_path / "one.html")) == 31
    assert traces((tmp_path / "one.html").read_bytes(), hidden) == []


def test_what_others_wrote_is_not_replaced_and_a_result_is_no_place_for_it(trip, tmp_path):
    place, _ = trip
    page, folder = tmp_path / "mine.html", tmp_path / "mine"
    page.write_text("<p>my own")
    folder.mkdir()
    (folder / "diary.txt").write_text("mine")
    for output in (page, folder, place / "out" / "x.html", place / "out" / "2015-03-12" / "x"):
        assert run("share", place / "out", "-o", output).returncode == 2
    done = run("share", place / "out", "-o", folder)
    assert done.stderr.endswith("choose another folder, or use --force\n")
    assert page.read_text() == "<p>my own"
    assert [path.name for path in folder.iterdir()] == ["diary.txt"]
    for output in (tmp_path / "a.html", tmp_path / "a"):
        before = shared(place, output)
        assert shared(place, output, "--days", "2") != before  # its own is replaced
    assert len(list((tmp_path / "a").rglob("*.jpg"))) == 12


def test_a_film_and_hidden_days_only_have_one_line(trip, tmp_path):
    place, _ = trip
    make_film(tmp_path / "film.mp4")
    segmented(tmp_path / "film.mp4", "-o", tmp_path / "of film")
    done = run("share", tmp_path / "of film", "-o", tmp_path / "x.html")
    assert (done.returncode, "is the result of a film" in done.stderr) == (2, True)
    done = run("export", place / "out", "--format", "story")
    assert (done.returncode, "pass the result of one day" in done.stderr) == (2, True)
    done = run("share", place / "trip", "-o", tmp_path / "x.html")
    assert (done.returncode, "not a result of photos" in done.stderr) == (2, True)
    (tmp_path / "album").mkdir()
    segmented(place / "trip" / "2015-03-13", "-o", tmp_path / "album" / "out")
    events = tmp_path / "album" / "out" / "events.json"
    found = read_events(events)
    events.write_text(found.about(hidden=tuple(range(found.n_frames))).to_json())
    done = run("share", tmp_path / "album" / "out", "-o", tmp_path / "x.html")
    assert (done.returncode, "all photos are hidden" in done.stderr) == (2, True)
    assert without_hidden(read_events(events)) is None


def test_names_cannot_leave_the_page(tmp_path):
    make_trip(tmp_path / "trip")
    segmented(tmp_path / "trip" / "2015-03-13", "-o", tmp_path / "out")
    events = tmp_path / "out" / "events.json"
    found = read_events(events)
    nasty = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
    named = replace(found, events=(replace(found.events[0], name=nasty), *found.events[1:]))
    events.write_text(named.to_json())
    shared(tmp_path, tmp_path / "one.html", "--title", nasty)
    text = (tmp_path / "one.html").read_text()
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_faces_are_blurred_if_asked_for_or_in_the_result(tmp_path, monkeypatch):
    seen: list[tuple[int, ...]] = []

    def made_blurrer():
        def blur(pixels):
            seen.append(pixels.shape)
            return np.zeros_like(pixels)

        return blur

    make_trip(tmp_path / "trip")
    segmented(tmp_path / "trip" / "2015-03-13", "-o", tmp_path / "out")
    monkeypatch.setattr("dayline.album.share.face_blurrer", made_blurrer)
    shared(tmp_path, tmp_path / "plain.html")
    assert seen == []
    shared(tmp_path, tmp_path / "blurred.html", "--blur-faces")
    assert len(seen) == 12
    assert all(picture.max() == 0 for picture in pictures(tmp_path / "blurred.html"))
    page = tmp_path / "out" / "index.html"
    page.write_text(page.read_text().replace('"blurred":false', '"blurred":true'))
    # Pictures of the result are blurred already, the photos are not.
    shared(tmp_path, tmp_path / "again.html", "--source", tmp_path / "trip" / "2015-03-13")
    assert all(picture.max() == 0 for picture in pictures(tmp_path / "again.html"))


PHONE_TAGS = {
    "creation_time": "2015-03-12T09:30:30Z",
    "com.apple.quicktime.location.ISO6709": "+64.1466-021.9426/",
    "comment": f"{FILE} film",
}


def with_videos(place: Path) -> Segmentation:
    """The trip with a video that is shared and one that is hidden, as a phone writes them."""
    make_trip(place / "trip")
    for name, minute, secret in (("clip", 22, False), (f"{FILE}-film", 12, True)):
        tags = PHONE_TAGS | {"creation_time": f"2015-03-12T09:{minute}:30Z"}
        picture = np.full((90, 160, 3), MAGENTA if secret else (40, 60, 210), np.uint8)
        make_moving_film(
            place / "trip" / "2015-03-12" / f"{name}.mov", [], pictures=[picture] * 30, tags=tags
        )
    segmented(place / "trip", "-o", place / "out", "--timezone", "UTC")
    events = place / "out" / "2015-03-12" / "events.json"
    found = read_events(events)
    hidden = tuple(k for k, name in enumerate(found.names or ()) if FILE in name)
    events.write_text(replace(found, hidden=hidden).to_json(), encoding="utf-8")
    return read_events(events)


def test_videos_play_in_a_folder_and_nothing_of_hidden_ones_is_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr("dayline.album.export.shared_video.SIDE", 44)
    hidden = with_videos(tmp_path)
    assert any("film" in (hidden.names or ())[k] for k in hidden.hidden)
    told = shared(tmp_path, tmp_path / "given")
    assert "picture only" not in told
    assert traces_below(tmp_path / "given", hidden) == []
    (video,) = (tmp_path / "given").rglob("*.mp4")
    assert video.read_bytes().count(b"moov") == 1
    for secret in (b"64.14", b"verboten", b"2015", b"quicktime"):
        assert secret not in video.read_bytes()
    with av.open(str(video)) as made:
        assert {stream.codec_context.name for stream in made.streams} == {"h264"}
        frames = [frame.to_ndarray(format="rgb24") for frame in made.decode(video=0)]
    assert len(frames) == 30
    assert frames[0].shape == (44, 78, 3)  # of 90 x 160
    np.testing.assert_allclose(frames[-1].mean(axis=(0, 1)), (40, 60, 210), atol=12)

    # In one file it is a picture with a mark, and so it is where faces must not be seen.
    told = shared(tmp_path, tmp_path / "one.html")
    assert "1 video shown by a picture only; they play in a folder" in told
    for page in (tmp_path / "given" / "index.html", tmp_path / "one.html"):
        assert page.read_text().count('class="badge" data-length="0:01"') == 1
    assert "data-video" not in (tmp_path / "one.html").read_text().partition("<script>")[0]
    shared(tmp_path, tmp_path / "blurred", "--blur-faces")
    shared(tmp_path, tmp_path / "small", "--max-mb", 0.2)
    assert list(tmp_path.rglob("blurred/**/*.mp4")) == []
    # A video that was replaced by another one is not it; only its small picture is.
    (tmp_path / "trip/2015-03-12/clip.mov").unlink()
    (tmp_path / f"trip/2015-03-12/{FILE}-film.mov").rename(tmp_path / "trip/2015-03-12/clip.mov")
    told = shared(tmp_path, tmp_path / "again")
    assert "1 video shown by a picture only" in told
    assert traces_below(tmp_path / "again", hidden) == []
    assert list(tmp_path.rglob("again/**/*.mp4")) == []


def test_a_long_video_is_shown_by_a_picture(tmp_path, monkeypatch):
    with_videos(tmp_path)
    monkeypatch.setattr("dayline.album.export.shared_video.LONGEST", 1.0)
    assert "1 video shown by a picture only\n" in shared(tmp_path, tmp_path / "given")
