"""The key photo of each event, typical of it and worth showing, and where it was taken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray, IntArray, unit_rows
from dayline.events import Event

SMALL = 256
"""Shorter side at which pictures are measured and compared, in pixels; about that of photos."""

WORKING_SIDE = 64
"""Pixels of the shorter side at which content is looked for: without noise, but with objects."""

GRID = 8
"""Content is counted in 8 x 8 parts of the image."""

TEXTURE, SCENE = 0.2, 0.4
"""Spread of the mean shades of the parts, relative to that of the pixels, in a picture of nothing
but one texture, such as bricks, and in one of things."""

EDGE_STEP = 12.0
"""Gray levels (0 to 255) between neighboring pixels at an edge; a clear sky changes by a few."""

EDGE_SHARE = 0.1
"""Share of the pixels of a part that must be at an edge for the part to have content."""

STRONGEST = 0.95
"""Sharpness is measured at the strongest 5 % of all steps."""

BLACK, WHITE = 12, 245
"""Gray levels from which on a pixel shows nothing."""

ENOUGH_CONTENT = 0.5
"""Half of the parts: photos with more are equally good."""

BLURRED, SHARP = 0.6, 0.8
"""Edge sharpness of a blurred and of a sharp photo."""

WORST = 0.05
"""Factor of a texture, blur or wrong exposure at its worst; not 0, so that content still counts."""


def measure_photo(gray: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Measure content, edge sharpness and clipped pixels of an image.

    Parameters
    ----------
    gray : array of shape (height, width), uint8
        Shades of gray.

    Returns
    -------
    array of shape (3,), float32
        Share of the 8 x 8 parts of the image that have edges; less if they all are alike, as in a
        wall of bricks. Sharpness of the strongest edges:
        steps at full resolution relative to steps at half of it, which is 1 for edges one pixel
        wide and 0.5 for very wide ones, whatever their contrast. Share of pixels that are black or
        white.
    """
    clipped = np.count_nonzero((gray <= BLACK) | (gray >= WHITE)) / gray.size
    levels = gray.astype(np.int16)
    small = _reduced(levels, max(1, min(gray.shape) // WORKING_SIDE))
    return np.asarray([_content(small), _edge_sharpness(levels), clipped], dtype=np.float32)


def photo_quality(measures: FloatArray) -> FloatArray:
    """Combine the measures of photos into one score in [0, 1]: content x sharpness x exposure.

    Content counts up to half of the image; sharpness rises from 0.05 for blurred to 1 for sharp
    edges; exposure is the share of pixels that are neither black nor white.

    Parameters
    ----------
    measures : array of shape (n_photos, 3)
        Rows of `measure_photo`.
    """
    content, edges, clipped = np.asarray(measures, dtype=np.float64).T
    sharp = np.clip((edges - BLURRED) / (SHARP - BLURRED), WORST, 1.0)
    exposed = np.clip(1.0 - clipped, WORST, 1.0)
    quality: FloatArray = np.minimum(content / ENOUGH_CONTENT, 1.0) * sharp * exposed
    return quality


def picture_quality(pixels: NDArray[np.uint8]) -> float:
    """Return the quality of one picture, for choosing among the frames of a video."""
    from dayline.media.decode import small_gray

    measures = measure_photo(small_gray(pixels, size=SMALL))
    return float(photo_quality(measures[None].astype(np.float64))[0])


def _content(gray: NDArray[Any]) -> float:
    """Return the share of parts with enough pixels at an edge, less if all parts are alike."""
    at_edge = _steps(gray) >= EDGE_STEP
    if min(at_edge.shape) < GRID:
        return 0.0
    share = np.mean(_part_means(at_edge) >= EDGE_SHARE)

    # A texture has its edges everywhere, and its mean shade.
    spread = float(_part_means(gray).std()) / max(float(gray.std()), 1.0)
    return float(share * np.clip((spread - TEXTURE) / (SCENE - TEXTURE), WORST, 1.0))


def _part_means(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return the means of the 8 x 8 parts of an image."""
    tops, lefts = (np.arange(GRID) * side // GRID for side in values.shape)
    sums = np.add.reduceat(np.add.reduceat(values.astype(np.float32), tops, axis=0), lefts, axis=1)
    sizes = np.outer(
        *(
            np.diff(np.append(cuts, side))
            for cuts, side in zip((tops, lefts), values.shape, strict=True)
        )
    )
    return np.asarray(sums / sizes, dtype=np.float32)


def _edge_sharpness(gray: NDArray[Any]) -> float:
    """Compare the strongest steps at half resolution with those at full resolution there."""
    fine, coarse = _steps(gray), _steps(_reduced(gray, 2))
    height, width = (min(a // 2, b) for a, b in zip(fine.shape, coarse.shape, strict=True))
    if not height or not width:
        return 0.0
    fine = fine[: 2 * height, : 2 * width]
    highest = np.maximum(
        np.maximum(fine[::2, ::2], fine[1::2, ::2]), np.maximum(fine[::2, 1::2], fine[1::2, 1::2])
    )
    coarse = coarse[:height, :width]
    # Several times faster than np.quantile, which interpolates.
    rank = int(STRONGEST * (coarse.size - 1))
    strong = coarse >= max(float(np.partition(coarse, rank, axis=None)[rank]), 1.0)
    return float(np.median(highest[strong] / coarse[strong])) if strong.any() else 0.0


def _steps(gray: NDArray[Any]) -> NDArray[Any]:
    """Return the larger difference of each pixel to its neighbors on the right and below."""
    right, below = np.abs(np.diff(gray, axis=1))[:-1], np.abs(np.diff(gray, axis=0))[:, :-1]
    return np.maximum(right, below)


def _reduced(gray: NDArray[Any], factor: int) -> NDArray[np.float32]:
    """Average squares of pixels; incomplete ones at the right and lower edge are left out."""
    height, width = (side // factor * factor for side in gray.shape)
    # Sums of slices are several times faster than means over two axes.
    first = gray[0:height:factor].astype(np.float32)
    rows = sum((gray[k:height:factor] for k in range(1, factor)), start=first)
    columns = sum(
        (rows[:, k:width:factor] for k in range(1, factor)), start=rows[:, 0:width:factor]
    )
    return np.asarray(columns / factor**2)


GOOD_ENOUGH = 0.7
"""Quality of an eligible photo, relative to the best of its event but for a tenth of its photos."""

ONE_IN = 10
"""One photo may be the best for what is not of the event, such as someone who walks by."""


def with_key_photos(
    events: Sequence[Event],
    features: FloatArray,
    quality: FloatArray | None = None,
    *,
    favorites: Collection[int] = (),
    hidden: Collection[int] = (),
    with_face: Callable[[IntArray], IntArray] | None = None,
) -> tuple[Event, ...]:
    """Choose each event's key photo: of its good photos, the one nearest to the event's mean.

    If some of the good photos show a face, it is one of these. One that a person chose stays,
    unless it is hidden, and favorites come before all others.

    Parameters
    ----------
    events : sequence of Event
        All events of a sequence.
    features : ndarray of shape (n_frames, n_features)
        One row per frame; nearness is the cosine similarity to the mean of the event's frames.
    quality : ndarray of shape (n_frames,), optional
        See `photo_quality`. Photos with at least 70 % of the quality of the best one of the event
        are good, not counting the best tenth. If not given, all are.
    favorites, hidden : collection of int
        Photos that a person likes best, and hid; an event of hidden photos only has one of them.
    with_face : callable, optional
        Returns those of some frames that show a face (see `find_people`).
    """
    directions = unit_rows(np.asarray(features, dtype=np.float64))
    shown = []
    for event in events:
        if (
            event.key_chosen
            and event.key_frame is not None
            and event.start <= event.key_frame < event.stop
            and event.key_frame not in hidden
        ):
            shown.append(event)
            continue
        frames = np.arange(event.start, event.stop)
        shown_here = np.setdiff1d(frames, list(hidden))
        liked = np.intersect1d(shown_here, list(favorites))
        frames = liked if len(liked) else shown_here if len(shown_here) else frames
        nearness = directions[frames] @ directions[frames].mean(axis=0)
        if quality is not None:
            best = np.sort(quality[frames])[-1 - len(frames) // ONE_IN]
            nearness[quality[frames] < GOOD_ENOUGH * best] = -np.inf
        if with_face is not None:
            faces = with_face(frames[np.isfinite(nearness)])
            nearness[~np.isin(frames, faces)] -= np.inf if len(faces) else 0.0
        shown.append(replace(event, key_frame=int(frames[np.argmax(nearness)]), key_chosen=False))
    return tuple(shown)


DIGITS = 5
"""Digits of a degree: about a meter."""


def with_locations(
    events: Sequence[Event], locations: Sequence[tuple[float, float] | None]
) -> tuple[Event, ...]:
    """Give each event the median location of its frames; None if none of them has one.

    Parameters
    ----------
    events : sequence of Event
        All events of a sequence.
    locations : sequence of (float, float) or None
        Latitude and longitude of every frame; empty if no frame has one.
    """
    if not locations:
        return tuple(events)
    return tuple(_located(event, locations) for event in events)


def _located(event: Event, locations: Sequence[tuple[float, float] | None]) -> Event:
    known = [location for location in locations[event.start : event.stop] if location is not None]
    if not known:
        return replace(event, location=None)
    latitudes, longitudes = np.asarray(known, dtype=np.float64).T
    # Relative to the first photo, so that 179.9 and -179.9 are neighbors.
    around = (longitudes - longitudes[0] + 180.0) % 360.0 - 180.0
    longitude = (longitudes[0] + float(np.median(around)) + 180.0) % 360.0 - 180.0
    return replace(
        event,
        location=(round(float(np.median(latitudes)), DIGITS), round(float(longitude), DIGITS)),
    )
