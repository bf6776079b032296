"""One figure of a result: its events, and why its boundaries are where they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from dayline.extras import needs_extra
from dayline.figures import panels
from dayline.figures.content import Content, agreement, content_of, main_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot"]

WIDTH, GRAPH_SIDE = 8.6, 3.6
"""Inches of the panels over time, and of the graph beside them."""


@needs_extra("figures", "a figure")
def plot(
    segmenter: Any, X: Any = None, truth: Any = None, *, tolerance: int = 5, figure: Figure | None = None
) -> Figure:
    """Draw the events of a sequence and how they were decided.

    The panels, one above the other, are: the events by context; the true boundaries, if given, with hits and misses;
    the boundary scores; the probability of every candidate; coarser and finer levels; the features, if given; the
    embedding; and beside them the graph. Panels of what is not known are left out.

    Parameters
    ----------
    segmenter : EventSegmenter, Segmentation or SourceResult
        A fitted segmenter shows most; a segmentation, such as one from `read_events`, shows what is stored in it.
    X : array-like of shape (n_frames, n_features), optional
        The features, drawn as a heat map of their columns or, if there are more than 16, of their main directions.
    truth : Segmentation, labels or boundaries, optional
        The true events. As many values as frames are labels, one per frame; fewer are boundaries.
    tolerance : int >= 0
        Frames a boundary may be off.
    figure : matplotlib.figure.Figure, optional
        Where to draw, such as `plt.figure(figsize=(12, 8))`, which `plt.show()` then shows. By default a new one that
        pyplot does not know of: a notebook shows it, and `savefig` saves it.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    content = content_of(segmenter)
    segmentation = content.segmentation
    drawn: list[tuple[float, Callable[[Axes], None]]]
    drawn = [(0.55, partial(panels.draw_events, segmentation=segmentation, width=WIDTH))]
    if truth is not None:
        found = agreement(segmentation, truth, tolerance=tolerance)
        drawn.append((0.55, partial(panels.draw_agreement, found=found)))
    if segmentation.scores is not None:
        drawn.append((1.0, partial(panels.draw_scores, segmentation=segmentation)))
    if content.candidates is not None:
        frames, chances = content.candidates
        shown = partial(panels.draw_probabilities, segmentation=segmentation, frames=frames, probabilities=chances)
        drawn.append((1.0, shown))
    if len(content.levels) > 1:
        shown = partial(panels.draw_levels, segmentation=segmentation, levels=content.levels)
        drawn.append((0.17 * len(content.levels) + 0.1, shown))
    if X is not None:
        columns, n_columns = main_columns(X, segmentation.n_frames)
        is_whole = columns.shape[1] == n_columns
        main = "" if is_whole else f" (the {columns.shape[1]} main directions of {n_columns} columns)"
        title = f"features over time{main}"
        drawn.append((0.9, partial(panels.draw_vectors, vectors=columns, title=title, standardize=is_whole)))
    if content.embedding is not None:
        title = f"embedding over time ({content.embedding.shape[1]} dimensions)"
        drawn.append((0.9, partial(panels.draw_vectors, vectors=content.embedding, title=title)))
    return _laid_out(figure, drawn, content)


def _laid_out(figure: Figure | None, drawn: list[tuple[float, Callable[[Axes], None]]], content: Content) -> Figure:
    """Draw the panels below each other, and the graph beside them."""
    heights = [height for height, _ in drawn]
    has_graph = content.graph is not None
    if figure is None:
        from dayline.figures.canvas import NotebookFigure

        # Every panel has a title, and the last one the labels of the frames.
        height = max(sum(heights) + 0.32 * len(heights) + 0.6, GRAPH_SIDE + 0.6 if has_graph else 0.0)
        figure = NotebookFigure(figsize=(WIDTH + (GRAPH_SIDE if has_graph else 0.0), height), layout="constrained")
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
    panels.label_frames(axes, content.segmentation)
    if content.graph is not None:
        panels.draw_graph(figure.add_subplot(grid[:, 1]), content.graph, content.segmentation)
    return figure
