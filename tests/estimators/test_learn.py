"""What labeled recordings teach, and what a wrong one does not."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from cli.run_command import run
from dayline import EventSegmenter, Learned, score_boundaries
from dayline.cli.options import KINDS
from dayline.decision.candidates import COLUMNS, Candidates
from dayline.decision.learned import (
    FEATURE_SPREAD,
    Example,
    _fit_features,
    learn_from,
    load_kinds,
    load_prior,
)
from dayline.decision.model import expected_f1
from dayline.files import UnreadableFileError

N_FRAMES = 480
ROWS = ("boundaries", "is_clear", "columns", "change", "level")


def made(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A recording of 32 steps, of which a person joins four at a time: there, two columns jump, too.

    All steps are about equally high; which columns jump is all that tells.
    """
    random = np.random.default_rng(seed)
    lengths = random.multinomial(N_FRAMES - 32 * 8, np.full(32, 1 / 32)) + 8
    step = np.repeat(np.arange(32), lengths)
    x = np.hstack([random.normal(size=(32, 8))[step], 2 * random.normal(size=(8, 2))[step // 4]])
    return x + 0.2 * random.normal(size=x.shape), np.flatnonzero(np.diff(step // 4)) + 1


EXAMPLES = [made(seed) for seed in range(3)]
UNSEEN = [made(seed) for seed in range(10, 14)]


def mean_f1(segmenter: EventSegmenter) -> float:
    return float(
        np.mean([score_boundaries(clone(segmenter).fit(x).boundaries_, b).f1 for x, b in UNSEEN])
    )


def taught(examples) -> EventSegmenter:
    return EventSegmenter.learn([x for x, _ in examples], [b for _, b in examples], name="made")


def test_one_recording_helps_and_three_help_more():
    default, one = mean_f1(EventSegmenter()), mean_f1(taught(EXAMPLES[:1]))
    three = taught(EXAMPLES)
    # Of 31 steps 7 are true, so the default has about 2 * 7 / 38 = .37.
    assert default < 0.5
    assert one > default + 0.05
    assert mean_f1(three) > max(one, default + 0.15)
    # 8 events where the default finds about 32: four times as coarse.
    assert "4." in str(three.learned) or "3." in str(three.learned)
    assert "coarser" in str(three.learned)
    assert any(
        "learned from made" in note for note in three.fit(EXAMPLES[0][0]).segmentation_.notes
    )


def test_the_same_examples_teach_the_same_and_clones_keep_it():
    first, second = taught(EXAMPLES[:2]), taught(EXAMPLES[:2])
    assert first.learned == second.learned
    assert clone(first).get_params()["learned"] == first.learned


def test_boundaries_that_have_nothing_to_do_with_the_frames_teach_nothing():
    x, b = EXAMPLES[0]
    with pytest.warns(UserWarning, match="sequence 0 teaches nothing"):
        wrong = EventSegmenter.learn([x], [b + 7], tolerance=2)
    assert np.array_equal(
        wrong.fit(UNSEEN[0][0]).boundaries_, EventSegmenter().fit(UNSEEN[0][0]).boundaries_
    )


def test_boundaries_that_match_better_a_little_earlier_teach_nothing():
    """Ten frames after each true boundary is a weak candidate, which late marks match."""
    true = np.cumsum(np.arange(30, 46))
    n = int(true[-1]) + 40
    frames = np.concatenate([true, true + 10])
    columns = np.zeros((len(frames), len(COLUMNS)))
    columns[: len(true), 0] = -3.0
    none = np.zeros((len(frames), 1))
    candidates = Candidates(
        frames, np.ones(len(frames), dtype=bool), columns, none, none, 16, len(frames), n
    )
    for moved, is_credible in ((0, True), (4, True), (10, False)):
        example = Example(candidates, true + moved, tolerance=4)
        assert example.is_credible(load_prior()) == is_credible
        assert learn_from([example])[1] == (() if is_credible else (0,))
    # Without the strong candidates, the same marks are where they match best.
    weak = replace(candidates, **{k: v[16:] for k, v in vars(candidates).items() if k in ROWS})
    assert Example(weak, true + 10, tolerance=4).is_credible(load_prior())


def test_boundaries_without_a_candidate_make_more_of_the_others_worthwhile():
    """Four sure boundaries, of eight in all: F1 is 2 * 4 / (4 + 8)."""
    assert expected_f1(np.ones((1, 4)), found=0.5)[-1] == pytest.approx(2 / 3)
    p = np.linspace(0.9, 0.02, 40)[None, :]
    assert np.argmax(expected_f1(p, found=0.5)) > np.argmax(expected_f1(p))


def test_features_have_large_weights_only_if_the_examples_clearly_say_so():
    """Of 60 candidates, those where the first of four features changes are the right ones.

    Before the examples, a weight has a standard deviation of .35: the root of .7 ** 2 / 4. Six
    candidates are too few to tell, and so are 60 of which others are right.
    """
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 4))
    rows[:, 0] = np.where(np.arange(60) % 3 == 0, 1.5, -0.75)
    right = (rows[:, 0] > 0).astype(float)
    weights = _fit_features(rows, right, np.zeros(60), 4)
    assert weights[0] > 3 * FEATURE_SPREAD / 2
    few = _fit_features(rows[:6], right[:6], np.zeros(6), 4)
    by_chance = _fit_features(rows, random.permutation(right), np.zeros(60), 4)
    assert max(abs(few[0]), abs(by_chance[0])) < 2 * FEATURE_SPREAD / 2


def test_required_boundaries_stay_and_forbidden_ones_do_not():
    x, _ = UNSEEN[0]
    learned = taught(EXAMPLES)
    free = learned.fit(x).boundaries_
    first, last = int(free[0]), int(free[-1])
    found = learned.fit(x, must=[first + 5], must_not=[last]).boundaries_
    assert first + 5 in found
    assert last not in found
    numbers = [len(level.boundaries) for level in learned.levels_]
    assert numbers == sorted(numbers)
    assert len(learned.choose(n_events=20).events) == 20


def test_a_file_keeps_what_was_learned(tmp_path):
    learned = taught(EXAMPLES[:1]).learned
    learned.save(tmp_path / "mine.json")
    assert Learned.load(tmp_path / "mine.json") == learned


def test_the_name_in_a_file_of_somebody_else_can_be_printed(tmp_path):
    Learned(name="\x1b[31m red\n\x9b \ud800").save(tmp_path / "mine.json")
    assert Learned.load(tmp_path / "mine.json").name == "[31m red \N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"format": "other"}, "not a file of what was learned"),
        ({"version": 2}, "unknown version"),
        ({"weights": [1.0]}, "1 weights"),
        ({"weights": [float("nan")] * 7}, "finite"),
        ({"weights": ["x"] * 7}, "weights"),
        ({"change": [1.0]}, "change and level"),
        ({"finer": 0}, "finer"),
        ({"finer": 1e300}, "finer"),
        ({"found": 0}, "found"),
        ({"level": [1e300], "change": [1.0]}, "finite"),
        ({"n_boundaries": -1}, "n_boundaries"),
        ({"name": 3}, "name"),
    ],
)
def test_a_damaged_file_is_one_clear_line(tmp_path, change, why):
    path = tmp_path / "mine.json"
    Learned(weights=(1.0,) * 7).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UnreadableFileError, match=why):
        Learned.load(path)


def test_other_features_and_wrong_examples_are_refused():
    learned = taught(EXAMPLES[:1])
    with pytest.raises(ValueError, match="made knows 10 features, and here are 9"):
        learned.fit(UNSEEN[0][0][:, :9])
    x, b = EXAMPLES[0]
    with pytest.raises(ValueError, match="2 sequences, 1 lists"):
        EventSegmenter.learn([x, x], [b])
    with pytest.raises(ValueError, match="480 is not a boundary"):
        EventSegmenter.learn([x], [[480]])
    with pytest.raises(ValueError, match="learned="):
        EventSegmenter(learned="mine.json").fit(x)


def test_signals_and_missing_rows_can_teach():
    random = np.random.default_rng(0)
    x = np.repeat(random.normal(size=(8, 3)), 40, axis=0) + 0.3 * random.normal(size=(320, 3))
    x[100:110] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        made = EventSegmenter.learn([x], [np.arange(40, 320, 40)], missing="interpolate")
        assert len(made.fit(x).boundaries_) >= 5


def test_a_command_learns_and_another_uses_it(tmp_path):
    for k, (x, b) in enumerate(EXAMPLES):
        np.savez(tmp_path / f"{k}.npz", features=x, boundaries=b)
    np.save(tmp_path / "new.npy", UNSEEN[0][0])
    files = [tmp_path / f"{k}.npz" for k in range(3)]
    done = run("learn", *files, "-o", tmp_path / "mine.json")
    assert done.returncode == 0, done.stderr
    assert "coarser than the default would cut (3 recordings, 21 boundaries)" in done.stdout
    segmented = run("segment", tmp_path / "new.npy", "--learned", tmp_path / "mine.json", "--json")
    assert segmented.returncode == 0, segmented.stderr
    expected = Learned.load(tmp_path / "mine.json")
    found = EventSegmenter(learned=expected).fit(UNSEEN[0][0]).boundaries_
    assert [e["start"] for e in json.loads(segmented.stdout)["events"]][1:] == found.tolist()

    missing = run("segment", tmp_path / "new.npy", "--learned", tmp_path / "none.json")
    assert missing.returncode == 2
    assert "none.json: no such file" in missing.stderr
    assert run("learn", tmp_path / "new.npy", "-o", tmp_path / "a.json").returncode == 2


def test_a_kind_is_what_known_recordings_taught():
    x, _ = UNSEEN[0]
    named = EventSegmenter(kind="sensors").fit(x)
    assert not np.array_equal(named.boundaries_, EventSegmenter().fit(x).boundaries_)
    assert named.segmentation_.notes[0].startswith("learned from sensors: events are about as fine")
    assert clone(named).get_params()["kind"] == "sensors"
    with pytest.raises(ValueError, match="cooking"):
        EventSegmenter(kind="film").fit(x)
    with pytest.raises(ValueError, match="contradict"):
        EventSegmenter(kind="cooking", learned=Learned()).fit(x)


def test_the_command_line_knows_the_same_kinds(tmp_path):
    assert set(KINDS) == set(load_kinds())
    np.save(tmp_path / "new.npy", UNSEEN[0][0])
    done = run("segment", tmp_path / "new.npy", "--kind", "cooking")
    assert "learned from cooking" in done.stdout + done.stderr
    wrong = run("segment", tmp_path / "new.npy", "--kind", "film")
    assert wrong.returncode == 2
    assert "sensors" in wrong.stderr
