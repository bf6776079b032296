"""Draw a segmentation and how it was decided (extra "figures")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.utils.validation import check_is_fitted

from dayline.album.page.graph_picture import Drawable, graph_levels
from dayline.arrays import Array, FloatArray, IntArray
from dayline.checks import check_features, show_value
from dayline.decision.decide import candidate_probabilities
from dayline.estimators import EventSegmenter
from dayline.events import Segmentation, labels_to_boundaries
from dayline.events.notebook import context_color
from dayline.events.table import context_letters
from dayline.installation import needs_extra
from dayline.metrics import BoundaryScore, match_boundaries, score_boundaries
from dayline.text import clean_text, counted, signed_clock

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure outside pyplot: nothing global refers to it, and no window opens."""

    def _repr_png_(self) -> bytes:
        FigureCanvasAgg(self)
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=100)
        return buffer.getvalue()


MOST_LEVELS = 9
MOST_COLUMNS = 16
"""Columns that a heat map shows; of more, the main directions."""


@dataclass(frozen=True)
class Content:
    """All that is known of a result.

    Attributes
    ----------
    segmentation : Segmentation
        The events.
    candidates : (ndarray of int, ndarray of float) or None
        Frames that might have become boundaries, and the probability of each.
    levels : tuple of ndarray of int
        Boundaries of some nested levels around the one used, coarsest first.
    embedding : ndarray of shape (n_frames, n_dims) or None
        The learnt vectors.
    graph : array or Drawable or None
        The learnt graph.
    """

    segmentation: Segmentation
    candidates: tuple[IntArray, FloatArray] | None = None
    levels: tuple[IntArray, ...] = ()
    embedding: FloatArray | None = None
    graph: Array | Drawable | None = None


def content_of(what: Any) -> Content:
    """Gather what is known of a segmenter, a segmentation, or what `segment_source` returns."""
    if isinstance(what, EventSegmenter):
        return _of_segmenter(what)
    if isinstance(what, Segmentation):
        return _of_segmentation(what)
    inner = getattr(what, "segmentation", None)
    if not isinstance(inner, Segmentation):
        raise TypeError(
            f"{show_value(what)} cannot be plotted; pass a fitted EventSegmenter, a Segmentation,"
            " or what segment_source returns"
        )
    found = _of_segmentation(inner)
    return Content(inner, found.candidates, found.levels, graph=getattr(what, "graph", None))


def _of_segmenter(segmenter: EventSegmenter) -> Content:
    check_is_fitted(segmenter)
    return Content(
        segmenter.segmentation_,
        None if segmenter.evidence_ is None else candidate_probabilities(segmenter.evidence_),
        _around([level.boundaries for level in segmenter.levels_], segmenter.boundaries_),
        segmenter.embedding_,
        segmenter.graph_,
    )


def _of_segmentation(segmentation: Segmentation) -> Content:
    levels = [np.asarray(level.boundaries, dtype=np.int64) for level in segmentation.levels]
    known = {e.start: e.confidence for e in segmentation.events[1:] if e.confidence is not None}
    for level in segmentation.levels:
        known = dict(zip(level.boundaries, level.confidences, strict=True)) | known
    frames = np.asarray(sorted(known), dtype=np.int64)
    candidates = (
        (frames, np.asarray([known[frame] for frame in frames.tolist()])) if known else None
    )
    return Content(segmentation, candidates, _around(levels, np.asarray(segmentation.boundaries)))


def _around(levels: Sequence[IntArray], used: IntArray) -> tuple[IntArray, ...]:
    """Return the levels nearest to the one used; the coarsest and finest of many are nearly none and all."""
    if len(levels) <= MOST_LEVELS:
        return tuple(levels)
    nearest = int(np.argmin([abs(len(level) - len(used)) for level in levels]))
    first = min(max(nearest - MOST_LEVELS // 2, 0), len(levels) - MOST_LEVELS)
    return tuple(levels[first : first + MOST_LEVELS])


@dataclass(frozen=True)
class Agreement:
    """Found and true boundaries: those that match, found ones that are not true, and true ones that were missed."""

    true: IntArray
    hits: IntArray
    wrong: IntArray
    missed: IntArray
    score: BoundaryScore
    tolerance: int


def agreement(segmentation: Segmentation, truth: Any, *, tolerance: int) -> Agreement:
    """Compare the boundaries of a segmentation with true ones.

    Parameters
    ----------
    segmentation : Segmentation
        What was found.
    truth : Segmentation, labels or boundaries
        As many values as frames are labels, one per frame; fewer are boundaries.
    tolerance : int
        Frames a boundary may be off.
    """
    n_frames, found = segmentation.n_frames, segmentation.boundaries
    true = _true_boundaries(truth, n_frames)
    # Interior, as `score_boundaries` counts them.
    true = true[true > 0]
    score = score_boundaries(found, true, tolerance=tolerance)
    pairs = match_boundaries(found, true, tolerance=tolerance)
    hits, met = np.asarray([f for f, _ in pairs], dtype=np.int64), [t for _, t in pairs]
    return Agreement(
        true, hits, np.setdiff1d(found, hits), np.setdiff1d(true, met), score, tolerance
    )


def _true_boundaries(truth: Any, n_frames: int) -> IntArray:
    if isinstance(truth, Segmentation):
        if truth.n_frames != n_frames:
            raise ValueError(f"truth has {truth.n_frames} frames, the result {n_frames}")
        return np.asarray(truth.boundaries, dtype=np.int64)
    if isinstance(truth, str) or not isinstance(truth, Iterable):
        raise ValueError(f"truth={show_value(truth)}; pass boundaries, labels or a Segmentation")
    values = np.asarray(truth if isinstance(truth, np.ndarray) else list(truth))
    if len(values) == n_frames and n_frames > 1:
        return labels_to_boundaries(values)
    # Checks that they are whole numbers within the sequence.
    score_boundaries([], values, n_frames=n_frames)
    return np.unique(values.astype(np.int64))


def main_columns(x: Any, n_frames: int) -> tuple[FloatArray, int]:
    """Return the columns of features, or their main directions if there are many, and the number of columns.

    Parameters
    ----------
    x : array-like of shape (n_frames, n_features)
        The features; missing values are interpolated.
    n_frames : int
        How many rows there must be.
    """
    features = check_features(x, missing="interpolate")
    n_columns = features.shape[1]
    if len(features) != n_frames:
        raise ValueError(f"X has {len(features)} rows, but the result {n_frames} frames")
    if n_columns <= MOST_COLUMNS:
        return features, n_columns
    from sklearn.decomposition import PCA

    n_directions = min(MOST_COLUMNS // 2, n_frames)
    return (
        PCA(n_directions, svd_solver="randomized", random_state=0).fit_transform(features),
        n_columns,
    )


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INK, FAINT = "#222222", "#9a9a9a"
BLUE, DARK_BLUE, ORANGE = "#0072b2", "#1b4f72", "#d55e00"
MOST_PIXELS = 2000
CHARACTER = 0.08
"""Width of a character of a label, in inches."""

REASONS = {"pause": "pause", "both": "pause and content", "required": "required"}


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
    axes.broken_barh(
        spans, (0, 1), facecolors=colors, edgecolor="white", linewidth=_line(0.8, len(spans))
    )
    for event, letter, color in zip(segmentation.events, letters, colors, strict=True):
        place = None if event.community is None else named.get(event.community)
        room = int(width * event.n_frames / segmentation.n_frames / CHARACTER)
        label = _label([event.name or place or "", letter], room)
        if not label:
            continue
        middle = (event.start + event.stop - 1) / 2
        ink = "white" if _is_dark(color) else "black"
        axes.text(
            middle, 0.48, label, ha="center", va="center", fontsize=8, color=ink, parse_math=False
        )
    axes.set(yticks=[], ylim=(0, 1))
    contexts = (
        f", {counted(len(seen), 'context')}; one colour per context, a letter if it recurs"
        if seen
        else ""
    )
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
            frames,
            np.full(len(frames), 0.78),
            marker=marker,
            s=22,
            color=color,
            label=f"{len(frames)} {label}",
        )
    n_missed = len(found.missed)
    axes.scatter(
        found.missed,
        np.full(n_missed, 0.22),
        marker="x",
        s=30,
        color=ORANGE,
        label=f"{n_missed} missed",
    )
    axes.set(yticks=[0.22, 0.78], ylim=(0, 1.02))
    axes.set_yticklabels(["true", "found"], fontsize=7)
    _title(
        axes,
        f"against the truth, at most {counted(found.tolerance, 'frame')} off: F1"
        f" {found.score.f1:.3f}",
    )
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 0.96),
        ncols=3,
        fontsize=7,
        frameon=False,
        borderpad=0.2,
    )


def draw_scores(axes: Axes, segmentation: Segmentation) -> None:
    """Draw the boundary score of every frame, and where the boundaries are."""
    if segmentation.scores is not None:
        axes.plot(segmentation.scores, color=BLUE, lw=1.0)
    axes.set_ylim(bottom=0)
    top = axes.get_ylim()[1]
    axes.vlines(
        segmentation.boundaries,
        0,
        top,
        color=FAINT,
        lw=_line(0.8, len(segmentation.boundaries)),
        ls=":",
    )
    for reason, marker in (("pause", "s"), ("both", "D"), ("required", "*")):
        frames = [event.start for event in segmentation.events if event.reason == reason]
        if frames:
            label = REASONS[reason]
            axes.scatter(
                frames,
                [top] * len(frames),
                marker=marker,
                s=20,
                color=INK,
                clip_on=False,
                label=label,
            )
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            loc="lower right",
            bbox_to_anchor=(1.0, 0.99),
            ncols=3,
            fontsize=7,
            frameon=False,
            borderpad=0.2,
        )
    _title(axes, "score: how much past and future of a frame differ; boundaries dotted")


def draw_probabilities(
    axes: Axes, segmentation: Segmentation, frames: IntArray, probabilities: FloatArray
) -> None:
    """Draw the probability of every candidate, and which became boundaries."""
    used = np.isin(frames, segmentation.boundaries)
    n_used, n_others = int(used.sum()), int((~used).sum())
    axes.vlines(frames[~used], 0, probabilities[~used], color=FAINT, lw=_line(0.8, n_others))
    axes.vlines(frames[used], 0, probabilities[used], color=ORANGE, lw=_line(1.4, n_used))
    hollow: dict[str, Any] = {
        "facecolor": "white",
        "edgecolor": FAINT,
        "linewidth": _line(0.8, n_others),
    }
    axes.scatter(frames[~used], probabilities[~used], s=_line(9.0, n_others), zorder=3, **hollow)
    axes.scatter(frames[used], probabilities[used], s=_line(16.0, n_used), color=ORANGE, zorder=3)
    if n_used <= 30:
        for frame, probability in zip(frames[used], probabilities[used], strict=True):
            above = (frame, probability)
            axes.annotate(
                f"{probability:.0%}",
                above,
                (0, 4),
                textcoords="offset points",
                fontsize=6,
                ha="center",
            )
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
    _title(
        axes,
        "coarser and finer levels;"
        f" {'the one used in blue' if is_shown else 'none of them is used'}",
    )


def draw_vectors(axes: Axes, vectors: FloatArray, title: str, *, standardize: bool = False) -> None:
    """Draw vectors over time as a heat map; `standardize` gives each column its own scale."""
    n_frames = len(vectors)
    values = np.asarray(vectors, dtype=np.float64)
    if n_frames > MOST_PIXELS:
        starts = np.arange(MOST_PIXELS) * n_frames // MOST_PIXELS
        values = (
            np.add.reduceat(values, starts, axis=0) / np.diff(np.append(starts, n_frames))[:, None]
        )
    values = values - values.mean(axis=0)
    spread = values.std(axis=0) if standardize else np.asarray(values.std(axis=0).max())
    values = values / np.where(spread > 0, spread, 1.0)
    extent = (-0.5, n_frames - 0.5, values.shape[1] - 0.5, -0.5)
    picture: dict[str, Any] = {
        "cmap": "PuOr",
        "vmin": -2.5,
        "vmax": 2.5,
        "interpolation": "nearest",
    }
    axes.imshow(values.T, aspect="auto", extent=extent, **picture)
    axes.set(yticks=[])
    _title(axes, title)


def draw_graph(axes: Axes, graph: Array | Drawable, segmentation: Segmentation) -> None:
    """Draw the graph, bright where frames are alike, with a square around every event."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    n_frames = segmentation.n_frames
    extent = (0, n_frames, n_frames, 0)
    axes.imshow(
        graph_levels(graph, size=640), cmap="cividis", extent=extent, interpolation="nearest"
    )
    squares = [
        Rectangle((event.start, event.start), event.n_frames, event.n_frames)
        for event in segmentation.events
    ]
    axes.add_collection(PatchCollection(squares, facecolor="none", edgecolor=ORANGE, linewidth=0.8))
    axes.tick_params(labelsize=7)
    axes.set_anchor("N")
    _title(axes, "graph: frames that are alike are linked")


def label_frames(axes: Axes, segmentation: Segmentation) -> None:
    """Label the horizontal axis with frames and, below them, their times."""
    times, n_frames = segmentation.times, segmentation.n_frames
    ends = (
        None if times is None else (_date(segmentation, times[0]), _date(segmentation, times[-1]))
    )
    has_days = (
        segmentation.is_dated
        and ends is not None
        and None not in ends
        and len({d.date() for d in ends if d}) > 1
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


WIDTH, GRAPH_SIDE = 8.6, 3.6
"""Inches of the panels over time, and of the graph beside them."""


@needs_extra("figures", "a figure")
def plot(
    segmenter: Any,
    X: Any = None,
    truth: Any = None,
    *,
    tolerance: int = 5,
    figure: Figure | None = None,
) -> Figure:
    """Draw the events of a sequence and how they were decided.

    The panels, one above the other, are: the events by context; the true boundaries, if given, with
    hits and misses; the boundary scores; the probability of every candidate; coarser and finer
    levels; the features, if given; the embedding; and beside them the graph. Panels of what is not
    known are left out.

    Parameters
    ----------
    segmenter : EventSegmenter, Segmentation or SourceResult
        A fitted segmenter shows most; a segmentation, such as one from `read_events`, shows what is
        stored in it.
    X : array-like of shape (n_frames, n_features), optional
        The features, drawn as a heat map of their columns or, if there are more than 16, of their
        main directions.
    truth : Segmentation, labels or boundaries, optional
        The true events. As many values as frames are labels, one per frame; fewer are boundaries.
    tolerance : int >= 0
        Frames a boundary may be off.
    figure : matplotlib.figure.Figure, optional
        Where to draw, such as `plt.figure(figsize=(12, 8))`, which `plt.show()` then shows. By
        default a new one that pyplot does not know of: a notebook shows it, and `savefig` saves it.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    content = content_of(segmenter)
    segmentation = content.segmentation
    drawn: list[tuple[float, Callable[[Axes], None]]]
    drawn = [(0.55, partial(draw_events, segmentation=segmentation, width=WIDTH))]
    if truth is not None:
        found = agreement(segmentation, truth, tolerance=tolerance)
        drawn.append((0.55, partial(draw_agreement, found=found)))
    if segmentation.scores is not None:
        drawn.append((1.0, partial(draw_scores, segmentation=segmentation)))
    if content.candidates is not None:
        frames, chances = content.candidates
        shown = partial(
            draw_probabilities, segmentation=segmentation, frames=frames, probabilities=chances
        )
        drawn.append((1.0, shown))
    if len(content.levels) > 1:
        shown = partial(draw_levels, segmentation=segmentation, levels=content.levels)
        drawn.append((0.17 * len(content.levels) + 0.1, shown))
    if X is not None:
        columns, n_columns = main_columns(X, segmentation.n_frames)
        is_whole = columns.shape[1] == n_columns
        main = (
            "" if is_whole else f" (the {columns.shape[1]} main directions of {n_columns} columns)"
        )
        title = f"features over time{main}"
        drawn.append(
            (0.9, partial(draw_vectors, vectors=columns, title=title, standardize=is_whole))
        )
    if content.embedding is not None:
        title = f"embedding over time ({content.embedding.shape[1]} dimensions)"
        drawn.append((0.9, partial(draw_vectors, vectors=content.embedding, title=title)))
    return _laid_out(figure, drawn, content)


def _laid_out(
    figure: Figure | None, drawn: list[tuple[float, Callable[[Axes], None]]], content: Content
) -> Figure:
    """Draw the panels below each other, and the graph beside them."""
    heights = [height for height, _ in drawn]
    has_graph = content.graph is not None
    if figure is None:
        # Every panel has a title, and the last one the labels of the frames.
        height = max(
            sum(heights) + 0.32 * len(heights) + 0.6, GRAPH_SIDE + 0.6 if has_graph else 0.0
        )
        figure = NotebookFigure(
            figsize=(WIDTH + (GRAPH_SIDE if has_graph else 0.0), height), layout="constrained"
        )
    widths = [WIDTH, GRAPH_SIDE] if has_graph else [WIDTH]
    grid = figure.add_gridspec(len(drawn), len(widths), height_ratios=heights, width_ratios=widths)
    first: Axes | None = None
    for row, (_, draw) in enumerate(drawn):
        axes = figure.add_subplot(grid[row, 0], sharex=first)
        draw(axes)
        first = first or axes
        axes.tick_params(axis="y", labelsize=7)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        if row < len(drawn) - 1:
            axes.tick_params(axis="x", labelbottom=False)
    axes.set_xlim(-0.5, content.segmentation.n_frames - 0.5)
    label_frames(axes, content.segmentation)
    if content.graph is not None:
        draw_graph(figure.add_subplot(grid[:, 1]), content.graph, content.segmentation)
    return figure
