"""What worked in version 0.1.0 works: names, options, files and the snippets of its README."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import dayline
from cli.run_command import run
from made_photos import make_day

DATA = Path(__file__).parent / "data"
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

NAMES = """
    EventSegmenter DynamicGraphEmbedding Event Segmentation Level read_events segment_source write_result
    score_boundaries score_labels dynamic_graph_embedding nonlocal_means affinity_graph principal_components
    graph_cross_entropy embed_graph smooth_edges weaken_distant_edges find_communities
    weaken_edges_between_communities context_distance pick_boundaries partition make_communities no_boundaries
    equal_pieces random_cuts
"""
OPTIONS = {
    "segment": """
        --blur-faces --corrections --device --dry-run --every --expected-duration --export --interpolate --json --key
        --level --method --min-duration --model --n-events --no-open --no-thumbnails --open --order --output
        --pause-factor --pause-seconds --quiet --transpose --weights --write-chapters
    """,
    "evaluate": "--json --n-frames --protocol --tolerance",
    "export": "--blur-faces --format --fps --output --source --write-chapters",
    "demo": "--no-open --open --output --seed",
    "datasets": "--json --root",
    "reproduce": "--jobs --methods --model --most --only --output --predictor --quiet --root --seeds --weights",
}
METHODS = """
    default paper authors ces kts tw-finch window-difference kernel-rbf kernel-cosine tsc lrt vcp kmeans sr-clustering
    ac-color
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_public_names_are_where_they_were(name):
    assert callable(getattr(dayline, name))
    assert name in dayline.__all__


@pytest.mark.parametrize("command", OPTIONS)
def test_options_of_commands_are_there(command):
    done = run(command, "--help")
    assert done.returncode == 0
    offered = set(re.findall(r"--[a-z-]+", done.stdout))
    assert set(OPTIONS[command].split()) <= offered


def test_methods_have_their_names():
    from dayline.cli.segment import Method

    assert {method.value for method in Method} >= set(METHODS.split())


def test_events_of_0_1_0_are_read():
    segmentation = dayline.read_events(DATA / "events-0.1.0.json")
    assert segmentation.n_frames == 11
    assert segmentation.source == "a day"
    assert segmentation.sizes is None


def snippets(path: Path) -> list[str]:
    # There may be no GPU here; the same code runs through PyTorch on the processor.
    return [code.replace('device="cuda"', 'device="torch"') for code in SNIPPET.findall(path.read_text("utf-8"))]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:n_events")
def test_snippets_of_the_first_readme_run(tmp_path, monkeypatch):
    """Those of today run in test_docs.py."""
    path = DATA / "readme-0.1.0.md"
    pytest.importorskip("torch")
    make_day(tmp_path / "photos")
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    steps = np.repeat(random.normal(size=(16, 12)), 30, axis=0)
    known = {
        "X": steps + 0.1 * random.normal(size=steps.shape),
        "seconds": 30.0 * np.arange(len(steps)),
        "true": np.arange(30, len(steps), 30),
    }
    (tmp_path / "archive").mkdir()
    np.save(tmp_path / "archive" / "a.npy", known["X"])
    found = snippets(path)
    assert len(found) >= 2
    for code in found:
        exec(compile(code, str(path), "exec"), known)
    assert (tmp_path / "day" / "chapters.vtt").is_file()
    assert known["segmenter"].boundaries_.size
