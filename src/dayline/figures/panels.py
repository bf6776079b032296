"""The panels of the figure; all but the graph have the frames as their horizontal axis."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dayline.arrays import Array, FloatArray, IntArray
from dayline.events import Segmentation
from dayline.export.titles import clean_text, context_letters
from dayline.figures.content import Agreement
from dayline.notebook import context_color
from dayline.report import Drawable
from dayline.report.graph_picture import graph_levels
from dayline.text import counted, signed_clock

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "draw_agreement",
    "draw_events",
    "draw_graph",
    "draw_levels",
    "draw_probabilities",
    "draw_scores",
    "draw_vectors",
    "label_frames",
]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INK, FAINT = "#222222", "#9a9a9a"
BLUE, DARK_BLUE, ORANGE = "#0072b2", "#1b4f72", "#d55e00"
MOST_PIXELS = 2000
CHARACTER = 0.08
"""Width of a character of a label, in inches."""

REASONS = {"pause": "pause", "both": "pause and looks", "asked": "asked for"}


def draw_events(axes: Axes, segmentation: Segmentation, *, width: float) -> None:
    """Draw the events in the colours of their contexts, with as much of their names as fits.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    segmentation : Segmentation
        The events.
    width : float
        Width of the panel in inches.
    """
    seen: dict[int | None, int] = {}
    for event in segmentation.events:
        if event.community is not None:
            seen.setdefault(event.community, len(seen))
    named = {place.community: place.name for place in segmentation.places}
    letters = context_letters(segmentation.events, segmentation.places)
    colors = [context_color(seen.get(event.community)) for event in segmentation.events]
    spans = [(event.start - 0.5, event.n_frames) for event in segmentation.events]
    # White lines between hundreds of events would leave nothing of their colours.
    axes.broken_barh(spans, (0, 1), facecolors=colors, edgecolor="white", linewidth=_line(0.8, len(spans)))
    for event, letter, color in zip(segmentation.events, letters, colors, strict=True):
        place = None if event.community is None else named.get(event.community)
        room = int(width * event.n_frames / segmentation.n_frames / CHARACTER)
        label = _label([event.name or place or "", letter], room)
        if not label:
            continue
        middle = (event.start + event.stop - 1) / 2
        ink = "white" if _is_dark(color) else "black"
        axes.text(middle, 0.48, label, ha="center", va="center", fontsize=8, color=ink, parse_math=False)
    axes.set(yticks=[], ylim=(0, 1))
    contexts = f", {counted(len(seen), 'context')}; one colour per context, a letter if it recurs" if seen else ""
    _title(axes, f"{counted(len(segmentation.events), 'event')}{contexts}")


def _label(texts: Sequence[str], room: int) -> str:
    """Return the first text that fits, shortened if at least four characters of it do."""
    for text in map(clean_text, texts):
        if not text or not _has_glyphs(text):
            continue
        if len(text) <= room:
            return text
        if room >= 4 and len(text) > 3:
            return f"{text[: room - 1]}…"
    return ""


def _has_glyphs(text: str) -> bool:
    """Whether the font has all characters of a text; matplotlib warns about each that it lacks."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties()))
    return all(font.get_char_index(ord(character)) for character in text)


def _is_dark(color: str) -> bool:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(color)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.55


def draw_agreement(axes: Axes, found: Agreement) -> None:
    """Mark which boundaries are right, which are wrong, and which were missed."""
    axes.vlines(found.true, 0, 0.45, color=INK, lw=_line(1.0, len(found.true)))
    for frames, marker, color, label in (
        (found.hits, "o", BLUE, "right"),
        (found.wrong, "v", ORANGE, "not true"),
    ):
        axes.scatter(
            frames, np.full(len(frames), 0.78), marker=marker, s=22, color=color, label=f"{len(frames)} {label}"
        )
    n_missed = len(found.missed)
    axes.scatter(found.missed, np.full(n_missed, 0.22), marker="x", s=30, color=ORANGE, label=f"{n_missed} missed")
    axes.set(yticks=[0.22, 0.78], ylim=(0, 1.02))
    axes.set_yticklabels(["true", "found"], fontsize=7)
    _title(axes, f"against the truth, at most {counted(found.tolerance, 'frame')} off: F1 {found.score.f1:.3f}")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.96), ncols=3, fontsize=7, frameon=False, borderpad=0.2)


def draw_scores(axes: Axes, segmentation: Segmentation) -> None:
    """Draw the boundary score of every frame, and where the boundaries are."""
    if segmentation.scores is not None:
        axes.plot(segmentation.scores, color=BLUE, lw=1.0)
    axes.set_ylim(bottom=0)
    top = axes.get_ylim()[1]
    axes.vlines(segmentation.boundaries, 0, top, color=FAINT, lw=_line(0.8, len(segmentation.boundaries)), ls=":")
    for reason, marker in (("pause", "s"), ("both", "D"), ("asked", "*")):
        frames = [event.start for event in segmentation.events if event.reason == reason]
        if frames:
            label = REASONS[reason]
            axes.scatter(frames, [top] * len(frames), marker=marker, s=20, color=INK, clip_on=False, label=label)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=3, fontsize=7, frameon=False, borderpad=0.2)
    _title(axes, "score: how much past and future of a frame differ; boundaries dotted")


def draw_probabilities(axes: Axes, segmentation: Segmentation, frames: IntArray, probabilities: FloatArray) -> None:
    """Draw the probability of every candidate, and which became boundaries."""
    used = np.isin(frames, segmentation.boundaries)
    n_used, n_others = int(used.sum()), int((~used).sum())
    axes.vlines(frames[~used], 0, probabilities[~used], color=FAINT, lw=_line(0.8, n_others))
    axes.vlines(frames[used], 0, probabilities[used], color=ORANGE, lw=_line(1.4, n_used))
    hollow: dict[str, Any] = {"facecolor": "white", "edgecolor": FAINT, "linewidth": _line(0.8, n_others)}
    axes.scatter(frames[~used], probabilities[~used], s=_line(9.0, n_others), zorder=3, **hollow)
    axes.scatter(frames[used], probabilities[used], s=_line(16.0, n_used), color=ORANGE, zorder=3)
    if n_used <= 30:
        for frame, probability in zip(frames[used], probabilities[used], strict=True):
            above = (frame, probability)
            axes.annotate(f"{probability:.0%}", above, (0, 4), textcoords="offset points", fontsize=6, ha="center")
    axes.set(ylim=(0, 1.15), yticks=[0, 0.5, 1])
    axes.set_yticklabels(["0", "50%", "100%"], fontsize=7)
    chosen = "" if used.all() else f": {n_used} of {len(frames)} candidates are boundaries (filled)"
    _title(axes, f"probability that people would mark a boundary{chosen}")


def draw_levels(axes: Axes, segmentation: Segmentation, levels: Sequence[IntArray]) -> None:
    """Draw the nested levels as bars, the one used in blue."""
    for row, boundaries in enumerate(levels):
        is_used = np.array_equal(boundaries, segmentation.boundaries)
        shades = (BLUE, DARK_BLUE) if is_used else ("0.8", "0.62")
        edges = np.concatenate([[0], boundaries, [segmentation.n_frames]])
        spans = [(start - 0.5, stop - start) for start, stop in pairwise(edges.tolist())]
        colors = [shades[k % 2] for k in range(len(spans))]
        axes.broken_barh(spans, (row - 0.43, 0.86), facecolors=colors, linewidth=0)
    axes.set_yticks(range(len(levels)), [str(len(level) + 1) for level in levels], fontsize=7)
    axes.set(ylim=(len(levels) - 0.5, -0.5), ylabel="events")
    is_shown = any(np.array_equal(level, segmentation.boundaries) for level in levels)
    _title(axes, f"coarser and finer levels; {'the one used in blue' if is_shown else 'none of them is used'}")


def draw_vectors(axes: Axes, vectors: FloatArray, title: str, *, standardize: bool = False) -> None:
    """Draw vectors over time as a heat map; `standardize` gives each column its own scale."""
    n_frames = len(vectors)
    values = np.asarray(vectors, dtype=np.float64)
    if n_frames > MOST_PIXELS:
        starts = np.arange(MOST_PIXELS) * n_frames // MOST_PIXELS
        values = np.add.reduceat(values, starts, axis=0) / np.diff(np.append(starts, n_frames))[:, None]
    values = values - values.mean(axis=0)
    spread = values.std(axis=0) if standardize else np.asarray(values.std(axis=0).max())
    values = values / np.where(spread > 0, spread, 1.0)
    extent = (-0.5, n_frames - 0.5, values.shape[1] - 0.5, -0.5)
    picture: dict[str, Any] = {"cmap": "PuOr", "vmin": -2.5, "vmax": 2.5, "interpolation": "nearest"}
    axes.imshow(values.T, aspect="auto", extent=extent, **picture)
    axes.set(yticks=[])
    _title(axes, title)


def draw_graph(axes: Axes, graph: Array | Drawable, segmentation: Segmentation) -> None:
    """Draw the graph, bright where frames are alike, with a square around every event."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    n_frames = segmentation.n_frames
    extent = (0, n_frames, n_frames, 0)
    axes.imshow(graph_levels(graph, size=640), cmap="cividis", extent=extent, interpolation="nearest")
    squares = [Rectangle((event.start, event.start), event.n_frames, event.n_frames) for event in segmentation.events]
    axes.add_collection(PatchCollection(squares, facecolor="none", edgecolor=ORANGE, linewidth=0.8))
    axes.tick_params(labelsize=7)
    axes.set_anchor("N")
    _title(axes, "graph: frames that are alike are linked")


def label_frames(axes: Axes, segmentation: Segmentation) -> None:
    """Label the horizontal axis with frames and, below them, their times."""
    times, n_frames = segmentation.times, segmentation.n_frames
    ends = None if times is None else (_date(segmentation, times[0]), _date(segmentation, times[-1]))
    has_days = (
        segmentation.is_dated and ends is not None and None not in ends and len({d.date() for d in ends if d}) > 1
    )

    def text(value: float, _: float) -> str:
        frame = round(value)
        if not 0 <= frame < n_frames or abs(value - frame) > 1e-6:
            return ""
        if times is None:
            return str(frame)
        moment = _date(segmentation, times[frame])
        if moment is None:
            return f"{frame}\n{signed_clock(times[frame])}"
        return f"{frame}\n{moment:%H:%M}" + (f"\n{moment:%Y-%m-%d}" if has_days else "")

    axes.xaxis.set_major_formatter(text)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("frame" if times is None else "frame and time")


def _date(segmentation: Segmentation, seconds: float) -> datetime | None:
    if segmentation.clock != "wall":
        return None
    try:
        return EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None


def _line(width: float, number: int) -> float:
    """Return the width of lines or the size of marks: thinner if there are hundreds of them."""
    return width * min(1.0, 100.0 / max(number, 1))


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=9, parse_math=False)
