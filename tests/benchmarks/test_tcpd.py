"""Scores of the Turing Change Point Dataset, worked out by hand, on made series in its format."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tcpd


def test_f1_counts_position_0_and_takes_precision_against_all_people():
    # Found {0, 50, 70}. People marked {0, 48} and {0, 30}; together {0, 30, 48}: two of three are
    # right. Recall: 2 / 2 and 1 / 2.
    precision, recall = 2 / 3, (1 + 1 / 2) / 2
    assert tcpd.f1_of_people([50, 70], [[48], [30]]) == pytest.approx(
        2 * precision * recall / (precision + recall)
    )


def test_f1_without_any_change_is_that_of_position_0():
    # Precision 1; recall 1 of those who marked nothing, 1 / 2 of who marked one change.
    recall = (1 + 1 / 2) / 2
    assert tcpd.f1_of_people([], [[], [40]]) == pytest.approx(2 * recall / (1 + recall))
    assert tcpd.f1_of_people([], [[], []]) == 1.0
    assert tcpd.f1_of_people([0], [[0], []]) == 1.0


def test_a_change_found_matches_one_that_was_marked_within_five_positions():
    assert tcpd.f1_of_people([45], [[50]]) == 1.0
    assert tcpd.f1_of_people([44], [[50]]) == 0.5
    # 50 is matched once: precision 2 / 2, recall 2 / 3.
    assert tcpd.f1_of_people([50], [[48, 52]]) == pytest.approx(0.8)
    # 50 goes to 46, though 49 is nearer: otherwise 52 would have no partner.
    assert tcpd.f1_of_people([46, 49], [[50, 52]]) == 1.0
    # Within five positions of 0, which is matched with itself.
    assert tcpd.f1_of_people([3], [[]]) == pytest.approx(2 * 0.5 / 1.5)


def test_cover_is_the_best_overlap_of_every_segment_weighted_by_length():
    # The person has [0, 50) and [50, 100), found are [0, 40) and [40, 100): 40 / 50 and 50 / 60.
    one = (50 * 40 / 50 + 50 * 50 / 60) / 100
    assert tcpd.cover_of_people([40], [[50]], 100) == pytest.approx(one)
    # Another one saw no change: [0, 100), best covered by 60 of 100.
    assert tcpd.cover_of_people([40], [[50], []], 100) == pytest.approx((one + 0.6) / 2)
    assert tcpd.cover_of_people([], [[]], 100) == 1.0
    assert tcpd.cover_of_people([], [[50]], 100) == 0.5


def write_series(root, name, columns, people):
    folder = root / "datasets" / name
    folder.mkdir(parents=True)
    n = len(columns[0])
    series = [{"label": f"V{k}", "type": "float", "raw": one} for k, one in enumerate(columns)]
    content = {
        "name": name,
        "longname": name,
        "n_obs": n,
        "n_dim": len(columns),
        "time": {"index": list(range(n))},
        "series": series,
    }
    (folder / f"{name}.json").write_text(json.dumps(content))
    path = root / "annotations.json"
    annotations = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(annotations | {name: people}))


@pytest.fixture
def made(tmp_path):
    """Two steps of ten deviations in noise, with gaps; two columns; one that is not downloaded."""
    random = np.random.default_rng(0)
    x = random.normal(size=240)
    x[80:160] += 10.0
    column = x.tolist()
    column[20], column[21] = None, None
    people = {"6": [80, 160], "7": [81, 160], "8": [80]}
    write_series(tmp_path, "steps", [column], people)
    write_series(tmp_path, "both", [x.tolist(), (-x).tolist()], {"6": [80, 160]})
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"elsewhere": {"6": [3]}}))
    return tmp_path


def test_the_data_set_is_read_and_gaps_are_interpolated(made):
    series, missing = tcpd.read_all(made)
    assert [one.name for one in series] == ["both", "steps"]
    assert missing == ["elsewhere"]
    steps = series[1]
    assert steps.annotations == ((80, 160), (81, 160), (80,))
    ends = steps.values[[19, 22], 0]
    expected = ends[0] + (ends[1] - ends[0]) * np.asarray([1, 2]) / 3
    assert steps.values[20:22, 0] == pytest.approx(expected)


def test_every_method_is_in_the_table_with_its_means(made, capsys):
    tcpd.main(["--root", str(made), "--jobs", "1"])
    printed = capsys.readouterr()
    assert "not scored: elsewhere" in printed.err
    lines = printed.out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == [
        "| both",
        "| steps",
        "| **mean, one column: 1**",
        "| **mean, several columns: 1**",
        "| **mean, all: 2**",
    ]
    none = lines[-1].split(" | ")[-1]
    # F1: recall 1 / 3, and (1 / 3 + 1 / 3 + 1 / 2) / 3. Cover: 80 / 240 of each third, and of one
    # segment of 80 and one of 160 by the third person.
    recalls = 1 / 3, (1 / 3 + 1 / 3 + 1 / 2) / 3
    f1 = np.mean([2 * r / (1 + r) for r in recalls])
    people = [[80, 80, 80], [81, 79, 80], [80, 160]]
    covers = [sum(length**2 for length in one) / 240**2 for one in people]
    cover = (covers[0] + np.mean(covers)) / 2
    assert none == f"{f1:.3f}, {cover:.3f}, 0.0 |"


def test_dayline_finds_the_steps(made):
    series, _ = tcpd.read_all(made, ["steps"])
    scores = tcpd.judge(series[0], "dayline")
    # Two changes within one position: one is not among those of the third person.
    assert scores.n_found == 2
    assert scores.f1 == 1.0
    assert scores.cover > 0.85


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda root: (root / "annotations.json").unlink(), "no checkout"),
        (lambda root: (root / "annotations.json").write_text("{"), "no checkout"),
        (
            lambda root: (root / "datasets" / "both" / "both.json").write_text('{"series": 1}'),
            "not a series",
        ),
        (lambda root: write_series(root, "short", [[1.0, 2.0]], {"6": [9]}), "outside of it"),
    ],
)
def test_what_is_not_the_data_set_is_one_line(made, damage, says, capsys):
    damage(made)
    with pytest.raises(SystemExit) as ended:
        tcpd.main(["--root", str(made)])
    assert ended.value.code == 2
    assert says in capsys.readouterr().err
