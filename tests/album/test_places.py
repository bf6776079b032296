"""Contexts of several days are grouped into places, and a person's names decide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dayline.album.places import (
    Scale,
    Sighting,
    find_places,
    log_odds_of_days,
    scale_of,
    unit_vector,
)
from dayline.album.recognize import MOST_SIGHTINGS, places_text, read_places, write_places

N_FEATURES = 64
CENTRES = np.random.default_rng(0).uniform(0, 1, (5, N_FEATURES))
KITCHEN, OFFICE, PARK, SHOP, GARAGE = range(5)


def seen(day, community, place, *, said=None, seed=None, model="m", noise=0.12):
    random = np.random.default_rng([ord(day[-1]), community, place, seed or 0])
    features = unit_vector(CENTRES[place] + random.normal(scale=noise, size=N_FEATURES))
    return Sighting(day, community, 10, model, features, said)


def year():
    """Five days; the number of a place's context differs from day to day."""
    return [
        seen("day 1", 0, KITCHEN),
        seen("day 1", 1, OFFICE),
        seen("day 2", 0, OFFICE),
        seen("day 2", 1, PARK),
        seen("day 2", 3, KITCHEN),
        seen("day 3", 2, KITCHEN),
        seen("day 3", 0, SHOP),
        seen("day 4", 7, OFFICE),
        seen("day 5", 1, PARK),
        seen("day 5", 2, KITCHEN),
    ]


def grouped(places):
    return {frozenset(s.key for s in place.sightings) for place in places}


def expected(sightings, truth):
    by_place = {}
    for sighting, place in zip(sightings, truth, strict=True):
        by_place.setdefault(place, set()).add(sighting.key)
    return {frozenset(keys) for keys in by_place.values()}


TRUTH = [KITCHEN, OFFICE, OFFICE, PARK, KITCHEN, KITCHEN, SHOP, OFFICE, PARK, KITCHEN]


def test_contexts_that_look_alike_are_one_place_and_others_are_new():
    assert grouped(find_places(year())) == expected(year(), TRUTH)


def test_a_context_of_two_places_matches_none_of_them_unless_a_person_says_so():
    likeness = np.linspace(0.88, 0.94, 24).tolist()
    many = [replace(seen(f"day {k}", 0, KITCHEN), likeness=likeness[k]) for k in range(24)]
    odd = replace(seen("day x", 0, KITCHEN), likeness=0.7)
    assert grouped(find_places([*many, odd])) == {
        frozenset(s.key for s in many),
        frozenset({odd.key}),
    }
    assert len(find_places([*many, replace(odd, likeness=0.85)])) == 1
    # Among few contexts nobody knows what is usual.
    assert len(find_places([*many[:10], odd])) == 1
    named = [replace(s, said="kitchen") for s in (many[0], odd)]
    assert len(find_places([named[0], *many[1:], named[1]])) == 1
    # A name of its own is not given to those that it was not shown with.
    found = find_places([*many, replace(odd, said="party")])
    assert [(place.name, len(place.sightings)) for place in found] == [(None, 24), ("party", 1)]


def test_groups_of_many_days_that_share_none_are_more_likely_one_place():
    def log_odds(shared, fewer, more, n_days):
        return float(
            log_odds_of_days(*map(np.asarray, (float(shared), float(fewer), float(more))), n_days)
        )

    assert log_odds(shared=0, fewer=10, more=200, n_days=365) > 3
    assert log_odds(shared=20, fewer=40, more=200, n_days=365) == 0
    # Two groups of a few days each are rarely on the same day, whatever they show; two days say
    # nothing.
    assert log_odds(shared=0, fewer=3, more=5, n_days=365) == 0
    assert log_odds(shared=0, fewer=1, more=1, n_days=2) == 0


def test_two_groups_that_look_alike_are_one_place_only_if_they_do_not_share_days():
    sides = (
        CENTRES[KITCHEN]
        + np.stack([-0.06, 0.06])[:, None] * np.random.default_rng(1).normal(size=N_FEATURES) * 3
    )

    def side(day, community, which):
        random = np.random.default_rng([day, community])
        features = unit_vector(sides[which] + random.normal(scale=0.03, size=N_FEATURES))
        return Sighting(f"day {day:02}", community, 10, "m", features)

    other = [seen(f"day {day:02}", 2, OFFICE, seed=day) for day in range(40)]
    in_turn = [side(day, 0, day % 2) for day in range(40)]
    on_the_same_days = [side(day, which, which) for day in range(20) for which in range(2)]
    assert len(find_places([*in_turn, *other])) == 2
    assert len(find_places([*on_the_same_days, *other])) == 3


def test_the_order_in_which_days_become_known_does_not_matter():
    places = find_places(year())
    assert grouped(find_places(reversed(year()))) == grouped(places)
    assert [p.id for p in find_places(reversed(year()))] == [p.id for p in places]


def test_a_second_run_keeps_the_ids():
    places = find_places(year()[3:])
    again = find_places(year(), places)
    ids = {s.key: p.id for p in places for s in p.sightings}
    assert all(ids.get(s.key, p.id) == p.id for p in again for s in p.sightings)


def test_naming_once_names_every_day():
    sightings = year()
    sightings[4] = replace(sightings[4], said="kitchen")
    kitchen = next(p for p in find_places(sightings) if p.name == "kitchen")
    assert len(kitchen.sightings) == 4
    assert {s.shown for s in kitchen.sightings} == {"kitchen"}
    assert [s.said for s in kitchen.sightings].count("kitchen") == 1


def test_naming_a_place_moves_no_context():
    # Whether the last context of the first day is still the kitchen depends on the scale.
    for noise in np.linspace(0.12, 0.4, 15):
        alike = [seen("day 1", 4 + k, KITCHEN, seed=k, noise=0.04) for k in range(4)]
        sightings = [*year(), *alike, seen("day 1", 9, KITCHEN, noise=noise)]
        before = find_places(sightings)
        for place in before:
            named = {s.key for s in place.sightings if s.day == place.sightings[0].day}
            after = find_places(
                [replace(s, said="here" if s.key in named else None) for s in sightings], before
            )
            assert grouped(after) == grouped(before)
            assert [(p.id, p.name) for p in after] == [
                (p.id, "here" if p.id == place.id else None) for p in before
            ]


def test_contexts_with_one_name_are_one_place_however_they_look():
    sightings = year()
    sightings[3] = replace(sightings[3], said="outside")
    sightings[6] = replace(sightings[6], said="outside")
    outside = next(p for p in find_places(sightings) if p.name == "outside")
    assert {s.key for s in outside.sightings} == {("day 2", 1), ("day 3", 0), ("day 5", 1)}


def test_contexts_with_two_names_are_never_one_place():
    sightings = year()
    sightings[0] = replace(sightings[0], said="kitchen")
    sightings[5] = replace(sightings[5], said="kitchen of the neighbors")
    names = {s.key: p.name for p in find_places(sightings) for s in p.sightings}
    assert names["day 1", 0] == "kitchen"
    assert names["day 3", 2] == "kitchen of the neighbors"


def test_features_of_different_models_are_never_compared():
    sightings = [seen("day 1", 0, KITCHEN), seen("day 2", 0, KITCHEN, model="other")]
    assert len(find_places(sightings)) == 2


def test_the_scale_is_that_of_different_contexts_of_one_day():
    many = [seen(f"day {d}", c, c, noise=0.01) for d in range(9) for c in range(5)]
    scale = scale_of(many)
    between = CENTRES / np.linalg.norm(CENTRES, axis=1, keepdims=True)
    pairs = (between @ between.T)[np.triu_indices(5, 1)]
    assert scale.center == pytest.approx(np.median(pairs), abs=0.03)
    assert scale_of([]) == Scale()


def test_places_survive_the_file(tmp_path):
    sightings = year()
    sightings[0] = replace(sightings[0], said="k\u00fcche")
    places = find_places(sightings)
    write_places(places, tmp_path / "places.json")
    again = read_places(tmp_path / "places.json")
    assert [(p.id, p.name) for p in again] == [(p.id, p.name) for p in places]
    assert grouped(again) == grouped(places)
    assert places_text(find_places([s for p in again for s in p.sightings], again)) == places_text(
        again
    )


def test_the_file_holds_the_features_of_some_sightings_and_the_names_of_all(tmp_path):
    sightings = [seen(f"day {chr(65 + k)}", 0, KITCHEN) for k in range(3 * MOST_SIGHTINGS // 2)]
    write_places(find_places(sightings), tmp_path / "places.json")
    (place,) = read_places(tmp_path / "places.json")
    assert len(place.sightings) == len(sightings)
    assert sum(len(s.features) > 0 for s in place.sightings) == MOST_SIGHTINGS
    more = find_places([*place.sightings, seen("day z", 0, KITCHEN)], [place])
    assert [len(p.sightings) for p in more] == [len(sightings) + 1]


def test_a_name_changed_in_the_file_counts(tmp_path):
    path = tmp_path / "places.json"
    sightings = year()
    sightings[0] = replace(sightings[0], said="kitchn")
    write_places(find_places(sightings), path)
    path.write_text(path.read_text().replace('"name": "kitchn"', '"name": "kitchen"'))
    changed = read_places(path)
    found = find_places([s for p in changed for s in p.sightings], changed)
    assert [p.name for p in found if p.name] == ["kitchen"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("\ufffd[", "not JSON"),
        ("[]", "not a file of places"),
        ('{"format": "dayline-places", "version": 2, "places": []}', "unknown version 2"),
        ('{"format": "dayline-places", "version": 1}', "has no 'places'"),
        (
            '{"format": "dayline-places", "version": 1, "places": [{"id": "p", "sightings": 3}]}',
            "must be of type array",
        ),
        (
            (
                '{"format": "dayline-places", "version": 1, "places": [{"id": "p", "sightings":'
                ' [{"day": "d", "community": 1, "n_frames": 1, "model": "m", "features": "1'
                ' %%%"}]}]}'
            ),
            "base64",
        ),
        (
            (
                '{"format": "dayline-places", "version": 1, "places": [{"id": "p", "sightings":'
                ' []}, {"id": "p", "sightings": []}]}'
            ),
            "occurs twice",
        ),
        (
            (
                '{"format": "dayline-places", "version": 1, "places": [{"id": "p", "name": "a",'
                ' "name": "b", "sightings": []}]}'
            ),
            "contains 'name' twice in one object",
        ),
    ],
)
def test_a_damaged_file_is_refused_in_one_line_that_names_it(tmp_path, text, why):
    path = tmp_path / "places.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"places\.json: .*" + why) as caught:
        read_places(path)
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_file_of_places(tmp_path):
    with pytest.raises(
        ValueError, match=r"is a folder; pass a file of places, such as .*places\.json$"
    ) as caught:
        read_places(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}: ")


def test_no_file_is_no_places(tmp_path):
    assert read_places(tmp_path / "places.json") == find_places([]) == ()
