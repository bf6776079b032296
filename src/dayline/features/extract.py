"""Compute the features of images in batches, reusing what an earlier run stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import IntArray
from dayline.features.preprocess import Image
from dayline.installation import needs_extra

FrameImage: TypeAlias = Image | Callable[[], Image | None]
"""Decoded pixels, or a function that decodes them in a worker thread (None skips the frame)."""

OnStep: TypeAlias = Callable[[int, int], None]
"""Called with the number of frames done and the total number of frames."""

_Waiting: TypeAlias = "tuple[int, Future[NDArray[Any] | None]] | BaseException | None"

BATCH_SIZE = 32


class Extractor(Protocol):
    """Turns images into features."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def fingerprint(self) -> str:
        """Hash of everything that affects the values: weights and preprocessing."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def input_size(self) -> int:
        """Minimum shorter side of decoded images."""

    def prepare(self, image: Image) -> NDArray[Any]:
        """Turn decoded pixels into one input; thread-safe."""

    def extract(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return one row of features per prepared image."""


@needs_extra("photos", "computing features of images")
def load_extractor(
    model: str = "lite0",
    *,
    threads: int | None = None,
) -> Extractor:
    """Open a feature extractor by name.

    Parameters
    ----------
    model : str
        "lite0" (EfficientNet-Lite0), "color" or "color-lab" (histogram of HSV or Lab colors),
        "hog", or the path of an ONNX file with its preprocessing in a JSON file next to it.
    threads : int, optional
        CPU threads of the network; all cores if not given.
    """
    if model == "lite0":
        from dayline.features.lite0 import load_lite0

        return load_lite0(threads=threads)
    if model in ("color", "color-lab"):
        from dayline.features.handmade import ColorExtractor

        return ColorExtractor(space="lab" if model.endswith("lab") else "hsv")
    if model == "hog":
        from dayline.features.handmade import HogExtractor

        return HogExtractor()
    if model.lower().endswith(".onnx"):
        from dayline.features.onnx import load_onnx_file

        return load_onnx_file(Path(model), threads=threads)
    raise ValueError(
        f'model "{model}" is not known; use lite0, color, color-lab, hog or the path of a .onnx file'
    )


def extract_features(
    images: Iterable[tuple[int, FrameImage]],
    extractor: Extractor,
    *,
    n_frames: int,
    batch_size: int = BATCH_SIZE,
    on_step: OnStep | None = None,
) -> tuple[IntArray, NDArray[np.float32]]:
    """Compute the features of all images.

    Parameters
    ----------
    images : iterable of (int, image or function)
        Frame number and pixels, or a function that decodes them; such functions run in parallel.
    extractor : Extractor
        See `load_extractor`.
    n_frames : int
        Number of frames in the sequence; every frame number must be below it.
    batch_size : int
        Images per batch.
    on_step : function, optional
        Called with (frames done, n_frames) after every batch.

    Returns
    -------
    indices : ndarray of int
        Frames with features, ascending.
    features : ndarray of float32, (len(indices), n_features)
        Their features.
    """
    parts = list(
        iter_features(images, extractor, n_frames=n_frames, batch_size=batch_size, on_step=on_step)
    )
    if not parts:
        return np.empty(0, dtype=np.int64), np.empty((0, extractor.n_features), dtype=np.float32)
    indices = np.concatenate([part[0] for part in parts])
    order = np.argsort(indices, kind="stable")
    return indices[order], np.concatenate([part[1] for part in parts])[order]


def iter_features(
    images: Iterable[tuple[int, FrameImage]],
    extractor: Extractor,
    *,
    n_frames: int,
    batch_size: int = BATCH_SIZE,
    on_step: OnStep | None = None,
) -> Iterator[tuple[IntArray, NDArray[np.float32]]]:
    """Compute features batch by batch; see `extract_features`.

    Yields
    ------
    indices, features
        One batch, in the order of the images.
    """
    indices: list[int] = []
    inputs: list[NDArray[Any]] = []
    n_done = 0
    for index, prepared in _prepare_ahead(images, extractor, n_ahead=2 * batch_size):
        if not 0 <= index < n_frames:
            raise ValueError(f"frame {index} is outside the sequence of frames 0 to {n_frames - 1}")
        indices.append(index)
        inputs.append(prepared)
        if len(indices) == batch_size:
            yield _extract_batch(extractor, indices, inputs)
            n_done += batch_size
            indices, inputs = [], []
            if on_step:
                on_step(n_done, n_frames)
    if indices:
        yield _extract_batch(extractor, indices, inputs)
        if on_step:
            on_step(n_done + len(indices), n_frames)


def _extract_batch(
    extractor: Extractor, indices: list[int], inputs: list[NDArray[Any]]
) -> tuple[IntArray, NDArray[np.float32]]:
    features = extractor.extract(np.stack(inputs))
    bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if len(bad):
        file = getattr(extractor, "file", None)
        model = f"{file}:" if file is not None else f"model {extractor.name}"
        raise ValueError(
            f"{model} returns values that are not finite for frame {indices[bad[0]]}; use another"
            " model"
        )
    return np.asarray(indices, dtype=np.int64), features


def _prepare_ahead(
    images: Iterable[tuple[int, FrameImage]], extractor: Extractor, *, n_ahead: int
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield prepared images in order, preparing at most `n_ahead` of them in advance."""
    waiting: Queue[_Waiting] = Queue(maxsize=n_ahead)
    stop = Event()
    with ThreadPoolExecutor(
        max_workers=min(os.cpu_count() or 1, 8), thread_name_prefix="prepare"
    ) as pool:
        feeder = Thread(target=_feed, args=(images, extractor, pool, waiting, stop), daemon=True)
        feeder.start()
        try:
            while (item := waiting.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                index, future = item
                prepared = future.result()
                if prepared is not None:
                    yield index, prepared
        finally:
            stop.set()
            with suppress(Empty):
                while True:
                    waiting.get_nowait()
            feeder.join()


def _feed(
    images: Iterable[tuple[int, FrameImage]],
    extractor: Extractor,
    pool: ThreadPoolExecutor,
    waiting: Queue[_Waiting],
    stop: Event,
) -> None:
    try:
        for index, image in images:
            if stop.is_set():
                return
            _put((index, pool.submit(_decode_and_prepare, image, index, extractor)), waiting, stop)
        _put(None, waiting, stop)
    except BaseException as error:
        # Reraised in the thread that consumes the images.
        _put(error, waiting, stop)


def _put(item: _Waiting, waiting: Queue[_Waiting], stop: Event) -> None:
    while not stop.is_set():
        with suppress(Full):
            waiting.put(item, timeout=0.1)
            return


def _decode_and_prepare(image: FrameImage, index: int, extractor: Extractor) -> NDArray[Any] | None:
    pixels = image() if callable(image) else image
    if pixels is None:
        return None
    try:
        return extractor.prepare(pixels)
    except ValueError as error:
        raise ValueError(f"frame {index}: {error}") from error
