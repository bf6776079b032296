"""Made photos and videos; nothing here is read from outside the test's own folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from pillow_heif import register_heif_opener

from made_films import X264

register_heif_opener()

MILLISECOND = Fraction(1, 1000)


@pytest.fixture
def make_photo(tmp_path: Path) -> Callable[..., Path]:
    """Write a photo below tmp_path: grey, or the pixels given, with EXIF times where asked for."""

    def make(
        name: str | Path,
        *,
        taken: str | None = None,
        subsec: str | None = None,
        offset: str | None = None,
        orientation: int | None = None,
        pixels: np.ndarray | None = None,
        grey: int = 120,
    ) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        exif = Image.Exif()
        inner = exif.get_ifd(0x8769)
        for tag, value in ((0x9003, taken), (0x9291, subsec), (0x9011, offset)):
            if value is not None:
                inner[tag] = value
        if orientation is not None:
            exif[0x0112] = orientation
        image = (
            Image.new("RGB", (16, 12), (grey, grey, grey))
            if pixels is None
            else Image.fromarray(pixels)
        )
        image.save(path, exif=exif.tobytes())
        return path

    return make


@pytest.fixture
def make_video(tmp_path: Path) -> Callable[..., Path]:
    """Write a video below tmp_path whose frame i is grey `greys[i]`, shown at `times_ms[i]`."""

    def make(
        name: str,
        *,
        times_ms: Sequence[int],
        greys: Sequence[int] | None = None,
        codec: str = "libx264",
        options: dict[str, str] | None = None,
        index_first: bool = True,
        corner: bool = False,
    ) -> Path:
        path = tmp_path / name
        container_options = (
            {"movflags": "faststart"} if path.suffix == ".mp4" and index_first else {}
        )
        with av.open(str(path), "w", options=container_options) as container:
            stream = container.add_stream(
                codec, rate=25, options=(X264 if codec == "libx264" else {}) | (options or {})
            )
            stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
            stream.codec_context.time_base = stream.time_base = MILLISECOND
            for i, moment in enumerate(times_ms):
                pixels = np.full((64, 96, 3), 40 if greys is None else greys[i], dtype=np.uint8)
                if corner:
                    pixels[:24, :24] = 255
                frame = av.VideoFrame.from_ndarray(pixels, "rgb24")
                frame.pts, frame.time_base = moment, MILLISECOND
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        return path

    return make


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The data that lies beside the repository, where it does."""
    beside = Path(__file__).resolve().parents[2].parent / "shared"
    data = Path(os.environ.get("DAYLINE_SHARED", beside)) / "data"
    if not data.is_dir():
        pytest.skip("no ../shared/data beside the repository (or DAYLINE_SHARED)")
    return data
