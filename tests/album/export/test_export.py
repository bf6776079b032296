from __future__ import annotations

import errno
import os

import pytest
from PIL import Image

from dayline.album.export.formats import (
    FORMATS,
    ExportsFailedError,
    check_suited,
    export,
    suited_formats,
)
from dayline.events import Segmentation


@pytest.fixture
def photos(tmp_path) -> tuple[Segmentation, object]:
    source = tmp_path / "in"
    source.mkdir()
    names = tuple(f"{k}.jpg" for k in range(6))
    for k, name in enumerate(names):
        Image.new("RGB", (64, 48), (40 * k, 90, 90)).save(source / name)
    times = tuple(1e9 + 30 * k for k in range(6))
    return Segmentation.from_boundaries([2, 4], 6, names=names, times=times, clock="wall"), source


def test_every_format_is_written_into_the_folder_and_nowhere_else(photos, tmp_path):
    pytest.importorskip("opentimelineio")
    segmentation, source = photos
    formats = suited_formats(list(FORMATS), "photos")
    written = export(segmentation, tmp_path / "new" / "out", formats=formats, source=source)
    assert len(set(written)) == len(formats) == len(FORMATS) - 2
    assert all(path.exists() and path.parent == tmp_path / "new" / "out" for path in written)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "new"]
    made = {p.name for p in (tmp_path / "new" / "out").iterdir()}
    assert made == {".dayline-files.json", *(p.name for p in written)}


def test_a_second_run_updates_the_first(photos, tmp_path):
    pytest.importorskip("opentimelineio")
    segmentation, source = photos
    formats = suited_formats(list(FORMATS), "photos")
    first = export(segmentation, tmp_path / "out", formats=formats, source=source)
    before = {
        path: path.read_bytes()
        for path in tmp_path.rglob("*.*")
        if path.suffix in (".ics", ".xmp", ".vtt")
    }
    second = export(segmentation, tmp_path / "out", formats=formats, source=source)
    assert first == second
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("name", "kind"), [("photos", "video"), ("xmp", "features"), ("clips", "photos")]
)
def test_formats_that_a_source_cannot_give_are_named_before_the_work(name, kind):
    assert suited_formats(["csv", name], kind) == ("csv",)
    with pytest.raises(
        ValueError, match=f"here: --export {name} needs (photos|a video); leave it out"
    ):
        check_suited(["csv", name], kind, source="here")


def test_an_unknown_format_is_named_before_anything_is_written(photos, tmp_path):
    with pytest.raises(ValueError, match="unknown export format 'docx'; choose from csv, webvtt"):
        export(photos[0], tmp_path / "out", formats=["csv", "docx"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["photos", "clips"])
def test_formats_with_pictures_ask_for_the_source(photos, tmp_path, name):
    with pytest.raises(ValueError, match=f"^{name}: needs the photos or the video; pass source"):
        export(photos[0], tmp_path / "out", formats=[name])


@pytest.mark.parametrize(
    "name", [name for name, form in FORMATS.items() if form.is_timed and not form.is_folder]
)
def test_formats_with_times_take_frames_per_second(tmp_path, name):
    if name == "otio":
        pytest.importorskip("opentimelineio")
    plain = Segmentation.from_boundaries([20, 40], 60)
    with pytest.raises(ValueError, match=f"^{name}: the frames have no times.*pass fps"):
        export(plain, tmp_path, formats=[name])
    assert list(tmp_path.iterdir()) == []
    assert export(plain, tmp_path, formats=[name], fps=2.0)[0].stat().st_size > 0


def test_an_export_that_fails_does_not_stop_the_later_ones(photos, tmp_path):
    few = photos[0]  # under 10 s per event, which YouTube refuses
    short = Segmentation.from_boundaries(
        [1], 2, times=(0.0, 1.0), clock="media", names=few.names[:2]
    )
    with pytest.raises(ExportsFailedError) as failed:
        export(short, tmp_path / "out", formats=["csv", "youtube", "photos", "webvtt"])
    assert [why.split(":")[0] for why in failed.value.failures] == ["youtube", "photos"]
    assert [path.name for path in failed.value.written] == ["events.csv", "chapters.vtt"]
    assert all(path.is_file() for path in failed.value.written)


def test_a_full_disk_fails_the_export_that_needs_the_room(photos, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "large.jpg")

    monkeypatch.setattr("dayline.album.export.formats.sort_photos", full)
    with pytest.raises(ExportsFailedError) as failed:
        export(photos[0], tmp_path / "out", formats=["photos", "webvtt"], source=photos[1])
    assert failed.value.failures == ("photos: large.jpg: No space left on device",)
    assert [path.name for path in failed.value.written] == ["chapters.vtt"]
