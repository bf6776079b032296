"""The fit of the decision model: the same data give the same file, and a family is judged without
its kinds."""

from __future__ import annotations

import json
from dataclasses import replace

import fit_decision as fit
import numpy as np
import pytest

from dayline.decision.model import load_model
from dayline.research.datasets.annotations import LabeledSequence


def made(kind, seed, *, n_events=7):
    """A sequence of clear events, as its main directions show it."""
    random = np.random.default_rng(seed)
    lengths = random.integers(20, 40, n_events)
    x = np.repeat(random.normal(size=(n_events, 8)), lengths, axis=0)
    x += 0.5 * random.normal(size=x.shape)
    sequence = LabeledSequence(kind, str(seed), x, np.cumsum(lengths)[:-1], tolerance=2)
    return fit.gather(sequence, {"embedding": x, "directions": x}, load_model())


def test_a_curve_is_the_best_there_is():
    """Its cost is lowest: no step in either direction lowers it."""
    random = np.random.default_rng(0)
    strengths = random.normal(size=200)
    right = random.random(200) < 1 / (1 + np.exp(-(2 * strengths - 1)))
    curve = fit.fit_curve(strengths, right)
    assert curve == pytest.approx([2, -1], abs=0.6)

    def cost(slope, intercept):
        logits = slope * strengths + intercept
        prior = fit.PRIOR_PRECISION @ (np.asarray([slope, intercept]) - fit.PRIOR_MEAN) ** 2 / 2
        return np.sum(np.logaddexp(0, logits) - right * logits) + prior

    for step in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
        assert cost(*curve) < cost(*(curve + step))


def test_candidates_match_once_and_the_closest_first():
    sequence = LabeledSequence("a", "1", np.zeros((100, 1)), np.asarray([20, 50]))
    found = fit.Judged(sequence, None).is_right(np.asarray([18, 21, 47, 53, 90]))
    assert found.tolist() == [False, True, True, False, False]


def test_the_same_data_give_the_same_file():
    sequences = [made(kind, seed) for kind in "abc" for seed in range(3)]
    first, again = (fit.as_json(fit.fit_model(some)) for some in (sequences, sequences[::-1]))
    assert json.loads(first)["curves"].keys() == {"a", "b", "c"}
    assert fit.as_json(fit.fit_model(list(sequences))) == first
    assert json.loads(again)["curves"].keys() == json.loads(first)["curves"].keys()


def test_the_model_in_the_package_is_written_as_the_fit_writes_it():
    assert fit.MODEL.read_text(encoding="utf-8") == fit.as_json(load_model())


def test_no_kind_of_a_family_is_seen_when_one_is_judged(monkeypatch):
    seen = []
    original = fit.fit_model
    monkeypatch.setattr(
        fit, "fit_model", lambda some: seen.append({s.kind for s in some}) or original(some)
    )
    sequences = [made(kind, seed) for kind in ("bbc", "rai", "gtea", "eyes") for seed in range(2)]
    models = fit.leave_families_out(sequences, fit.fit_model)
    assert len(models) == len(sequences)
    for one, model in zip(sequences, models, strict=True):
        others = {other.kind for other in sequences if other.family != one.family}
        assert set(model.kinds) == others
        assert others in seen


def test_a_sequence_is_judged_by_the_model_that_is_given():
    """One for which boundaries are rare finds fewer, and says how sure it is of each."""
    one = made("eyes", 0)
    model = one.evidence.model
    rare = replace(model, intercepts=model.intercepts - 20)
    stored = {"embedding": one.sequence.features, "directions": one.sequence.features}
    again = fit.gather(one.sequence, stored, rare)
    assert one.f1(one.found) > 0.8
    assert sum(map(len, again.evidence.answers[:3])) < sum(map(len, one.evidence.answers[:3]))
    assert np.all(again.confidence < 0.01)


def test_every_method_is_in_the_table_with_the_number_given_and_not():
    sequences = [made(kind, seed) for kind in ("bbc", "gtea") for seed in range(2)]
    stored = [
        {
            f"{name}{end}": one.sequence.boundaries
            for name in fit.BASELINES
            for end in ("", ": number given")
        }
        for one in sequences
    ]
    answers = list(fit.all_answers({"dayline": sequences}, stored))
    methods = {"dayline", *fit.TABLE_NAMES.values()}
    assert set(fit.TABLE_NAMES) == set(fit.BASELINES)
    assert {one.method for one in answers if not one.number_given} == methods
    assert {one.method for one in answers if one.number_given} == methods | {"equal pieces"}
    for one in answers:
        assert len(one.found) == len(one.true) or not one.number_given
    assert not any("," in one.method for one in answers)
