"""Another program or library opens every export, and gives back the same events."""

from __future__ import annotations

import base64
import csv
import io
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from lxml import etree
from PIL import Image

from album.export.conftest import ffmpeg
from dayline.album.export.formats import FORMATS, export
from dayline.events import Event, Place, Segmentation

NAME = 'Café & <Bar>; "x", 50% \\ \u05e9\u05dc\u05d5\u05dd|a/b'
SECONDS = 48.2
STARTS = [0.0, 12.0, 25.0, 37.0]
TITLES = [NAME, "Event 2", "=1+1", "Event 4"]
OF_DAY = [NAME, "kitchen, <ours>, 15 minutes", "=1+1", "kitchen, <ours>, 10 minutes"]
NOON = datetime(2024, 5, 12, 16, 51)


def program(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


@pytest.fixture(scope="module")
def film(tmp_path_factory) -> Path:
    """A film of 48.2 s with sound, a key frame a second, made by FFmpeg."""
    path = tmp_path_factory.mktemp("film") / "my film.mp4"
    pictures = ("-f", "lavfi", "-i", "testsrc=size=64x48:rate=25")
    sound = ("-f", "lavfi", "-i", "sine=sample_rate=16000")
    options = f"-t {SECONDS} -c:v libx264 -g 25 -pix_fmt yuv420p -c:a aac".split()
    ffmpeg(*pictures, *sound, *options, path)
    return path


@pytest.fixture(scope="module")
def events() -> Segmentation:
    """Four events; the last of the frames, every 0.5 s, lies 0.7 s before the end of the film."""
    bounds = [*(round(2 * start) for start in STARTS), 96]
    names = (NAME, None, "=1+1", None)
    four = tuple(
        Event(a, b, community=k % 2, key_frame=a, name=name)
        for k, (a, b, name) in enumerate(zip(bounds, bounds[1:], names, strict=False))
    )
    times = tuple(k / 2 for k in range(96))
    return Segmentation(
        four,
        times=times,
        clock="media",
        source="my film.mp4",
        names=tuple(f"{t:.1f}" for t in times),
    )


@pytest.fixture(scope="module")
def day(tmp_path_factory, events) -> tuple[Segmentation, Path]:
    """The same events as photos, 30 s apart, in two folders."""
    source = tmp_path_factory.mktemp("day")
    names = [f"{'ab'[k % 2]}/IMG & {k}.jpg" for k in range(96)]
    for k, name in enumerate(names):
        (source / name).parent.mkdir(exist_ok=True)
        Image.fromarray(np.full((24, 32, 3), 2 * k, dtype=np.uint8)).save(source / name)
    first = (NOON - datetime(1970, 1, 1)).total_seconds()
    placed = (*events.events[:3], replace(events.events[3], location=(47.376888, -8.54)))
    about = {
        "times": tuple(first + 30 * k for k in range(96)),
        "clock": "wall",
        "names": tuple(names),
    }
    return (
        replace(
            events, events=placed, places=(Place(1, "kitchen, <ours>"),), source="day", **about
        ),
        source,
    )


def spans_of(end: float) -> list[tuple[float, float]]:
    return list(zip(STARTS, [*STARTS[1:], end], strict=True))


def read_csv(path: Path, _: object) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["title"] for row in rows] == [NAME, "Event 2 (B)", "'=1+1", "Event 4 (B)"]


def read_webvtt(path: Path, _: object) -> None:
    cues = list(pytest.importorskip("webvtt").read(str(path)))
    found = [(cue.start_in_seconds, cue.end_in_seconds) for cue in cues]
    assert found[:-1] == spans_of(SECONDS)[:-1]
    assert cues[-1].end == "00:00:48.200"


def read_ffmetadata(
    path: Path, ffmpeg_chapters: Callable[[Path], list[tuple[float, float, str]]]
) -> None:
    assert ffmpeg_chapters(path) == [
        (*span, title) for span, title in zip(spans_of(SECONDS), TITLES, strict=True)
    ]


def read_youtube(path: Path, _: object) -> None:
    # YouTube reads the first word of a line as m:ss.
    clocks = [line.split()[0] for line in path.read_text(encoding="utf-8").splitlines()]
    assert [
        timedelta(minutes=int(m), seconds=int(s)).total_seconds()
        for m, s in (c.split(":") for c in clocks)
    ] == STARTS


def read_podcast(path: Path, _: object) -> None:
    listed = json.loads(path.read_text(encoding="utf-8"))["chapters"]
    assert [one["startTime"] for one in listed] == STARTS
    assert [one["title"] for one in listed] == list(TITLES)


def read_kodi(path: Path, _: object) -> None:
    # No program reads these here; test_chapters.py reads them as Kodi's source does.
    lines = path.read_text(encoding="utf-8").splitlines()
    clocks = [line.split()[1].split(":") for line in lines[1::2]]
    assert [3600 * int(h) + 60 * int(m) + float(s) for h, m, s in clocks] == STARTS


def read_timeline(path: Path, _: object) -> None:
    otio = pytest.importorskip("opentimelineio")
    if path.suffix == ".edl":
        pytest.importorskip("otio_cmx3600_adapter")
    timeline = otio.adapters.read_from_file(
        str(path), **({"rate": 25} if path.suffix == ".edl" else {})
    )
    clips = list(timeline.tracks[0])
    assert [clip.source_range.start_time.to_seconds() for clip in clips] == STARTS
    assert clips[-1].source_range.end_time_exclusive().to_seconds() == pytest.approx(SECONDS)
    assert [clip.name for clip in clips][1:] == TITLES[1:]


def read_fcpxml(path: Path, _: object) -> None:
    pytest.importorskip("opentimelineio")
    adapter = pytest.importorskip("otio_fcpx_xml_adapter.fcpx_xml")
    (timeline,) = adapter.read_from_string(path.read_text(encoding="utf-8"))
    clips = list(timeline.tracks[0])
    assert [clip.name for clip in clips] == TITLES
    assert [clip.source_range.start_time.to_seconds() for clip in clips] == STARTS
    assert clips[-1].source_range.end_time_exclusive().to_seconds() == pytest.approx(SECONDS)
    (media,) = etree.parse(path).iter("media-rep")
    assert Path(media.get("src").removeprefix("file://").replace("%20", " ")).is_file()


def read_clips(path: Path, _: object) -> None:
    clips = sorted(path.glob("*.mp4"))
    assert [clip.name[:9] for clip in clips] == ["01 Café &", "02 Event.", "03 =1+1.m", "04 Event."]
    lengths = []
    for clip in clips:
        ffmpeg("-xerror", "-i", clip, "-f", "null", "-")
        with av.open(str(clip)) as container:
            frames = list(container.decode(video=0))
            assert frames[0].key_frame
            assert float(frames[0].time) == pytest.approx(0.0, abs=0.01)
            lengths.append(len(frames) / 25)
            sound = (
                sum(frame.samples for frame in container.decode(audio=0))
                if container.seek(0) is None
                else 0
            )
            assert sound / 16000 == pytest.approx(lengths[-1], abs=0.15)
    assert lengths == pytest.approx([12.0, 13.0, 12.0, 11.2])


def read_ics(path: Path, _: object) -> None:
    icalendar = pytest.importorskip("icalendar")
    text = path.read_bytes()
    assert all(len(line) <= 75 for line in text.split(b"\r\n"))
    calendar = icalendar.Calendar.from_ical(text)
    found = list(calendar.walk("VEVENT"))
    assert not any(event.errors for event in found)
    assert [str(event["SUMMARY"]) for event in found] == OF_DAY
    assert [event.decoded("DTSTART") for event in found] == [
        NOON + timedelta(seconds=60 * s) for s in STARTS
    ]
    assert found[0].decoded("DTEND") == NOON + timedelta(seconds=30 * 23)
    assert str(found[1]["LOCATION"]) == "kitchen, <ours>"
    assert (found[3]["GEO"].latitude, found[3]["GEO"].longitude) == (47.376888, -8.54)
    assert len({str(event["UID"]) for event in found}) == 4


def read_xmp(path: Path, _: object) -> None:
    sidecars = sorted(path.rglob("*.xmp"))
    assert len(sidecars) == 96
    for sidecar in sidecars:
        etree.parse(sidecar)
    command = [program("exiftool"), "-json", "-struct", "-XMP:all", str(path / "a/IMG & 0.jpg.xmp")]
    command.append(str(path / "b/IMG & 25.jpg.xmp"))
    first, second = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    name = NAME.replace("|", "-").replace("/", "-")
    assert first["Subject"] == [name]
    assert first["HierarchicalSubject"] == [f"dayline|2024-05-12|{name}"]
    assert second["Subject"] == [OF_DAY[1], "kitchen, <ours>"]
    assert second["TagsList"] == [
        f"dayline/2024-05-12/{OF_DAY[1]}",
        "dayline/places/kitchen, <ours>",
    ]


def read_photos(path: Path, _: object) -> None:
    folders = sorted(p for p in path.iterdir() if p.is_dir())
    assert [folder.name for folder in folders][1:] == [
        "2024-05-12 17.03 kitchen, _ours_, 15 minutes",
        "2024-05-12 17.16 =1+1",
        "2024-05-12 17.28 kitchen, _ours_, 10 minutes",
    ]
    for photo in path.rglob("*.jpg"):
        with Image.open(photo) as picture:
            picture.verify()


def read_story(path: Path, _ffmpeg_chapters):
    page = etree.parse(path, etree.HTMLParser())
    assert len(page.findall(".//section")) == 4
    for picture in page.findall(".//section//img"):
        kind, _, content = picture.get("src").partition(",")
        assert kind == "data:image/jpeg;base64"
        with Image.open(io.BytesIO(base64.b64decode(content))) as shown:
            shown.verify()


READERS = {
    "csv": read_csv,
    "webvtt": read_webvtt,
    "ffmetadata": read_ffmetadata,
    "youtube": read_youtube,
    "podcast": read_podcast,
    "kodi": read_kodi,
    "edl": read_timeline,
    "otio": read_timeline,
    "fcpxml": read_fcpxml,
    "clips": read_clips,
    "ics": read_ics,
    "xmp": read_xmp,
    "photos": read_photos,
    "story": read_story,
}


def test_every_format_has_a_reader():
    assert READERS.keys() == FORMATS.keys()


# From Python 3.12 on, in the reader of FCPXML.
@pytest.mark.filterwarnings("ignore:Testing an element's truth value:DeprecationWarning")
@pytest.mark.parametrize("name", READERS)
def test_another_program_reads_the_export(name, film, events, day, ffmpeg_chapters, tmp_path):
    if name == "otio":
        pytest.importorskip("opentimelineio")
    shutil.copy(film, tmp_path / "film.mp4")
    of_film = "video" in FORMATS[name].suits
    segmentation, source = (events, film) if of_film else day
    (path,) = export(segmentation, tmp_path, formats=[name], source=source)
    READERS[name](path, ffmpeg_chapters)


def test_times_of_a_film_at_29_97_are_exact_in_fcpxml(events, tmp_path):
    export(events, tmp_path, formats=["fcpxml"], fps=30000 / 1001)
    first, *_ = etree.parse(tmp_path / "events.fcpxml").iter("asset-clip")
    (shape,) = etree.parse(tmp_path / "events.fcpxml").iter("format")
    assert shape.get("frameDuration") == "1001/30000s"
    seconds = Fraction(first.get("duration").removesuffix("s"))
    assert seconds == 24 * Fraction(1001, 30000)


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="needs ffprobe (apt install ffmpeg)")
def test_ffprobe_reads_the_titles_of_a_copy(film, events, tmp_path):
    export(events, tmp_path, formats=[], with_chapters=True, source=film)
    (copy,) = tmp_path.glob("*-chapters.*")
    command = ["ffprobe", "-v", "error", "-show_chapters", "-of", "json", str(copy)]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["chapters"]
    assert [one["tags"]["title"] for one in listed] == list(TITLES)
    assert [float(one["start_time"]) for one in listed] == STARTS


@pytest.mark.skipif(shutil.which("mkvmerge") is None, reason="needs mkvmerge (mkvtoolnix)")
def test_mkvmerge_reads_the_titles_of_a_copy(film, events, tmp_path):
    export(events, tmp_path, formats=[], with_chapters=True, source=film)
    (copy,) = tmp_path.glob("*-chapters.*")
    made = tmp_path / "made.mkv"
    subprocess.run(["mkvmerge", "-q", "-o", str(made), str(copy)], check=True)
    command = ["mkvextract", "-q", str(made), "chapters", "-"]
    text = subprocess.run(command, check=True, capture_output=True).stdout
    root = etree.fromstring(text)
    assert [one.text for one in root.iter("ChapterString")] == list(TITLES)
