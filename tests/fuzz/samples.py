"""Small whole files of the formats that dayline parses, the same in every run.

Small, because damage to a large one would mostly hit pixels and numbers, which every reader passes
on.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from made_films import X264

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


CUES = (
    (0.0, 2.5, "Good morning, everyone."),
    (3.25, 6.0, "A glacier is <ice> that moves & grinds."),
    (6.5, 9.75, "It carries stones, and leaves them as a moraine."),
    (30.0, 33.5, "Ein Gletscher schmilzt auch: er kalbt."),
)


def _stamp(seconds: float, point: str) -> str:
    return f"00:00:{int(seconds):02d}{point}{round(1000 * (seconds % 1)):03d}"


def _srt() -> list[Sample]:
    cues = [
        f"{number}\n{_stamp(start, ',')} --> {_stamp(end, ',')}\n<i>{text}</i>\n"
        for number, (start, end, text) in enumerate(CUES, start=1)
    ]
    text = "\n".join(cues)
    return [Sample(text.encode()), Sample(text.replace("\n", "\r\n").encode("utf-16"))]


def _vtt() -> list[Sample]:
    cues = [
        f"cue\n{_stamp(start, '.')} --> {_stamp(end, '.')} align:start\n<v Ann>{text}</v>\n"
        for start, end, text in CUES
    ]
    text = "\n".join(["WEBVTT\n", "NOTE a remark\n", "STYLE\n::cue { color: red }\n", *cues])
    return [Sample(text.encode())]


def _transcripts() -> list[Sample]:
    """Make transcripts as Whisper, whisper.cpp, YouTube and Hugging Face's transformers do."""
    whisper = [{"start": a, "end": b, "text": f" {text}", "tokens": [1]} for a, b, text in CUES]
    cpp = [{"offsets": {"from": 1000 * a, "to": 1000 * b}, "text": text} for a, b, text in CUES]
    youtube = [
        {"tStartMs": 1000 * a, "dDurationMs": 1000 * (b - a), "segs": [{"utf8": text}]}
        for a, b, text in CUES
    ]
    chunks = [{"timestamp": [a, b], "text": text} for a, b, text in CUES]
    forms = {"segments": whisper, "transcription": cpp, "events": youtube, "chunks": chunks}
    return [Sample(json.dumps({name: cues}).encode()) for name, cues in forms.items()]


def _xml() -> list[Sample]:
    cues = [f'<p t="{1000 * a:.0f}" d="{1000 * (b - a):.0f}">{escape(t)}</p>' for a, b, t in CUES]
    return [Sample(f'<timedtext format="3"><body>{"".join(cues)}</body></timedtext>'.encode())]


def _learned() -> list[Sample]:
    from dayline import Learned
    from dayline.decision.candidates import COLUMNS

    weights = tuple(np.random.default_rng(8).normal(size=len(COLUMNS) + 1).round(4).tolist())
    about = {"name": "rooms", "n_recordings": 2, "n_boundaries": 30, "finer": 0.5, "found": 0.75}
    made = [Learned(**about, weights=weights, change=(0.25,) * 3, level=(-0.5,) * 3), Learned()]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.json"
        samples = []
        for one in made:
            one.save(path)
            samples.append(Sample(path.read_bytes()))
    return samples


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


def _grainy(pixels: np.ndarray) -> np.ndarray:
    """Add noise, so that a frame of a film has more bytes than may lie between two of a whole one."""
    noise = np.random.default_rng(int(pixels[0, 0, 0])).normal(scale=60, size=pixels.shape)
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


def _still(kind: str, **options: Any) -> bytes:
    """Write a photo in another format than JPEG, with the time of the one that it stands for."""
    from PIL import Image
    from pillow_heif import register_heif_opener

    register_heif_opener()
    exif = Image.Exif()
    exif[0x9003 if kind == "TIFF" else 0x0132] = "2015:03:12 10:00:30"
    about = {} if kind == "GIF" else {"exif": exif}
    buffer = io.BytesIO()
    Image.fromarray(picture(1)).save(buffer, kind, **about, **options)
    return buffer.getvalue()


def _gif() -> list[Sample]:
    return [Sample(_still("GIF")), Sample(_still("GIF", interlace=0))]


def _tiff() -> list[Sample]:
    made = [_still("TIFF", compression=how) for how in ("raw", "tiff_lzw", "tiff_adobe_deflate")]
    # The directory lies at the end.
    return [Sample(data, hot=(range(len(data) - 400, len(data)),)) for data in made]


def _heic() -> list[Sample]:
    data = _still("HEIF", quality=60)
    return [Sample(data, hot=(range(data.index(b"mdat")),))]


def _film(
    suffix: str,
    *,
    codec: str = "libx264",
    pixels: str = "yuv420p",
    scale: int = 1,
    **options: str,
) -> bytes:
    """Encode three seconds of ten frames, with a key frame in each."""
    import av

    with TemporaryDirectory() as folder:
        path = Path(folder) / f"film.{suffix}"
        with av.open(str(path), "w", options={"fflags": "+bitexact"} | options) as container:
            own = {"bf": "1"} | X264 if codec == "libx264" else {}
            stream = container.add_stream(codec, rate=10, options=FILM | own)
            stream.width, stream.height, stream.pix_fmt = 48 * scale, 32 * scale, pixels
            for k in range(30):
                drawn = _grainy(np.kron(picture(k), np.ones((scale, scale, 1))))
                container.mux(stream.encode(av.VideoFrame.from_ndarray(drawn, "rgb24")))
            container.mux(stream.encode())
        return path.read_bytes()


FILM = {"threads": "1", "g": "10"}


def _movie(suffix: str) -> list[Sample]:
    """Make a movie with its index first, and one with it last."""
    index_first, index_last = _film(suffix, movflags="faststart"), _film(suffix)
    return [
        Sample(data, hot=(range(data.index(b"moov"), data.index(b"moov") + 1000),))
        for data in (index_first, index_last)
    ]


def _mp4() -> list[Sample]:
    return _movie("mp4")


def _mov() -> list[Sample]:
    return _movie("mov")


def _fragments() -> list[Sample]:
    """Make a movie in fragments, as cameras write that may lose their power."""
    data = _film("mp4", movflags="frag_keyframe+empty_moov+default_base_moof", scale=2)
    tables = [at for at in range(len(data)) if data.startswith(b"moof", at)]
    return [Sample(data, hot=tuple(range(at, at + 160) for at in tables))]


def _mkv() -> list[Sample]:
    return [Sample(_film("mkv", cluster_time_limit="500"))]


def _webm() -> list[Sample]:
    return [
        Sample(_film("webm", codec=codec, cluster_time_limit="500"))
        for codec in ("libvpx", "libvpx-vp9")
    ]


def _avi() -> list[Sample]:
    made = [_film("avi", codec="mpeg4"), _film("avi", codec="mjpeg", pixels="yuvj420p")]
    return [Sample(data, hot=(range(data.index(b"idx1"), len(data)),)) for data in made]


def _wmv() -> list[Sample]:
    data = _film("wmv", codec="wmv2", packet_size="600")
    return [Sample(data, hot=(range(800),))]


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
    "learned": _learned,
    "srt": _srt,
    "vtt": _vtt,
    "talk.json": _transcripts,
    "srv3": _xml,
    "onnx": _onnx,
    "jpeg": _jpeg,
    "gif": _gif,
    "tiff": _tiff,
    "heic": _heic,
    "mp4": _mp4,
    "mov": _mov,
    "fragments.mp4": _fragments,
    "mkv": _mkv,
    "webm": _webm,
    "avi": _avi,
    "wmv": _wmv,
    "ts": _ts,
}
