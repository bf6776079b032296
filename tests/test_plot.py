from __future__ import annotations

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from dayline import DynamicGraphEmbedding, EventSegmenter, Segmentation, make_communities, plot
from dayline.events import NestedLevel, Place, boundaries_to_labels

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def made():
    return make_communities(200, stay=200.0, n_features=20, random_state=3)


@pytest.fixture(scope="module")
def fitted(made):
    return EventSegmenter().fit(made.features)


def titles(figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def labels(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def drawn(figure) -> None:
    """Draw it as saving it does; warnings, such as of missing glyphs, are errors here."""
    figure.savefig(os.devnull, format="png", dpi=40)


def test_a_fitted_segmenter_shows_every_panel(fitted, made):
    figure = plot(fitted, made.features, made.boundaries)
    starts = (
        "events",
        "against",
        "score",
        "probability",
        "answers",
        "coarser",
        "features",
        "embedding",
        "graph",
    )
    for start, title in zip(starts, titles(figure), strict=True):
        assert start in title
    assert "8 main directions of 20 columns" in titles(figure)[6]
    drawn(figure)


def test_panels_of_what_is_not_known_are_left_out():
    assert titles(plot(Segmentation.from_boundaries([4], 9))) == ["2 events"]
    ces = EventSegmenter.paper(n_iterations=1).fit(np.repeat(np.eye(3), 20, axis=0))
    assert not any("probability" in title or "coarser" in title for title in titles(plot(ces)))
    fast = EventSegmenter.fast().fit(np.repeat(np.eye(3), 20, axis=0))
    assert not any("graph" in title for title in titles(plot(fast)))


def test_frames_in_which_boundaries_lie_are_shaded(fitted):
    axes = plot(fitted).axes[1]
    shaded = axes.collections[-1].get_paths()
    spans = [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in shaded]
    assert spans == list(fitted.segmentation_.intervals)


def test_columns_that_drove_boundaries_are_shown_if_asked(fitted):
    axes = next(a for a in plot(fitted, columns=3).axes if "columns that" in a.get_title("left"))
    shares = fitted.column_shares()
    strongest = np.argsort(-shares.mean(axis=0), kind="stable")[:3]
    names = [label.get_text().split()[0] for label in axes.get_yticklabels()]
    assert names == [str(column) for column in strongest]
    sizes = [collection.get_sizes() for collection in axes.collections]
    np.testing.assert_allclose(sizes, 70 * shares[:, strongest].T)
    with pytest.raises(ValueError, match=r"^columns= needs a fitted EventSegmenter"):
        plot(fitted.segmentation_, columns=3)


def test_every_candidate_is_shown_with_its_probability_and_boundaries_as_they_were_found(fitted):
    axes = plot(fitted).axes[2]
    rejected, chosen = (collection.get_offsets() for collection in axes.collections[2:])
    assert chosen[:, 0].tolist() == fitted.boundaries_.tolist()
    assert chosen[:, 1].tolist() == pytest.approx(fitted.confidence_.tolist())
    candidates = set(fitted.evidence_.hierarchy.boundaries.tolist())
    assert {*rejected[:, 0], *chosen[:, 0]} == candidates
    assert labels(axes) == [f"{c:.0%}" for c in fitted.confidence_]


def test_hits_and_misses_are_marked_at_the_tolerance():
    segmentation = Segmentation.from_boundaries([10, 30, 50], 60)
    for truth in (
        [12, 28, 40],
        boundaries_to_labels([12, 28, 40], 60),
        Segmentation.from_boundaries([12, 28, 40], 60),
    ):
        axes = plot(segmentation, truth=truth, tolerance=2).axes[1]
        hits, wrong, missed = (mark.get_offsets()[:, 0].tolist() for mark in axes.collections[1:])
        assert (hits, wrong, missed) == ([10, 30], [50], [40])
        assert axes.get_title(loc="left") == "against the truth, at most 2 frames off: F1 0.667"
    _, _, missed = plot(segmentation, truth=[12, 28, 40], tolerance=1).axes[1].collections[1:]
    assert missed.get_offsets()[:, 0].tolist() == [12, 28, 40]


def test_names_are_text_whatever_they_contain_and_letters_where_they_do_not_fit():
    day = Segmentation.from_boundaries(
        [40, 80, 82], 120, communities=[5] * 40 + [2] * 40 + [5] * 2 + [2] * 38
    )
    names = ("two $ and _ a^ {", "朝食", None, None)
    events = tuple(replace(event, name=name) for event, name in zip(day.events, names, strict=True))
    figure = plot(day.about(events=events, places=(Place(2, "kitchen"),)))
    assert labels(figure.axes[0]) == ["two $ and _ a^ {", "A", "kitchen"]
    drawn(figure)


def test_levels_of_a_file_are_shown_with_the_one_used_in_blue():
    levels = (
        NestedLevel(-1, (), ()),
        NestedLevel(0, (20,), (0.8,)),
        NestedLevel(1, (10, 20), (0.3, 0.8)),
    )
    stored = Segmentation.from_boundaries([20], 40, levels=levels)
    figure = plot(stored)
    assert titles(figure)[2] == "coarser and finer levels; the one used in blue"
    assert [text.get_text() for text in figure.axes[2].get_yticklabels()] == ["1", "2", "3"]
    assert titles(figure)[1].endswith("1 of 2 candidates are boundaries (filled)")
    other = Segmentation.from_boundaries([7], 40, levels=levels)
    assert titles(plot(other))[2] == "coarser and finer levels; none of them is used"


def test_frames_are_labeled_with_their_times():
    def texts(**about) -> list[str]:
        axes = plot(Segmentation.from_boundaries([20], 40, **about)).axes[-1]
        format_frame = axes.xaxis.get_major_formatter()
        return [format_frame(frame, 0) for frame in (0, 20, 20.5, 41)]

    assert texts() == ["0", "20", "", ""]
    assert texts(times=tuple(range(40)), clock="media") == ["0\n0:00:00", "20\n0:00:20", "", ""]
    noon = 1_689_336_000.0
    times = tuple((noon + 60 * np.arange(40)).tolist())
    assert texts(times=times, clock="wall") == ["0\n12:00", "20\n12:20", "", ""]
    times = tuple((noon + 3600 * np.arange(40)).tolist())
    assert texts(times=times, clock="wall")[1] == "20\n08:00\n2023-07-15"
    assert texts(times=(1e300,) * 40, clock="wall")[0].startswith("0\n")


def test_a_figure_is_saved_shown_in_a_notebook_and_drawn_into_one_s_own(fitted, tmp_path):
    figure = plot(fitted.segmentation_)
    figure.savefig(tmp_path / "events.pdf")
    assert figure._repr_png_().startswith(b"\x89PNG")
    from matplotlib.figure import Figure

    own = Figure(figsize=(5, 4))
    assert plot(fitted.segmentation_, figure=own) is own
    assert len(own.axes) == len(figure.axes)


def test_nothing_global_changes():
    import matplotlib as mpl
    from matplotlib import pyplot

    before, figures = dict(mpl.rcParams), pyplot.get_fignums()
    drawn(plot(Segmentation.from_boundaries([3], 9)))
    assert dict(mpl.rcParams) == before
    assert pyplot.get_fignums() == figures


def test_a_graph_too_large_to_hold_is_drawn_from_its_picture(made):
    linear = EventSegmenter(DynamicGraphEmbedding(graph_form="linear", n_iterations=1)).fit(
        made.features
    )
    assert not isinstance(linear.graph_, np.ndarray)
    image = plot(linear).axes[-1].images[0].get_array()
    assert image.shape == (200, 200)
    inside = np.mean([image[e.start : e.stop, e.start : e.stop].mean() for e in linear.events_])
    assert inside > 2 * image.mean()


def test_the_result_of_a_source_shows_its_graph(made):
    from dayline.album.segment import segment_table

    result = segment_table(made.features)
    names = titles(plot(result))
    assert names[-1].startswith("graph")
    assert not any("embedding" in name for name in names)


def test_long_sequences_are_drawn_from_means():
    n = 30_000
    rows = np.repeat(np.eye(3), n // 3, axis=0)
    axes = plot(Segmentation.from_boundaries([n // 3, 2 * n // 3], n), rows).axes[1]
    assert axes.images[0].get_array().shape == (3, 2000)


def test_what_cannot_be_plotted_is_said_in_one_line(fitted):
    with pytest.raises(TypeError, match="cannot be plotted; pass a fitted EventSegmenter"):
        plot(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"X has 5 rows, but the result 200 frames"):
        plot(fitted, np.zeros((5, 3)))
    with pytest.raises(ValueError, match="true boundary 500 is outside the sequence of 200 frames"):
        plot(fitted, truth=[500])
    with pytest.raises(ValueError, match="truth=7; pass boundaries, labels or a Segmentation"):
        plot(fitted, truth=7)
    with pytest.raises(ValueError, match="truth has 9 frames, the result 200"):
        plot(fitted, truth=Segmentation.from_boundaries([3], 9))


def test_without_matplotlib_the_extra_is_named(monkeypatch, fitted):
    for name in [name for name in sys.modules if name.startswith(("matplotlib", "dayline.plot"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match=r"a figure needs more packages \(matplotlib.*"):
        plot(fitted)
