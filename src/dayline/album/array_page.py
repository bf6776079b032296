"""The page of an array of features, with or without pictures, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dayline.album.key_photos import with_key_photos
from dayline.album.page.graph_picture import graph_of_frames
from dayline.album.pictures import PictureSource, given_pictures
from dayline.album.segment import segment_table
from dayline.album.settings import Segmenter
from dayline.album.write import SourceResult, write_result
from dayline.arrays import FloatArray
from dayline.estimators import EventSegmenter
from dayline.estimators.inputs import dates_of, without_dates
from dayline.events import Segmentation
from dayline.progress import OnStep
from dayline.result_folder import output_folder


def write_page(
    events: Any,
    folder: str | Path,
    *,
    times: Any = None,
    pictures: Sequence[PictureSource] | Mapping[int, PictureSource] | None = None,
    name: str | None = None,
    segmenter: Segmenter | None = None,
    blur_faces: bool = False,
    on_step: OnStep | None = None,
) -> Path:
    """Write the page of an array of features, of a fitted segmenter or of a segmentation.

    Besides `folder`/index.html, events.json and events.csv are written, as by `dayline segment`. If
    a person saved corrections in `folder` and an array is passed again, they are kept.

    Parameters
    ----------
    events : array-like of shape (n_frames, n_features), EventSegmenter or Segmentation
        Features, in which the events are found; or events that were found.
    folder : str or Path
        Where to write. A previous result of dayline is updated; a folder with anything else is
        refused.
    times : array-like of shape (n_frames,), optional
        Seconds or dates (see `EventSegmenter.fit`); only with features.
    pictures : sequence or mapping of int to path or array, optional
        One per frame, None where there is none; or the frames that have one. Files, or arrays of
        shape (height, width) or (height, width, 3): uint8, or numbers from 0 to 1. Needs the extra
        "photos".
    name : str, optional
        Heading of the page.
    segmenter : EventSegmenter or BaselineSegmenter, optional
        How to find the events of features; `EventSegmenter()` by default.
    blur_faces : bool
        Blur faces in the pictures (extra "faces").
    on_step : callable, optional
        Called as on_step(what, done, total).

    Returns
    -------
    Path
        The page.
    """
    known = _known(events, times=times, segmenter=segmenter)
    if known is None:
        features = _matrix(without_dates(events))
        times = dates_of(events) if times is None else times
    else:
        features = np.zeros((known.segmentation.n_frames, 0))
    given = None if pictures is None else given_pictures(pictures, len(features))
    with output_folder(folder) as folder:
        result = known or segment_table(
            features, times=times, source=name, store=folder, segmenter=segmenter, on_step=on_step
        )
        about: dict[str, Any] = {}
        if name is not None:
            about["source"] = name
        if given is not None and result.segmentation.names is None:
            about["names"] = given.names(len(features))
        result = replace(result, segmentation=result.segmentation.about(**about), pictures=given)
        return write_result(
            result, folder, blur_faces=blur_faces and given is not None, on_step=on_step
        ).page


def _matrix(x: Any) -> FloatArray:
    # A masked array stays one, and a file mapped into memory is not loaded.
    features: FloatArray = x if isinstance(x, np.ndarray) else np.asarray(x)
    if features.ndim != 2 or features.dtype.kind not in "biuf":
        raise ValueError(
            f"features have shape {features.shape} and type {features.dtype}; pass a matrix of"
            " numbers with one row per frame, a fitted EventSegmenter or a Segmentation"
        )
    return features


def _known(events: Any, *, times: Any, segmenter: Segmenter | None) -> SourceResult | None:
    """Return what is known of events that were found; None for features."""
    if not isinstance(events, (EventSegmenter, Segmentation)):
        return None
    if times is not None or segmenter is not None:
        wrong = "times" if times is not None else "segmenter"
        raise ValueError(f"{wrong} is for features; the {type(events).__name__} has its own")
    if isinstance(events, EventSegmenter):
        check_is_fitted(events)
        found = events.segmentation_
        segmentation = found.about(events=with_key_photos(found.events, events.embedding_))
        graph = graph_of_frames(events.graph_, events.row_of_frame_)
        return SourceResult(segmentation, tuple(events.communities_.tolist()), graph)
    has_contexts = all(event.community is not None for event in events.events)
    communities = np.repeat(
        [e.community or 0 for e in events.events], [e.n_frames for e in events.events]
    )
    return SourceResult(events, tuple(communities.tolist()) if has_contexts else None, None)
