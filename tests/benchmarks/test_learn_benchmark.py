"""The benchmark of learning decides as EventSegmenter does, and reads what it stored."""

from __future__ import annotations

import learn
import numpy as np

from dayline import EventSegmenter
from dayline.decision.learned import learn_from, load_prior, with_learned
from dayline.research.datasets.annotations import LabeledSequence


def made(seed: int) -> LabeledSequence:
    """Thirty steps, of which every third is marked."""
    random = np.random.default_rng(seed)
    step = np.repeat(np.arange(30), random.integers(8, 20, size=30))
    x = np.hstack([random.normal(size=(30, 9))[step], 2 * random.normal(size=(10, 2))[step // 3]])
    x = x + 0.2 * random.normal(size=x.shape)
    return LabeledSequence("made", str(seed), x, np.flatnonzero(np.diff(step // 3)) + 1)


def test_evidence_is_that_of_the_package_and_is_stored_once(tmp_path):
    sequences = [made(seed) for seed in range(3)]
    recordings = [learn.gather(one, tmp_path) for one in sequences]
    again = learn.gather(sequences[0], tmp_path).evidence
    assert np.array_equal(again.agreement, recordings[0].evidence.agreement)
    assert len(list(tmp_path.rglob("*.pkl"))) == 3
    taught, _ = learn_from([one.example() for one in recordings[:2]])
    evidence = with_learned(recordings[2].evidence, taught)
    found = np.sort(evidence.hierarchy.boundaries[: evidence.agreed_number])
    package = EventSegmenter.learn(
        [one.features for one in sequences[:2]], [one.boundaries for one in sequences[:2]]
    )
    assert package.learned == taught
    assert np.array_equal(package.fit(sequences[2].features).boundaries_, found)

    prior = load_prior()
    right, _ = learn.taught(recordings, "all", "right", prior)
    assert right > 0
    wrong, _ = learn.taught(recordings, "one", "moved", prior)
    assert wrong >= -0.01


def test_every_other_recording_teaches_alone_or_comes_first_among_all():
    assert learn.examples_of(3, 1, "one", "") == [(0,), (2,)]
    assert learn.examples_of(3, 1, "all", "") == [(0, 2)]
    assert learn.examples_of(3, 1, "all", "late") == [(0, 2), (2, 0)]
    assert len(learn.examples_of(20, 0, "all", "late")) == learn.MOST_WRONG
