from __future__ import annotations

import subprocess
import sys

import pytest
from PIL import Image

from dayline.events import Segmentation
from dayline.export import FORMATS, export


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
    written = export(segmentation, tmp_path / "new" / "out", formats=list(FORMATS), source=source)
    assert len(set(written)) == len(FORMATS) == 10
    assert all(path.exists() and path.parent == tmp_path / "new" / "out" for path in written)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "new"]
    made = {p.name for p in (tmp_path / "new" / "out").iterdir()}
    assert made == {".dayline-files.json", *(p.name for p in written)}


def test_a_second_run_updates_the_first(photos, tmp_path):
    pytest.importorskip("opentimelineio")
    segmentation, source = photos
    first = export(segmentation, tmp_path / "out", formats=list(FORMATS), source=source)
    second = export(segmentation, tmp_path / "out", formats=list(FORMATS), source=source)
    assert first == second


def test_an_unknown_format_is_named_before_anything_is_written(photos, tmp_path):
    with pytest.raises(ValueError, match="unknown export format 'docx'; choose from csv, webvtt"):
        export(photos[0], tmp_path / "out", formats=["csv", "docx"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["photos", "contact-sheet"])
def test_formats_with_pictures_ask_for_the_source(photos, tmp_path, name):
    with pytest.raises(ValueError, match=f"^{name}: needs the photos or the video; pass source"):
        export(photos[0], tmp_path / "out", formats=[name])


@pytest.mark.parametrize("name", ["webvtt", "ffmetadata", "matroska", "youtube", "edl", "otio", "elan"])
def test_formats_with_times_take_frames_per_second(tmp_path, name):
    if name == "otio":
        pytest.importorskip("opentimelineio")
    plain = Segmentation.from_boundaries([20, 40], 60)
    with pytest.raises(ValueError, match=f"^{name}: the frames have no times.*pass fps"):
        export(plain, tmp_path, formats=[name])
    assert list(tmp_path.iterdir()) == []
    assert export(plain, tmp_path, formats=[name], fps=2.0)[0].stat().st_size > 0


def test_importing_the_room_loads_no_heavy_library():
    heavy = ["PIL", "av", "opentimelineio", "lxml"]
    code = f"import dayline.export, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
