"""Small whole files of the formats that dayline parses, the same in every run.

Small, because damage to a large one would mostly hit pixels and numbers, which every reader passes
on.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

N_FRAMES, N_FEATURES = 11, 7
"""Primes: no other shape has as many values."""

PHOTO_NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Sample:
    """A whole file.

    Attributes
    ----------
    data : bytes
        Its content.
    checked : bool
        Whether checksums cover all of its content.
    hot : tuple of range
        Where its structure lies, if not only at both ends.
    """

    data: bytes
    checked: bool = False
    hot: tuple[range, ...] = ()


def samples(kind: str) -> list[Sample]:
    """Make the samples of one format; damage goes to them in turn."""
    return MAKERS[kind]()


def _features() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(N_FRAMES, N_FEATURES))


def _times() -> np.ndarray:
    return 30.0 * np.arange(N_FRAMES)


def _npy_bytes(values: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


def _npy() -> list[Sample]:
    turned = np.asfortranarray(_features().astype(np.float32))
    return [Sample(_npy_bytes(values)) for values in (_features(), turned)]


def _npz() -> list[Sample]:
    members = (("features.npy", _features()), ("times.npy", _times()))
    made = []
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, values in members:
                # Without the time of the day, which would differ in every run.
                about = zipfile.ZipInfo(name)
                about.compress_type = compression
                archive.writestr(about, _npy_bytes(values))
        made.append(Sample(buffer.getvalue(), checked=True))
    return made


def _csv() -> list[Sample]:
    rows = np.column_stack([_times(), _features()])
    text = "\n".join(",".join(f"{value:.6g}" for value in row) for row in rows) + "\n"
    names = ",".join(["time", *(f"f{k}" for k in range(N_FEATURES))])
    return [Sample(f"{names}\n{text}".encode()), Sample(text.encode())]


def _parquet() -> list[Sample]:
    from pyarrow import BufferOutputStream, array, parquet, table, timestamp

    vectors = {f"f{k}": column for k, column in enumerate(_features().T)}
    plain = {"compression": "none", "use_dictionary": False}
    dates = array((_times() * 1e6).astype(np.int64)).cast(timestamp("us", "Europe/Berlin"))
    made = []
    for times, options in ((_times(), {}), (_times(), plain), (dates, plain)):
        sink = BufferOutputStream()
        parquet.write_table(table({"time": times} | vectors), sink, **options)
        data = sink.getvalue().to_pybytes()
        footer = int.from_bytes(data[-8:-4], "little") + 8
        made.append(Sample(data, hot=(range(len(data) - footer, len(data)),)))
    return made


def _events() -> list[Sample]:
    from dayline.events import NestedLevel, Place, Segmentation, SkippedFile

    segmentation = Segmentation.from_boundaries(
        [4, 9],
        N_FRAMES,
        communities=[0] * 4 + [1] * 5 + [0] * 2,
        scores=tuple(np.linspace(0.125, 0.75, N_FRAMES).tolist()),
        times=tuple((1.4e9 + _times()).tolist()),
        clock="wall",
        names=tuple(f"IMG_{k:04d}.jpg" for k in range(N_FRAMES)),
        digests=tuple(f"{k:032x}" for k in range(N_FRAMES)),
        source="tuesday",
        method="default",
        skipped=(SkippedFile("IMG_0011.jpg", "empty file"),),
        notes=("ordered by EXIF time",),
        places=(Place(0, "kitchen", "place-1"), Place(1)),
        levels=(NestedLevel(-1, (9,), (0.75,)), NestedLevel(0, (4, 9), (0.5, 0.75))),
    )
    alone = Segmentation(segmentation.events)
    located = tuple(
        replace(event, location=(39.5, -2.75), key_frame=event.start)
        for event in segmentation.events
    )
    segmentation = replace(segmentation, events=located)
    return [Sample(each.to_json().encode()) for each in (segmentation, alone)]


def _places() -> list[Sample]:
    from dayline.album.places import KnownPlace, Sighting, unit_vector
    from dayline.album.recognize import places_text

    random = np.random.default_rng(6)

    def sighting(day: int, community: int, **about: Any) -> Sighting:
        direction = unit_vector(random.normal(size=N_FEATURES))
        return Sighting(
            f"2023-07-{day:02d} walk",
            community,
            40 + day,
            "lite0 0123456789abcdef",
            direction,
            **about,
        )

    kitchen = (
        sighting(1, 0, said="kitchen", shown="kitchen", likeness=0.75),
        sighting(2, 3, shown="kitchen"),
    )
    places = [
        KnownPlace("place-1", "kitchen", kitchen),
        KnownPlace("place-2", None, (sighting(1, 1, likeness=0.5),)),
    ]
    unnamed = [KnownPlace("place-3", None, (replace(sighting(3, 0), features=np.empty(0)),))]
    return [Sample(places_text(each).encode()) for each in (places, unnamed)]


def _onnx() -> list[Sample]:
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(3)
    weights = {
        "w": random.normal(size=(5, 3, 3, 3)),
        "b": random.normal(size=5),
        "m": random.normal(size=(5, N_FEATURES)),
    }
    nodes = [
        helper.make_node("Conv", ["image", "w", "b"], ["c"], kernel_shape=[3, 3], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"], axis=1),
        helper.make_node("Gemm", ["f", "m"], ["features"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 16, 16])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", N_FEATURES])],
        [
            numpy_helper.from_array(values.astype(np.float32), name)
            for name, values in weights.items()
        ],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    return [Sample(model.SerializeToString(deterministic=True))]


def picture(seed: int) -> np.ndarray:
    """Draw a smooth picture, so that it packs into few bytes."""
    rows, columns = np.mgrid[0:32, 0:48]
    waves = [128 + 100 * np.sin((seed + k + 1) * (rows + 2 * columns) / 40 + k) for k in range(3)]
    return np.stack(waves, axis=2).astype(np.uint8)


def photo(position: int = 1, **options: Any) -> bytes:
    """Write a photo taken half a minute after the one before it."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 1
    exif.get_ifd(0x8769)[0x9003] = f"2015:03:12 10:{position // 2:02d}:{30 * (position % 2):02d}"
    buffer = io.BytesIO()
    Image.fromarray(picture(position)).save(buffer, "JPEG", exif=exif.tobytes(), **options)
    return buffer.getvalue()


def _jpeg() -> list[Sample]:
    return [Sample(photo()), Sample(photo(progressive=True, quality=60))]


def _film(suffix: str, **options: str) -> bytes:
    """Encode three seconds of ten frames, with a key frame in each."""
    import av

    with TemporaryDirectory() as folder:
        path = Path(folder) / f"film.{suffix}"
        with av.open(str(path), "w", options={"fflags": "+bitexact"} | options) as container:
            stream = container.add_stream(
                "libx264", rate=10, options={"threads": "1", "g": "10", "bf": "1"}
            )
            stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
            for k in range(30):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture(k), "rgb24")))
            container.mux(stream.encode())
        return path.read_bytes()


def _mp4() -> list[Sample]:
    index_first, index_last = _film("mp4", movflags="faststart"), _film("mp4")
    return [
        Sample(data, hot=(range(data.index(b"moov"), data.index(b"moov") + 1000),))
        for data in (index_first, index_last)
    ]


def _ts() -> list[Sample]:
    data = _film("ts")
    # A packet has a header of 4 bytes, and the first of a frame its time stamps in the next 20 or
    # so.
    return [Sample(data, hot=tuple(range(at, at + 24) for at in range(0, len(data), 188)))]


MAKERS = {
    "npy": _npy,
    "npz": _npz,
    "csv": _csv,
    "parquet": _parquet,
    "json": _events,
    "places": _places,
    "onnx": _onnx,
    "jpeg": _jpeg,
    "mp4": _mp4,
    "ts": _ts,
}
