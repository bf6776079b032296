"""The fit of the decision model: the same data give the same file, and a family is judged without
its kinds."""

from __future__ import annotations

import json
from dataclasses import replace

import fit_decision as fit
import numpy as np
import pytest

from dayline.decision.evidence import load_model


def made(kind, seed, *, n_true=6):
    """A sequence whose true boundaries are mostly the highest candidates."""
    random = np.random.default_rng(seed)
    frames = random.permutation(np.arange(10, 400, 10))[:30]
    true = np.sort(frames[: n_true + 2][:n_true])
    heights = np.concatenate(
        [random.normal(4, 0.5, n_true + 2), random.normal(1, 0.5, 22 - n_true + 6)]
    )
    heights = np.sort(heights)[::-1]
    return fit.Candidates(kind, 400, 2, true, frames, heights, 1.0, n_clear=30)


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
    sequence = fit.Candidates(
        "a",
        100,
        5,
        np.asarray([20, 50]),
        np.asarray([18, 21, 47, 53, 90]),
        np.zeros(5),
        1.0,
        n_clear=30,
    )
    assert sequence.is_right().tolist() == [False, True, True, False, False]


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
    judged = fit.leave_families_out(sequences)
    assert len(judged) == len(sequences)
    assert {"gtea", "eyes"} in seen
    assert all(not {"bbc", "rai"} & kinds or {"bbc", "rai"} <= kinds for kinds in seen)
    assert np.mean([j.f1 for j in judged]) > 0.7


def test_other_evidence_is_judged_by_the_same_models():
    sequences = [made(kind, seed) for kind in ("bbc", "gtea", "eyes") for seed in range(2)]
    doubled = [replace(s, log_heights=s.log_heights + np.log(2.0)) for s in sequences]
    judged = fit.leave_families_out(doubled, fitted_to=sequences)
    assert len(judged) == len(doubled)
    for one in judged:
        model = fit.fit_model([s for s in sequences if s.family != one.sequence.family])
        assert one.n_found == fit.judge(one.sequence, model).n_found


def test_every_method_is_in_the_table_with_the_number_given_and_not():
    sequences = [made(kind, seed) for kind in ("bbc", "gtea") for seed in range(2)]
    judged = fit.leave_families_out(sequences)
    stored = [
        {f"{name}{end}": one.true for name in fit.BASELINES for end in ("", ": number given")}
        for one in sequences
    ]
    answers = list(fit.all_answers({"dayline": judged}, sequences, stored))
    methods = {"dayline", *fit.TABLE_NAMES.values()}
    assert set(fit.TABLE_NAMES) == set(fit.BASELINES)
    assert {one.method for one in answers if not one.number_given} == methods
    assert {one.method for one in answers if one.number_given} == methods | {"equal pieces"}
    for one in answers:
        assert len(one.found) == len(one.true) or not one.number_given
    assert not any("," in one.method for one in answers)
