from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import av
import pytest

from album.export.conftest import ffmpeg
from dayline.album.export.chapters import chapters
from dayline.album.export.clips import write_clips
from dayline.album.export.formats import export
from dayline.events import Event, Segmentation
from dayline.media.film import film_digest
from made_films import make_moving_film

N_FRAMES = 250


@pytest.fixture(scope="module")
def film(tmp_path_factory) -> Path:
    """Ten seconds with a key frame a second and frames that are stored out of order."""
    options = {"preset": "ultrafast", "g": "25", "keyint_min": "25", "sc_threshold": "0", "bf": "2"}
    return make_moving_film(
        tmp_path_factory.mktemp("film") / "film.mp4", [N_FRAMES], options=options
    )


def of(*starts: float, names: tuple[str | None, ...] = ()) -> Segmentation:
    bounds = [*(round(10 * start) for start in starts), 100]
    names = names or (None,) * len(starts)
    events = tuple(Event(a, b, name=n) for a, b, n in zip(bounds, bounds[1:], names, strict=False))
    return Segmentation(
        events, times=tuple(k / 10 for k in range(100)), clock="media", source="film.mp4"
    )


def cut(segmentation: Segmentation, folder: Path, *, source: Path) -> Path:
    return write_clips(segmentation, chapters(segmentation), folder, source=source)


def n_frames(folder: Path) -> dict[str, int]:
    found = {}
    for path in sorted(folder.iterdir()):
        if not path.name.startswith("."):
            with av.open(str(path)) as container:
                found[path.name] = sum(1 for _ in container.decode(video=0))
    return found


def packets(path: Path) -> list[bytes]:
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(video=0) if packet.size]


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".mov", ".avi"])
def test_clips_together_are_the_film(film, tmp_path, suffix):
    copy = tmp_path / f"film{suffix}"
    # AVI stores no order of display, so frames may not be stored out of order there.
    how = (
        ["-c:v", "mpeg4", "-g", "25", "-sc_threshold", "1000000000"]
        if suffix == ".avi"
        else ["-c", "copy"]
    )
    ffmpeg("-i", film, *how, copy)
    folder = cut(of(0.0, 3.0, 7.0, names=("a/b: c", None, "..")), tmp_path / "clips", source=copy)
    kind = ".mkv" if suffix == ".avi" else suffix
    assert n_frames(folder) == {f"01 a_b_ c{kind}": 75, f"02 Event{kind}": 100, f"03{kind}": 75}
    assert [p for clip in sorted(folder.glob("0*")) for p in packets(clip)] == packets(copy)


def test_a_clip_starts_at_the_key_frame_before_its_event(film, tmp_path):
    with pytest.warns(UserWarning, match=r"clips start at key frames, up to 0\.6 s"):
        folder = cut(of(0.0, 3.6, 7.2), tmp_path / "clips", source=film)
    assert list(n_frames(folder).values()) == [75, 100, 75]
    with av.open(str(folder / "02 Event.mp4")) as container:
        assert container.duration / av.time_base == pytest.approx(4.0, abs=0.05)
        assert container.metadata["title"] == "02 Event"


def test_an_event_without_a_key_frame_is_in_the_clip_before(film, tmp_path):
    with (
        pytest.warns(
            UserWarning, match="1 event without a key frame, part of the clip before instead: 3"
        ),
        pytest.warns(UserWarning, match=r"up to 0\.1 s before"),
    ):
        folder = cut(of(0.0, 3.1, 3.4, 7.0), tmp_path / "clips", source=film)
    assert n_frames(folder) == {"01 Event.mp4": 75, "02 Event.mp4": 100, "04 Event.mp4": 75}


def test_a_recording_that_starts_late_is_cut_at_the_same_frames(film, tmp_path):
    late = tmp_path / "late.mkv"
    ffmpeg("-i", film, "-c", "copy", "-output_ts_offset", "5", late)
    folder = cut(of(0.0, 3.0), tmp_path / "clips", source=late)
    assert list(n_frames(folder).values()) == [75, 175]


def test_frames_that_need_two_clips_are_left_out(tmp_path):
    options = {
        "preset": "ultrafast",
        "x264-params": "open-gop=1:keyint=25:min-keyint=25:scenecut=0:bframes=2:b-adapt=0",
    }
    film = make_moving_film(tmp_path / "film.mp4", [100], options=options)
    short = Segmentation.from_boundaries(
        [2], 4, times=(0.0, 1.0, 2.0, 3.0), clock="media", source="film.mp4"
    )
    folder = cut(short, tmp_path / "clips", source=film)
    first, second = n_frames(folder).values()
    assert second == 50
    assert 47 <= first <= 50


def test_clips_show_faces_as_they_are(film, tmp_path):
    with pytest.warns(UserWarning, match="clips are not changed: their faces are not blurred"):
        export(of(0.0, 3.0), tmp_path, formats=["clips"], source=film, blur_faces=True)


def test_photos_are_not_cut(tmp_path):
    photos = Segmentation.from_boundaries([1], 2, times=(1e9, 2e9), clock="wall")
    with pytest.raises(ValueError, match="clips can only be cut from a video"):
        cut(photos, tmp_path / "clips", source=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_film_leaves_nothing_behind(film, tmp_path):
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(film.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"broken\.mp4"):
        cut(of(0.0, 3.0), tmp_path / "clips", source=broken)
    assert [path.name for path in tmp_path.iterdir()] == ["broken.mp4"]


def test_another_film_is_refused_and_the_clips_stay(film, tmp_path):
    export(of(0.0, 3.0, 7.0), tmp_path, formats=["clips"], source=film)
    before = n_frames(tmp_path / "clips")
    other = make_moving_film(tmp_path / "other.mp4", [25])
    for formats in (["clips"], ["fcpxml", "webvtt"]):
        with pytest.raises(ValueError, match=r"other\.mp4 lasts 00:00:01, but .* span 00:00:09"):
            export(of(0.0, 3.0, 7.0), tmp_path, formats=formats, source=other)
    assert n_frames(tmp_path / "clips") == before


def test_a_film_of_the_same_size_needs_no_length(film, tmp_path):
    """The header of a damaged file may give a wrong length."""
    short = replace(
        of(0.0, 3.0),
        times=tuple(k / 100 for k in range(100)),
        digests=tuple(f"{film_digest(film)}:{10 * k}" for k in range(100)),
    )
    export(short, tmp_path, formats=["webvtt"], source=film)
    with pytest.raises(ValueError, match="pass the video that was segmented"):
        export(replace(short, digests=None), tmp_path, formats=["webvtt"], source=film)
