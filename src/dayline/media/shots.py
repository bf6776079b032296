"""Find the shots of a film: every hard cut, dissolve and fade, from small images of all frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dayline.arrays import FloatArray, IntArray
from dayline.events import Shot
from dayline.media.film_decode import small_images
from dayline.media.frame import FrameSequence, MissingFrames, VideoIndex
from dayline.progress import OnStep

WIDTH, HEIGHT = 48, 27
"""Size of the compared images in pixels, whatever the shape of the film: small enough that noise
and small movements vanish."""

LARGEST_CHANGE = 32.0
"""Levels that a single pixel may count: a cut changes the whole image, a thing that appears a small
part strongly."""

SHIFTS = 6, 3
"""Pixels to the side, and up or down, by which the camera may move between two frames."""

NEARBY = 8
"""Frames before and after a frame, whose changes a hard cut must exceed."""

STILL = 0.1
"""Change nearby, as a share of that at a frame, up to which the picture is still otherwise: half of
what two shots must differ by is enough there."""

JUMPS = 0.3
"""Share from which on a second change nearby shows that a still picture jumps, as a page that
scrolls does: two shots must differ by a quarter more there."""

SAME_LAYOUT = 0.9
"""Correlation from which on two images show the same in another light."""

FLASH = 8
"""Most frames of a flash."""

BRIGHTER = 8.0
"""Levels by which a flash raises the mean of the image."""

BLACK = 24
"""Level up to which a row or column of the image may be a bar."""

BLANK = 2.5
"""Standard deviation, in levels, up to which an image shows nothing."""

SHORTEST_BLANK = 12
"""Frames that nothing must be shown between two cuts to be a shot of its own."""

HALVES = 3, 6, 12, 24, 40
"""Halves of the windows, in frames, in which dissolves and fades are looked for."""

FEWEST_MIXED = 3
"""Frames that a dissolve or fade mixes, at least."""


AT_ONCE = 2000
"""Frames that are looked at together, which bounds the memory; more than `AROUND` of them."""

AROUND = 200
"""Frames before and after a frame that may decide whether a shot begins there."""


@dataclass(frozen=True)
class Limits:
    """What counts as the start of a shot; `benchmarks/accuracy/shots.py` chose the values.

    Attributes
    ----------
    change : float
        Levels of 255, on average over the image, by which two shots differ beyond movement, times
        one minus the correlation of their images: it is 1 if only the light changed.
    stands_out : float
        Times that a hard cut changes more than the frames nearby do.
    off_line : float
        Share of the whole change by which the frames of a dissolve may differ from mixtures of the
        images before and after.
    drift : float
        Times that a dissolve changes more than the frames before and after it do in the same time.
    """

    change: float = 8.0
    stands_out: float = 2.5
    off_line: float = 0.3
    drift: float = 1.5


@dataclass(frozen=True)
class Transition:
    """The start of a shot.

    Attributes
    ----------
    frame : int
        First frame of the shot; in a dissolve, the first that shows more of it than of the shot
        before; in a fade, the middle of what shows neither.
    first, last : int
        First and last frame that the transition changes; both are `frame` at a hard cut.
    how : {"cut", "dissolve", "fade"}
    """

    frame: int
    first: int
    last: int
    how: Literal["cut", "dissolve", "fade"]


def read_shots(
    sequence: FrameSequence, *, on_step: OnStep | None = None
) -> tuple[tuple[Shot, ...], tuple[MissingFrames, ...]]:
    """Find the shots of a video, and where frames are missing, in one pass over all its frames.

    Parameters
    ----------
    sequence : FrameSequence
        The video.
    on_step : callable, optional
        Called as on_step("shots", done, total).
    """
    index = _index(sequence)
    n_frames = len(index.rows)
    gaps: list[MissingFrames] = []
    found: list[Transition] = []
    numbers: list[int] = []
    images: list[NDArray[np.uint8]] = []
    n_known = 0  # frames, from the first of `images` on, whose transitions are found already

    def look(*, is_end: bool = False) -> None:
        # The last frames wait for those after them, unless there are none.
        stop = len(images) - (0 if is_end else AROUND)
        for one in find_transitions(np.stack(images)):
            if n_known <= one.frame < stop:
                first, frame, last = (numbers[k] for k in (one.first, one.frame, one.last))
                found.append(Transition(frame, first, last, one.how))

    for number, image in small_images(sequence, width=WIDTH, height=HEIGHT):
        if numbers and number > numbers[-1] + 1:
            times = index.seconds_at(numbers[-1]), index.seconds_at(number)
            gaps.append(MissingFrames(*times, number - numbers[-1] - 1))
        numbers.append(number)
        images.append(image)
        if len(images) == AT_ONCE + 2 * AROUND:
            look()
            del numbers[:AT_ONCE], images[:AT_ONCE]
            n_known = AROUND
            if on_step is not None:
                on_step("shots", number + 1, n_frames)
    if len(images) > n_known:
        look(is_end=True)
    if on_step is not None:
        on_step("shots", n_frames, n_frames)
    shots = shots_at(sequence, [(one.frame, one.how) for one in found])
    return shots, (*index.missing, *gaps)


def shots_at(
    sequence: FrameSequence, starts: Sequence[tuple[int, Literal["cut", "dissolve", "fade"]]]
) -> tuple[Shot, ...]:
    """Return the shots of a video.

    Parameters
    ----------
    sequence : FrameSequence
        The video.
    starts : sequence of (int, str)
        First frame of every shot but the first, among all frames of the video, and how it begins.
    """
    index = _index(sequence)
    n_frames = len(index.rows)
    how: dict[int, Literal["start", "cut", "dissolve", "fade"]] = {0: "start"}
    how |= {frame: way for frame, way in starts if 0 < frame < n_frames}
    edges = [*sorted(how), n_frames]
    return tuple(
        Shot(a, b, index.seconds_at(a), index.seconds_at(b - 1), how[a]) for a, b in pairwise(edges)
    )


def _index(sequence: FrameSequence) -> VideoIndex:
    if sequence.video is None:
        raise ValueError(f"{sequence.source.name}: not a video")
    return sequence.video


def find_transitions(images: NDArray[np.uint8], limits: Limits = Limits()) -> list[Transition]:
    """Find where shots begin.

    Parameters
    ----------
    images : ndarray of uint8, shape (n_frames, HEIGHT, WIDTH, 3)
        All frames, in order.
    limits : Limits
        What counts.
    """
    if len(images) < 2:
        return []
    images = _without_bars(images)
    small = _small(images)
    cuts = _hard_cuts(images, limits)
    mixed = _mixtures(small, cuts, limits)
    found = [Transition(b, b, b, "cut") for b in cuts] + mixed
    return _joined_at_blanks(sorted(found, key=lambda one: one.frame), small)


def _without_bars(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Cut off rows and columns that are black in all frames, unless little is left."""
    brightest = images.max(axis=0).max(axis=2)
    rows = np.flatnonzero(brightest.max(axis=1) > BLACK)
    columns = np.flatnonzero(brightest.max(axis=0) > BLACK)
    if len(rows) < HEIGHT // 3 or len(columns) < WIDTH // 3:
        return images
    return images[:, rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _small(images: NDArray[np.uint8]) -> FloatArray:
    """Return images of a third of the size, as one row each."""
    high, wide = images.shape[1] // 3 * 3, images.shape[2] // 3 * 3
    total = np.zeros((len(images), high // 3, wide // 3, 3), dtype=np.uint16)
    for row in range(3):
        for column in range(3):
            total += images[:, row:high:3, column:wide:3]
    return total.reshape(len(images), -1).astype(np.float32) / 9


def _hard_cuts(images: NDArray[np.uint8], limits: Limits) -> list[int]:
    """Return the frames at which the whole image changes, beyond movement and flashes."""
    n = len(images)
    gray = (images[..., 0].astype(np.float32) + images[..., 1] + images[..., 2]) / 3
    light = gray.mean(axis=(1, 2))
    step = np.zeros(n)
    step[1:] = _distance(gray[1:], gray[:-1])
    changed = np.flatnonzero(step >= limits.change / 2)
    step[changed], alike = _shifted_distance(images, gray, changed, changed - 1)

    cuts = []
    for b, likeness in zip(changed.tolist(), alike.tolist(), strict=True):
        # Other colors make another shot of a similar layout, unless only the light has changed.
        unlike = 1 - max(likeness, 0.0)
        if likeness < SAME_LAYOUT:
            unlike = max(unlike, _color_change(images[b], images[b - 1]))
        near = np.concatenate([step[max(b - NEARBY, 1) : b], step[b + 1 : b + 1 + NEARBY]])
        usual = float(np.median(near)) if len(near) else 0.0
        highest = float(np.max(step[max(b - 1, 0) : b + 2]))
        if step[b] < max(limits.stands_out * usual, highest / 2):
            continue
        change = limits.change
        if len(near) > 1 and usual <= STILL * step[b]:
            second, first = np.sort(near)[-2:]
            if first <= STILL * step[b]:
                change *= 0.5
            elif second >= JUMPS * step[b]:
                change *= 1.25
        if step[b] * unlike < change:
            continue
        # Both frames after a cut differ from both before it.
        pairs = [(b, b - 1), (b, b - 2), (b + 1, b - 1), (b + 1, b - 2)]
        after, before = np.array([(i, j) for i, j in pairs if j >= 0 and i < n]).T
        distances, _ = _shifted_distance(images, gray, after, before)
        least = max(change / unlike, 0.5 * step[b])
        if distances.min() >= least and not _is_flash(images, gray, light, b, step[b]):
            cuts.append(b)
    return cuts


def _color_change(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> float:
    """Return the share of two images that differs in color, wherever it is."""
    counts = []
    for image in (a, b):
        red, green, blue = (image // 32).astype(np.int64).reshape(-1, 3).T
        counts.append(np.bincount(64 * red + 8 * green + blue, minlength=512))
    return float(np.abs(counts[0] - counts[1]).sum() / counts[0].sum() / 2)


def _is_flash(
    images: NDArray[np.uint8], gray: FloatArray, light: FloatArray, b: int, change: float
) -> bool:
    """Return whether a frame begins, ends or is in a flash, after which the image is as before."""
    pairs = [
        (j, i)
        for i in range(max(b - FLASH, 0), b)
        for j in range(b, min(i + FLASH + 2, len(images)))
        if j - i > 1 and light[i + 1 : j].max() > max(light[i], light[j]) + BRIGHTER
    ]
    if not pairs:
        return False
    after, before = np.array(pairs).T
    distances, _ = _shifted_distance(images, gray, after, before)
    best = int(np.argmin(distances))
    if distances[best] > 0.4 * change:
        return False
    # Another shot in between has another picture; a flash shows the same, or nothing but light.
    j, i = pairs[best]
    flashed = i + 1 + int(np.argmax(light[i + 1 : j]))
    _, alike = _shifted_distance(images, gray, np.array([flashed]), np.array([i]))
    return bool(alike[0] > 0.4 or light[flashed] > 200 or gray[flashed].std() < 20)


def _distance(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the mean difference of the images of `a` to those of `b`."""
    distance: FloatArray = np.minimum(np.abs(a - b), LARGEST_CHANGE).mean(axis=(1, 2))
    return distance


def _shifted_distance(
    images: NDArray[np.uint8], gray: FloatArray, after: IntArray, before: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the difference in color, and the correlation, of pairs shifted to fit best."""
    n = len(after)
    best, where = np.full(n, np.inf), np.zeros((n, 2), dtype=np.int64)
    a, b = gray[after], gray[before]
    for dy in range(-SHIFTS[1], SHIFTS[1] + 1):
        for dx in range(-SHIFTS[0], SHIFTS[0] + 1):
            distance = _distance(*_overlap(a, b, dy, dx))
            better = distance < best
            best[better], where[better] = distance[better], (dy, dx)
    color, alike = np.zeros(n), np.zeros(n)
    for k in range(n):
        dy, dx = where[k].tolist()
        here, there = _overlap(images[after[k]][None], images[before[k]][None], dy, dx)
        levels = np.abs(here.astype(np.int16) - there)
        color[k] = np.minimum(levels, LARGEST_CHANGE).mean()
        # In another light, the best shift says nothing.
        shifted = _likeness(here[0], there[0])
        alike[k] = max(shifted, _likeness(images[after[k]], images[before[k]]))
    return color, alike


def _likeness(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> float:
    """Return the correlation of two images in gray or in color, whichever is less."""
    gray = _correlation(a.mean(axis=2).ravel(), b.mean(axis=2).ravel())
    return min(gray, _correlation(a.ravel().astype(np.float64), b.ravel().astype(np.float64)))


def _overlap(
    a: NDArray[Any], b: NDArray[Any], dy: int, dx: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the parts of two images that show the same if the second is shifted."""
    height, width = a.shape[1:3]
    return (
        a[:, max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)],
        b[:, max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)],
    )


def _correlation(a: FloatArray, b: FloatArray) -> float:
    """Return the correlation of two rows of pixels; 0 if one of them shows nothing."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > len(a) * 1.0 else 0.0


def _mixtures(small: FloatArray, cuts: list[int], limits: Limits) -> list[Transition]:
    """Find runs of frames that are mixtures of the image before and the image after them."""
    n = len(small)
    edges = [0, *cuts, n]
    found: list[tuple[float, Transition]] = []
    for half in HALVES:
        for start, stop in pairwise(edges):
            if stop - start <= 2 * half:
                continue
            part = small[start:stop]
            apart = np.abs(part[2 * half :] - part[: -2 * half]).mean(axis=1)
            for at in np.flatnonzero(apart >= limits.change).tolist():
                low, high = max(at - half // 2, 0), at + half // 2 + 1
                if apart[at] < apart[low:high].max():
                    continue
                mixture = _mixture(part, at, at + 2 * half, limits)
                if mixture is not None:
                    strength, first, frame, last = mixture
                    one = Transition(frame + start, first + start, last + start, "dissolve")
                    found.append((strength, one))
    kept: list[Transition] = []
    for _, one in sorted(found, key=lambda pair: -pair[0]):
        if all(one.last < other.first or one.first > other.last for other in kept):
            kept.append(one)
    return kept


def _mixture(
    part: FloatArray, start: int, stop: int, limits: Limits
) -> tuple[float, int, int, int] | None:
    """Test whether the frames between two are mixtures of them; return how well, and which."""
    whole = part[stop] - part[start]
    size = float(np.sqrt(whole @ whole))
    inside = part[start : stop + 1] - part[start]
    share = inside @ whole / size**2
    mixed = np.flatnonzero((share > 0.1) & (share < 0.9))
    if len(mixed) < FEWEST_MIXED or mixed[-1] - mixed[0] + 1 != len(mixed):
        return None
    if np.any(np.diff(share[mixed]) < -0.05):
        return None
    off = np.sqrt(((inside - share[:, None] * whole) ** 2).sum(axis=1)) / size
    if np.median(off[mixed]) > limits.off_line:
        return None

    # The contrast of a mixture is less than that of the two images, the less alike they are.
    first, last = start + int(mixed[0]), start + int(mixed[-1])
    gray = part[[start, (first + last) // 2, stop]].reshape(3, -1, 3).mean(axis=2)
    contrast = gray.std(axis=1)
    unlike = 1 - max(_correlation(gray[0], gray[2]), 0.0)
    squares = (contrast[0] ** 2 + contrast[2] ** 2) / 2
    of_mean = np.sqrt((squares + contrast[0] * contrast[2] * (1 - unlike)) / 2)
    if contrast[1] > (of_mean + np.sqrt(squares)) / 2:
        return None
    if np.minimum(np.abs(whole), LARGEST_CHANGE).mean() * unlike < limits.change:
        return None
    # Within the shots before and after, less changes in the same time.
    length = len(mixed) + 2
    before = part[max(first - 1, 0)] - part[max(first - 1 - length, 0)]
    after = part[min(last + 1 + length, len(part) - 1)] - part[min(last + 1, len(part) - 1)]
    if size < limits.drift * np.sqrt(max(before @ before, after @ after)):
        return None
    frame = first + int(np.argmax(share[mixed[0] :] >= 0.5))
    return size * (1 - float(np.median(off[mixed]))), first, frame, last


def _joined_at_blanks(found: list[Transition], small: FloatArray) -> list[Transition]:
    """Make one fade of a fade out and a fade in, with what shows nothing in between."""
    is_blank = small.reshape(len(small), -1, 3).std(axis=1).max(axis=1) < BLANK
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_blank, [False]])))
    for start, stop in edges.reshape(-1, 2).tolist():
        out = [one for one in found if one.first <= start <= one.last + 4]
        back = [one for one in found if one not in out and one.first - 4 <= stop <= one.last + 1]
        around = [*out, *back]
        is_hard = all(one.how == "cut" for one in around)
        if not around or (is_hard and stop - start >= SHORTEST_BLANK):
            continue
        found = [one for one in found if one not in around]
        if start == 0 or stop == len(small):
            continue
        if is_hard:
            found.append(Transition(stop, stop, stop, "cut"))
            continue
        middle = (start + stop) // 2
        first = min((one.first for one in out), default=start)
        last = max((one.last for one in back), default=stop)
        found.append(Transition(middle, first, last, "fade"))
    return sorted(found, key=lambda one: one.frame)
