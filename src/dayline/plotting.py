"""Draw a segmentation and how it was decided (extra "figures")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dayline.album.page.graph_picture import Drawable, graph_levels, graph_of_frames
from dayline.arrays import Array, FloatArray, IntArray
from dayline.checks import check_between, check_features, show_value
from dayline.decision.decide import boundary_probability
from dayline.decision.evidence import Evidence
from dayline.estimators import EventSegmenter
from dayline.estimators.inputs import without_dates
from dayline.events import Segmentation, labels_to_boundaries
from dayline.events.table import context_colors, context_letters, moment
from dayline.installation import needs_extra
from dayline.metrics import match_boundaries, score_boundaries
from dayline.text import clean_text, counted, signed_clock

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LEVELS = 9
MOST_COLUMNS = 16
"""Columns that a heat map shows; of more, the main directions."""

INK, FAINT = "#222222", "#9a9a9a"
BLUE, DARK_BLUE, ORANGE = "#0072b2", "#1b4f72", "#d55e00"
MOST_PIXELS = 2000
CHARACTER = 0.08
"""Width of a character of a label, in inches."""

WIDTH, GRAPH_SIDE = 8.6, 3.6
"""Inches of the panels over time, and of the graph beside them."""

REASONS = {
    "pause": ("s", "pause"),
    "both": ("D", "pause and content"),
    "required": ("*", "required"),
}
LEGEND: dict[str, Any] = {
    "loc": "lower right",
    "ncols": 3,
    "fontsize": 7,
    "frameon": False,
    "borderpad": 0.2,
}


@needs_extra("figures", "a figure")
def plot(
    segmenter: Any,
    X: Any = None,
    truth: Any = None,
    *,
    tolerance: int = 5,
    columns: int = 0,
    figure: Figure | None = None,
) -> Figure:
    """Draw the events of a sequence and how they were decided.

    The panels, one above the other, are: the events by context; the true boundaries, if given, with
    hits and misses; the boundary scores; the probability of every candidate; coarser and finer
    levels; the columns that drove the boundaries, if asked; the features, if given; the embedding;
    and beside them the graph. Panels of what is not known are left out.

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
    columns : int >= 0
        How many columns to show of those that drove the boundaries most; needs a fitted segmenter.
    figure : matplotlib.figure.Figure, optional
        Where to draw, such as `plt.figure(figsize=(12, 8))`, which `plt.show()` then shows. By
        default a new one that pyplot does not know of: a notebook shows it, and `savefig` saves it.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    segmentation, fitted, graph = _what_is_known(segmenter)
    n_frames = segmentation.n_frames

    # The height of every panel in inches, what draws it, and from what.
    panels: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []
    panels.append((0.55, _draw_events, (segmentation,)))
    if truth is not None:
        true = _true_boundaries(truth, n_frames)
        panels.append((0.55, _draw_truth, (segmentation, true, tolerance)))
    if segmentation.scores is not None:
        panels.append((1.0, _draw_scores, (segmentation,)))
    candidates = _candidates(segmentation, fitted)
    if candidates is not None:
        panels.append((1.0, _draw_candidates, (segmentation, *candidates)))
    if fitted is not None and fitted.evidence_ is not None:
        answers = [fitted.seen_[rows] for rows in fitted.evidence_.answers]
        panels.append((0.8, _draw_answers, (segmentation, fitted.evidence_, answers)))
    levels = _levels(segmentation, fitted)
    if len(levels) > 1:
        panels.append((0.17 * len(levels) + 0.1, _draw_levels, (segmentation, levels)))
    check_between("columns", columns, 0, whole=True)
    if columns and fitted is None:
        raise ValueError("columns= needs a fitted EventSegmenter, which knows the features")
    if columns and fitted is not None and segmentation.boundaries:
        n_shown = min(columns, fitted.n_features_in_)
        panels.append((0.17 * n_shown + 0.1, _draw_columns, (fitted, n_shown)))
    if X is not None:
        features = check_features(without_dates(X), missing="interpolate")
        if len(features) != n_frames:
            raise ValueError(f"X has {len(features)} rows, but the result {n_frames} frames")
        panels.append((0.9, _draw_features, (features,)))
    if fitted is not None:
        title = f"embedding over time ({fitted.embedding_.shape[1]} dimensions)"
        panels.append((0.9, _draw_vectors, (fitted.embedding_, title)))

    figure, rows, beside = _laid_out(figure, [height for height, *_ in panels], graph is not None)
    for axes, (_, draw, known) in zip(rows, panels, strict=True):
        draw(axes, *known)
    rows[-1].set_xlim(-0.5, n_frames - 0.5)
    _label_frames(rows[-1], segmentation)
    if beside is not None:
        _draw_graph(beside, graph, segmentation)
    return figure


def _what_is_known(
    what: Any,
) -> tuple[Segmentation, EventSegmenter | None, Array | Drawable | None]:
    """Return the segmentation, the segmenter if it was fitted here, and the graph."""
    if isinstance(what, EventSegmenter):
        check_is_fitted(what)
        return what.segmentation_, what, graph_of_frames(what.graph_, what.row_of_frame_)
    if isinstance(what, Segmentation):
        return what, None, None
    inner = getattr(what, "segmentation", None)
    if not isinstance(inner, Segmentation):
        raise TypeError(
            f"{show_value(what)} cannot be plotted; pass a fitted EventSegmenter, a Segmentation,"
            " or what segment_source returns"
        )
    return inner, None, getattr(what, "graph", None)


def _candidates(
    segmentation: Segmentation, fitted: EventSegmenter | None
) -> tuple[IntArray, FloatArray] | None:
    """Return the frames that might have become boundaries, and the probability of each."""
    if fitted is not None:
        if fitted.evidence_ is None:
            return None
        rows = np.sort(fitted.evidence_.hierarchy.boundaries)
        return fitted.seen_[rows], boundary_probability(fitted.evidence_, rows)
    known = {e.start: e.confidence for e in segmentation.events[1:] if e.confidence is not None}
    for level in segmentation.levels:
        known = dict(zip(level.boundaries, level.confidences, strict=True)) | known
    if not known:
        return None
    frames = np.asarray(sorted(known), dtype=np.int64)
    return frames, np.asarray([known[frame] for frame in frames.tolist()])


def _levels(segmentation: Segmentation, fitted: EventSegmenter | None) -> Sequence[IntArray]:
    """Return the levels nearest to the one used; the ends of many are nearly none and all."""
    given: Sequence[Any] = segmentation.levels if fitted is None else fitted.levels_
    levels = [np.asarray(level.boundaries, dtype=np.int64) for level in given]
    if len(levels) <= MOST_LEVELS:
        return levels
    used = len(segmentation.boundaries)
    nearest = int(np.argmin([abs(len(level) - used) for level in levels]))
    first = min(max(nearest - MOST_LEVELS // 2, 0), len(levels) - MOST_LEVELS)
    return levels[first : first + MOST_LEVELS]


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
    frames = np.unique(values.astype(np.int64))
    # Interior, as `score_boundaries` counts them.
    return frames[frames > 0]


def _laid_out(
    figure: Figure | None, heights: Sequence[float], has_graph: bool
) -> tuple[Figure, list[Axes], Axes | None]:
    """Make the panels below each other, and that of the graph beside them."""
    if figure is None:
        # Every panel has a title, and the last one the labels of the frames.
        height = sum(heights) + 0.32 * len(heights) + 0.6
        width = WIDTH + GRAPH_SIDE if has_graph else WIDTH
        figure = _new_figure(width, max(height, GRAPH_SIDE + 0.6) if has_graph else height)

    widths = [WIDTH, GRAPH_SIDE] if has_graph else [WIDTH]
    grid = figure.add_gridspec(
        len(heights), len(widths), height_ratios=heights, width_ratios=widths
    )
    panels: list[Axes] = []
    for row in range(len(heights)):
        axes = figure.add_subplot(grid[row, 0], sharex=panels[0] if panels else None)
        axes.tick_params(axis="y", labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
        if row < len(heights) - 1:
            axes.tick_params(axis="x", labelbottom=False)
        panels.append(axes)
    return figure, panels, figure.add_subplot(grid[:, 1]) if has_graph else None


def _new_figure(width: float, height: float) -> Figure:
    """Make a figure outside pyplot: nothing global refers to it, and no window opens."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        def _repr_png_(self) -> bytes:
            FigureCanvasAgg(self)
            buffer = BytesIO()
            self.savefig(buffer, format="png", dpi=100)
            return buffer.getvalue()

    return NotebookFigure(figsize=(width, height), layout="constrained")


def _draw_events(axes: Axes, segmentation: Segmentation) -> None:
    """Draw the events in the colors of their contexts, with as much of their names as fits."""
    events = segmentation.events
    colors = context_colors(events)
    spans = [(event.start - 0.5, event.n_frames) for event in events]
    # White lines between hundreds of events would leave nothing of their colors.
    width = _line(0.8, len(spans))
    axes.broken_barh(spans, (0, 1), facecolors=colors, edgecolor="white", linewidth=width)

    named = {place.community: place.name for place in segmentation.places}
    letters = context_letters(events, segmentation.places)
    for event, letter, color in zip(events, letters, colors, strict=True):
        place = None if event.community is None else named.get(event.community)
        room = int(WIDTH * event.n_frames / segmentation.n_frames / CHARACTER)
        label = _label([event.name or place or "", letter], room)
        middle = (event.start + event.stop - 1) / 2
        if label:
            ink: dict[str, Any] = {"fontsize": 8, "color": "white" if _is_dark(color) else "black"}
            axes.text(middle, 0.48, label, ha="center", va="center", parse_math=False, **ink)

    axes.set(yticks=[], ylim=(0, 1))
    title = counted(len(events), "event")
    contexts = {event.community for event in events} - {None}
    if contexts:
        title += (
            f", {counted(len(contexts), 'context')}; one color per context, a letter if it recurs"
        )
    _title(axes, title)


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


def _draw_truth(axes: Axes, segmentation: Segmentation, true: IntArray, tolerance: int) -> None:
    """Mark which boundaries are right, which are wrong, and which were missed."""
    found = segmentation.boundaries
    f1 = score_boundaries(found, true, tolerance=tolerance).f1
    pairs = match_boundaries(found, true, tolerance=tolerance)
    right = np.asarray([f for f, _ in pairs], dtype=np.int64)
    missed = np.setdiff1d(true, [t for _, t in pairs])

    axes.vlines(true, 0, 0.45, color=INK, lw=_line(1.0, len(true)))
    for frames, height, marker, size, color, label in (
        (right, 0.78, "o", 22, BLUE, "right"),
        (np.setdiff1d(found, right), 0.78, "v", 22, ORANGE, "not true"),
        (missed, 0.22, "x", 30, ORANGE, "missed"),
    ):
        heights = np.full(len(frames), height)
        label = f"{len(frames)} {label}"
        axes.scatter(frames, heights, marker=marker, s=size, color=color, label=label)

    axes.set(yticks=[0.22, 0.78], ylim=(0, 1.02))
    axes.set_yticklabels(["true", "found"], fontsize=7)
    _title(axes, f"against the truth, at most {counted(tolerance, 'frame')} off: F1 {f1:.3f}")
    axes.legend(bbox_to_anchor=(1.0, 0.96), **LEGEND)


def _draw_scores(axes: Axes, segmentation: Segmentation) -> None:
    """Draw the boundary score of every frame, and where the boundaries are."""
    axes.plot(np.asarray(segmentation.scores), color=BLUE, lw=1.0)
    axes.set_ylim(bottom=0)
    top = axes.get_ylim()[1]
    found = segmentation.boundaries
    axes.vlines(found, 0, top, color=FAINT, lw=_line(0.8, len(found)), ls=":")
    spans = [(first, last - first) for first, last in filter(None, segmentation.intervals)]
    if spans:
        axes.broken_barh(spans, (0, top), facecolor=ORANGE, alpha=0.18, linewidth=0, zorder=0)

    for reason, (marker, label) in REASONS.items():
        frames = [event.start for event in segmentation.events if event.reason == reason]
        if frames:
            tops = [top] * len(frames)
            axes.scatter(frames, tops, marker=marker, s=20, color=INK, clip_on=False, label=label)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(bbox_to_anchor=(1.0, 0.99), **LEGEND)
    where = ", shaded where they lie with 80 %" if spans else ""
    _title(axes, f"score: how much past and future of a frame differ; boundaries dotted{where}")


def _draw_candidates(
    axes: Axes, segmentation: Segmentation, frames: IntArray, probabilities: FloatArray
) -> None:
    """Draw the probability of every candidate, and which became boundaries."""
    used = np.isin(frames, segmentation.boundaries)
    chosen, rejected = (frames[used], probabilities[used]), (frames[~used], probabilities[~used])
    n_used, n_others = len(chosen[0]), len(rejected[0])
    axes.vlines(rejected[0], 0, rejected[1], color=FAINT, lw=_line(0.8, n_others))
    axes.vlines(chosen[0], 0, chosen[1], color=ORANGE, lw=_line(1.4, n_used))
    hollow: dict[str, Any] = {"facecolor": "white", "edgecolor": FAINT}
    hollow |= {"linewidth": _line(0.8, n_others), "s": _line(9.0, n_others)}
    axes.scatter(*rejected, zorder=3, **hollow)
    axes.scatter(*chosen, s=_line(16.0, n_used), color=ORANGE, zorder=3)

    if n_used <= 30:
        small: dict[str, Any] = {"textcoords": "offset points", "fontsize": 6, "ha": "center"}
        for frame, probability in zip(*chosen, strict=True):
            axes.annotate(f"{probability:.0%}", (frame, probability), (0, 4), **small)
    axes.set(ylim=(0, 1.15), yticks=[0, 0.5, 1])
    axes.set_yticklabels(["0", "50%", "100%"], fontsize=7)
    counts = f": {n_used} of {len(frames)} candidates are boundaries (filled)" if n_others else ""
    _title(axes, f"probability that people would mark a boundary{counts}")


def _draw_answers(
    axes: Axes, segmentation: Segmentation, evidence: Evidence, answers: Sequence[IntArray]
) -> None:
    """Draw the boundaries of every answer, and say on which number they agree best."""
    for row, boundaries in enumerate(answers):
        axes.vlines(boundaries, row - 0.36, row + 0.36, color=BLUE, lw=_line(1.0, len(boundaries)))
    axes.vlines(
        segmentation.boundaries, -0.5, len(answers) - 0.5,
        color=FAINT, lw=_line(0.8, len(segmentation.boundaries)), ls=":",
    )  # fmt: skip
    numbers = [str(len(boundaries) + 1) for boundaries in answers]
    axes.set_yticks(range(len(numbers)), numbers, fontsize=7)
    axes.set(ylim=(len(numbers) - 0.5, -0.5), ylabel="events")
    fewest, most = evidence.n_events_range
    agreed = evidence.agreed_number
    _title(
        axes,
        f"{len(numbers)} answers have {fewest} to {most} events; {agreed + 1} agree best with all"
        f" (mean F1 {evidence.agreement[agreed]:.2f})",
    )


def _draw_levels(axes: Axes, segmentation: Segmentation, levels: Sequence[IntArray]) -> None:
    """Draw the nested levels as bars, the one used in blue."""
    is_used = [np.array_equal(level, segmentation.boundaries) for level in levels]
    for row, boundaries in enumerate(levels):
        shades = (BLUE, DARK_BLUE) if is_used[row] else ("0.8", "0.62")
        edges = np.concatenate([[0], boundaries, [segmentation.n_frames]])
        spans = [(start - 0.5, stop - start) for start, stop in pairwise(edges.tolist())]
        colors = [shades[k % 2] for k in range(len(spans))]
        axes.broken_barh(spans, (row - 0.43, 0.86), facecolors=colors, linewidth=0)
    axes.set_yticks(range(len(levels)), [str(len(level) + 1) for level in levels], fontsize=7)
    axes.set(ylim=(len(levels) - 0.5, -0.5), ylabel="events")
    which = "the one used in blue" if any(is_used) else "none of them is used"
    _title(axes, f"coarser and finer levels; {which}")


def _draw_columns(axes: Axes, fitted: EventSegmenter, n_shown: int) -> None:
    """Draw the share that the strongest columns have in every boundary."""
    shares = fitted.column_shares()
    mean = shares.mean(axis=0)
    shown = np.argsort(-mean, kind="stable")[:n_shown].tolist()
    for row, column in enumerate(shown):
        rows = np.full(len(shares), row)
        axes.scatter(fitted.boundaries_, rows, s=70 * shares[:, column], color=BLUE, linewidth=0)
    names = [clean_text(str(fitted.column_names[column])) for column in shown]
    labels = [f"{_label([name], 12)} {mean[c]:.0%}" for name, c in zip(names, shown, strict=True)]
    axes.set_yticks(range(n_shown), labels, fontsize=7, parse_math=False)
    axes.set(ylim=(n_shown - 0.5, -0.5))
    _title(axes, "columns that drove the boundaries: share in each, and on average")


def _draw_features(axes: Axes, features: FloatArray) -> None:
    """Draw the columns of features over time, or their main directions if there are many."""
    n_frames, n_columns = features.shape
    if n_columns <= MOST_COLUMNS:
        _draw_vectors(axes, features, "features over time", standardize=True)
        return
    from sklearn.decomposition import PCA

    n_directions = min(MOST_COLUMNS // 2, n_frames)
    main = PCA(n_directions, svd_solver="randomized", random_state=0).fit_transform(features)
    title = f"features over time (the {n_directions} main directions of {n_columns} columns)"
    _draw_vectors(axes, main, title)


def _draw_vectors(
    axes: Axes, vectors: FloatArray, title: str, *, standardize: bool = False
) -> None:
    """Draw vectors over time as a heat map; `standardize` gives each column its own scale."""
    n_frames = len(vectors)
    values = np.asarray(vectors, dtype=np.float64)
    if n_frames > MOST_PIXELS:
        starts = np.arange(MOST_PIXELS) * n_frames // MOST_PIXELS
        lengths = np.diff(np.append(starts, n_frames))
        values = np.add.reduceat(values, starts, axis=0) / lengths[:, None]
    values = values - values.mean(axis=0)
    spread = values.std(axis=0) if standardize else np.asarray(values.std(axis=0).max())
    values = values / np.where(spread > 0, spread, 1.0)

    extent = (-0.5, n_frames - 0.5, values.shape[1] - 0.5, -0.5)
    colors: dict[str, Any] = {"cmap": "PuOr", "vmin": -2.5, "vmax": 2.5}
    axes.imshow(values.T, aspect="auto", extent=extent, interpolation="nearest", **colors)
    axes.set(yticks=[])
    _title(axes, title)


def _draw_graph(axes: Axes, graph: Array | Drawable, segmentation: Segmentation) -> None:
    """Draw the graph, bright where frames are alike, with a square around every event."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    levels = graph_levels(graph, size=640)
    extent = (0, segmentation.n_frames, segmentation.n_frames, 0)
    axes.imshow(levels, cmap="cividis", extent=extent, interpolation="nearest")
    squares = [Rectangle((e.start, e.start), e.n_frames, e.n_frames) for e in segmentation.events]
    axes.add_collection(PatchCollection(squares, facecolor="none", edgecolor=ORANGE, linewidth=0.8))
    axes.tick_params(labelsize=7)
    axes.set_anchor("N")
    _title(axes, "graph: frames that are alike are linked")


def _label_frames(axes: Axes, segmentation: Segmentation) -> None:
    """Label the horizontal axis with frames and, below them, their times."""
    times, n_frames = segmentation.all_times, segmentation.n_frames
    has_days = False
    if times is not None and segmentation.is_dated:
        first, last = moment(times[0]), moment(times[-1])
        has_days = first is not None and last is not None and first.date() != last.date()

    def text(value: float, _: float) -> str:
        frame = round(value)
        if not 0 <= frame < n_frames or abs(value - frame) > 1e-6:
            return ""
        if times is None:
            return str(frame)
        date = moment(times[frame]) if segmentation.clock == "wall" else None
        if date is None:
            return f"{frame}\n{signed_clock(times[frame])}"
        return f"{frame}\n{date:%H:%M}" + (f"\n{date:%Y-%m-%d}" if has_days else "")

    axes.xaxis.set_major_formatter(text)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("frame" if times is None else "frame and time")


def _line(width: float, number: int) -> float:
    """Return the width of lines or the size of marks: thinner if there are hundreds of them."""
    return width * min(1.0, 100.0 / max(number, 1))


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=9, parse_math=False)
