from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from album.export.conftest import ffmpeg
from dayline.album.export.chapters import chapters
from dayline.album.export.clips import write_clips
from dayline.album.export.encode import CODECS, PictureEncoder
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


def test_a_recording_that_starts_late_is_cut_at_the_same_frames(film, tmp_path):
    late = tmp_path / "late.mkv"
    ffmpeg("-i", film, "-c", "copy", "-output_ts_offset", "5", late)
    folder = cut(of(0.0, 3.0), tmp_path / "clips", source=late)
    assert list(n_frames(folder).values()) == [75, 175]


# Each of these films is cut into seven clips.
FILMS = {
    "b-frames.mp4": ("libx264", {"preset": "veryfast", "bf": "3", "g": "30"}, "aac"),
    "one-key-frame.mkv": ("libx264", {"preset": "veryfast", "bf": "3", "g": "250"}, "libopus"),
    "varying.mp4": ("libx264", {"preset": "veryfast", "bf": "2", "g": "30"}, "aac"),
    "open-gop.mp4": ("libx264", {"x264-params": "open-gop=1:keyint=25:b-adapt=0:scenecut=0"}, None),
    "vp9.webm": ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8", "g": "30"}, "libopus"),
    "mpeg4.mp4": ("mpeg4", {"g": "30", "qmin": "2", "qmax": "2"}, "aac"),
}
STARTS = (0, 33, 34, 45, 61, 80, 104)
N_NUMBERED, RATE = 120, 48_000


def numbered_film(path: Path) -> Path:
    """Write a film whose pictures show their number in squares, with noise as its sound."""
    codec, options, sound = FILMS[path.name]
    rng = np.random.default_rng(0)
    lengths = rng.integers(20, 90, N_NUMBERED) if "varying" in path.name else [40] * N_NUMBERED
    times = np.cumsum(lengths) - lengths[0]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25, options=options)
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 160, 96, "yuv420p", 600_000
        stream.codec_context.time_base = Fraction(1, 1000)
        voice = container.add_stream(sound, rate=RATE, layout="mono") if sound else None
        for k, time in enumerate(times.tolist()):
            pixels = np.full((96, 160, 3), 60 + k // 2, dtype=np.uint8)
            for bit in range(7):
                pixels[32:64, 20 * bit : 20 * bit + 20] = 235 * (k >> bit & 1)
            frame = av.VideoFrame.from_ndarray(pixels, "rgb24")
            frame.pts, frame.time_base = time, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
        if voice is not None:
            noise = np.repeat(rng.normal(size=6 * int(times[-1] + 40)), 8) * 4000
            heard = av.AudioFrame.from_ndarray(noise.astype(np.int16)[None], "s16", "mono")
            heard.sample_rate = RATE
            container.mux([*voice.encode(heard), *voice.encode(None)])
    return path


def numbers_and_times(path: Path) -> tuple[list[int], np.ndarray]:
    numbers, times = [], []
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            squares = frame.to_ndarray(format="gray")[40:56, :140].reshape(16, 7, 20)
            bits = squares[:, :, 5:15].mean(axis=(0, 2)) > 128
            numbers.append(int(bits @ 2 ** np.arange(7)))
            times.append(float(frame.pts * frame.time_base))
    return numbers, np.asarray(times)


def sound_from(path: Path, start: float) -> np.ndarray:
    """Return the samples of a film from a time on; zeros where there is no sound."""
    line = np.zeros(30 * RATE)
    with av.open(str(path)) as container:
        for frame in container.decode(audio=0):
            samples = frame.to_ndarray().mean(axis=0)
            at = round((float(frame.pts * frame.time_base) - start + 15) * RATE)
            line[at : at + len(samples)] = samples
    return line[15 * RATE :]


def lag(a: np.ndarray, b: np.ndarray) -> int:
    """Return by how many samples one sound is behind the other."""
    steps = range(-480, 481, 4)
    return max(steps, key=lambda step: float(a[2000:-2000] @ b[2000 + step : len(b) - 2000 + step]))


@pytest.mark.parametrize("name", FILMS)
def test_every_clip_has_the_pictures_of_its_event_and_their_sound(tmp_path, name):
    film = numbered_film(tmp_path / name)
    numbers, times = numbers_and_times(film)
    assert numbers == list(range(N_NUMBERED))
    bounds = [*STARTS, N_NUMBERED]
    events = tuple(map(Event, bounds, bounds[1:]))
    seconds = tuple(np.round(times - times[0], 6).tolist())
    segmentation = Segmentation(events, times=seconds, clock="media", source=name)
    whole = "encoded again as a whole, as h264" if "mpeg4" in name else None
    with pytest.warns(UserWarning, match=whole) if whole else nullcontext():
        folder = cut(segmentation, tmp_path / "clips", source=film)

    clips = sorted(path for path in folder.iterdir() if path.name[0] != ".")
    assert len(clips) == len(STARTS)
    for clip, start, stop in zip(clips, bounds, bounds[1:], strict=False):
        shown, shown_at = numbers_and_times(clip)
        assert shown == list(range(start, stop))
        # Containers round to the millisecond.
        expected = times[start:stop] - times[start]
        np.testing.assert_allclose(shown_at - shown_at[0], expected, atol=0.0015)
        if FILMS[name][2] and stop - start > 10:
            n = int((times[stop - 1] - times[start]) * RATE)
            heard, original = sound_from(clip, shown_at[0])[:n], sound_from(film, times[start])[:n]
            # The list of edits in MP4 counts milliseconds: 48 samples, twice.
            assert abs(lag(original, heard)) <= 100
            assert np.abs(heard[-2000:]).max() > 0.01


def test_only_pictures_before_a_key_frame_are_encoded_again(film, tmp_path):
    """Key frames are one second apart; each clip begins .6 s after one and ends .2 s after one."""
    folder = cut(of(0.0, 3.6, 7.2), tmp_path / "clips", source=film)
    assert list(n_frames(folder).values()) == [90, 90, 70]
    with av.open(str(folder / "02 Event.mp4")) as container:
        assert container.duration / av.time_base == pytest.approx(3.6, abs=0.05)
        assert container.metadata["title"] == "02 Event"
    assert decoded(folder / "02 Event.mp4")[10:80] == decoded(film)[100:170]


def test_a_film_whose_packets_cannot_be_joined_is_encoded_as_a_whole(film, tmp_path, monkeypatch):
    """The parameters of the encoded pictures are lost, so that they cannot be decoded."""
    monkeypatch.setattr(PictureEncoder, "_whole", lambda _, packets: packets)
    monkeypatch.setattr("dayline.album.export.encode.annexb", lambda _: b"")
    monkeypatch.setitem(
        CODECS, "h264", ("libx264", {"bf": "0", "x264-params": "sps-id=0:8x8dct=0"})
    )
    with pytest.warns(UserWarning, match="3 of 3 clips encoded again as a whole, as h264"):
        folder = cut(of(0.0, 3.6, 7.2), tmp_path / "clips", source=film)
    assert list(n_frames(folder).values()) == [90, 90, 70]


def decoded(path: Path) -> list[bytes]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray().tobytes() for frame in container.decode(video=0)]


def test_the_sides_of_a_film_are_those_of_its_clips(film, tmp_path):
    """Phones film lying on their side, and say so in the header."""
    turned = tmp_path / "turned.mp4"
    ffmpeg("-display_rotation", "90", "-i", film, "-c", "copy", turned)
    folder = cut(of(0.0, 3.6), tmp_path / "clips", source=turned)
    for path in (turned, *sorted(folder.glob("0*"))):
        with av.open(str(path)) as container:
            assert {frame.rotation for frame in container.decode(video=0)} == {90}


def test_pictures_of_a_film_on_its_side_are_upright_in_another_codec(film, tmp_path):
    turned = tmp_path / "turned.mp4"
    ffmpeg("-i", film, "-c:v", "mpeg4", "-q:v", "2", tmp_path / "other.mp4")
    ffmpeg("-display_rotation", "90", "-i", tmp_path / "other.mp4", "-c", "copy", turned)
    with pytest.warns(UserWarning, match="as h264"):
        folder = cut(of(0.0, 3.6), tmp_path / "clips", source=turned)
    with av.open(str(turned)) as container:
        frame = list(container.decode(video=0))[90]
        lying = frame.to_ndarray(format="rgb24").astype(int)
        upright = np.rot90(lying, round(frame.rotation / 90))
    with av.open(str(folder / "02 Event.mp4")) as container:
        frame = next(container.decode(video=0))
        assert frame.rotation == 0
        shown = frame.to_ndarray(format="rgb24").astype(int)
    assert np.abs(shown - upright).mean() < 8 < np.abs(shown - upright[::-1]).mean()


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
