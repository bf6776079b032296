from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from lxml import etree
from PIL import Image

from dayline.album.export.photos import sidecar_text, write_xmp
from dayline.events import Event, Segmentation


@pytest.fixture
def source(tmp_path) -> Path:
    folder = tmp_path / "in"
    for name in ("a.jpg", "sub/b.NEF"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def of(*names: str, title: str | None = "Lunch") -> Segmentation:
    events = (Event(0, 1, name=title), Event(1, len(names)))
    return Segmentation(events, names=names, source="my day")


def keywords(text: str) -> list[str]:
    return [
        item.text
        for item in etree.fromstring(text.encode()).iter(
            "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}li"
        )
    ]


def sidecars(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.xmp"))


def test_the_folder_mirrors_the_photos_and_raw_photos_have_the_name_lightroom_reads(tmp_path):
    write_xmp(of("a.jpg", "sub/b.NEF", "sub/b.jpg", "sub/b.dng"), tmp_path / "xmp")
    assert sidecars(tmp_path / "xmp") == [
        "a.jpg.xmp",
        "sub/b.dng.xmp",
        "sub/b.jpg.xmp",
        "sub/b.xmp",
    ]


def test_undated_events_are_grouped_by_their_source(tmp_path):
    write_xmp(of("a.jpg", "b.jpg"), tmp_path / "xmp")
    found = keywords((tmp_path / "xmp" / "b.jpg.xmp").read_text(encoding="utf-8"))
    assert found == ["Event 2", "dayline|my day|Event 2", "dayline/my day/Event 2"]


def test_a_name_cannot_break_out_of_its_keyword(tmp_path):
    write_xmp(of("a.jpg", "b.jpg", title='</rdf:li>|x/"\x00\ud800&amp;'), tmp_path / "xmp")
    found = keywords((tmp_path / "xmp" / "a.jpg.xmp").read_text(encoding="utf-8"))
    assert found[0] == '<-rdf:li>-x-"\ufffd&amp;'
    assert found[1] == f"dayline|my day|{found[0]}"


@pytest.mark.parametrize("name", ["../a.jpg", "/etc/passwd", "C:\\a.jpg", "x\0.jpg"])
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="points outside the photo folder"):
        write_xmp(of("a.jpg", name), tmp_path / "xmp")
    assert list(tmp_path.iterdir()) == []


def test_frames_of_a_film_have_no_sidecars(tmp_path):
    film = Segmentation.from_boundaries(
        [1], 2, times=(0.0, 1.0), clock="media", names=("0:00", "0:01")
    )
    with pytest.raises(ValueError, match="sidecars describe photos"):
        write_xmp(film, tmp_path / "xmp")


def test_sidecars_with_other_times_are_replaced_and_changed_ones_with_force(tmp_path):
    folder = write_xmp(of("a.jpg", "b.jpg"), tmp_path / "xmp")
    os.utime(folder / "a.jpg.xmp", (1, 1))
    write_xmp(of("a.jpg", "b.jpg", title="Dinner"), folder)
    assert "Dinner" in (folder / "a.jpg.xmp").read_text()
    text = (folder / "a.jpg.xmp").read_text()
    (folder / "a.jpg.xmp").write_text(text.replace("Dinner", "Supper"))  # of the same size
    with pytest.raises(ValueError, match=r"'a\.jpg\.xmp' that was changed since"):
        write_xmp(of("a.jpg", "b.jpg"), folder)
    with pytest.warns(UserWarning, match="1 file in .*xmp not written by dayline, changed since"):
        write_xmp(of("a.jpg", "b.jpg"), folder, force=True)
    assert "Supper" not in (folder / "a.jpg.xmp").read_text()
    (kept,) = tmp_path.glob("xmp-kept-*/a.jpg.xmp")
    assert "Supper" in kept.read_text()


def test_nothing_is_written_beside_the_photos_unless_asked(source, tmp_path):
    write_xmp(of("a.jpg", "sub/b.NEF"), tmp_path / "xmp", source=source)
    assert sidecars(source) == []
    with pytest.raises(ValueError, match=r"needs the folder of photos; pass source \(--source\)"):
        write_xmp(of("a.jpg", "sub/b.NEF"), tmp_path / "xmp", beside=True)


def test_sidecars_beside_the_photos_are_renewed_but_those_of_others_stay(source, tmp_path):
    (source / "sub" / "b.xmp").write_text("by Lightroom")
    with pytest.warns(UserWarning, match=r"1 sidecar not written by dayline, left unchanged"):
        write_xmp(of("a.jpg", "sub/b.NEF"), tmp_path / "xmp", source=source, beside=True)
    assert (source / "sub" / "b.xmp").read_text() == "by Lightroom"
    (source / "sub" / "b.xmp").unlink()
    write_xmp(
        of("a.jpg", "sub/b.NEF", title="Dinner"), tmp_path / "xmp", source=source, beside=True
    )
    assert keywords((source / "a.jpg.xmp").read_text(encoding="utf-8"))[0] == "Dinner"
    assert sidecars(source) == ["a.jpg.xmp", "sub/b.xmp"]
    # digiKam adds a rating to ours: then it is no longer ours to replace.
    (source / "a.jpg.xmp").write_text("by digiKam")
    with pytest.warns(UserWarning, match="1 sidecar not written by dayline"):
        write_xmp(of("a.jpg", "sub/b.NEF"), tmp_path / "xmp", source=source, beside=True)
    assert (source / "a.jpg.xmp").read_text() == "by digiKam"


def test_a_link_in_place_of_a_sidecar_is_not_followed(source, tmp_path):
    (tmp_path / "mine").write_text("mine")
    (source / "a.jpg.xmp").symlink_to(tmp_path / "mine")
    with pytest.warns(UserWarning, match="left unchanged"):
        write_xmp(of("a.jpg", "sub/b.NEF"), tmp_path / "xmp", source=source, beside=True)
    assert (tmp_path / "mine").read_text() == "mine"


def test_exiftool_copies_a_sidecar_into_a_photo(tmp_path):
    """The way into Lightroom, which ignores sidecars of JPEG files, as the docs say."""
    if shutil.which("exiftool") is None:
        pytest.skip("exiftool is not installed")
    photos = tmp_path / "photos"
    (photos / "sub").mkdir(parents=True)
    for name in ("a.jpg", "sub/b.jpg"):
        Image.new("RGB", (8, 8)).save(photos / name)
        (photos / f"{name}.xmp").write_text(
            sidecar_text("Lunch", group="2024-05-12"), encoding="utf-8"
        )
    command = [
        "exiftool",
        "-r",
        "-ext",
        "jpg",
        "-tagsFromFile",
        "%d%f.%e.xmp",
        "-XMP:all",
        str(photos),
    ]
    subprocess.run(command, check=True, capture_output=True)
    for name in ("a.jpg", "sub/b.jpg"):
        done = subprocess.run(
            ["exiftool", "-s3", "-Subject", photos / name], capture_output=True, check=True
        )
        assert done.stdout.strip() == b"Lunch"


def test_two_mornings_of_a_day_are_two_keywords(tmp_path):
    day = Segmentation.from_boundaries(
        [1, 2],
        3,
        times=[1_715_500_800.0 + 60 * k for k in range(3)],  # 2024-05-12 08:00
        clock="wall",
        names=("a.jpg", "b.jpg", "c.jpg"),
    )
    write_xmp(day, tmp_path / "xmp")
    found = [
        keywords((tmp_path / "xmp" / f"{name}.jpg.xmp").read_text(encoding="utf-8"))[0]
        for name in "abc"
    ]
    assert found == ["Morning", "Morning (2)", "Morning (3)"]
