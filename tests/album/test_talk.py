"""A transcript alone: events with titles, their text on the page, and what a person corrects."""

import json

import pytest

from cli.run_command import run
from dayline.album.titles import event_titles_of
from dayline.events import read_events
from dayline.features.word_vectors import has_word_vectors
from dayline.media.talk import read_talk, talk_beside
from made_talks import SUBJECTS, written_talk


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("talk")
    source = written_talk(folder / "talk.srt")
    done = run("segment", source, "-o", folder / "OUT", "--export", "youtube")
    assert done.returncode == 0, done.stderr
    return folder / "OUT"


def test_the_subjects_are_the_events(talk):
    found = read_events(talk / "events.json")
    assert found.n_frames == 75
    assert found.clock == "media"
    assert len(found.boundaries) == 2
    # The words of a sentence count for its neighbors too.
    assert all(abs(b - true) <= 1 for b, true in zip(found.boundaries, (25, 50), strict=True))


def test_titles_are_of_the_words_of_the_event_alone(talk):
    events = read_events(talk / "events.json").events
    for event, words in zip(events, SUBJECTS, strict=True):
        said = set(event.title.casefold().replace(",", "").split())
        assert said <= set(words.split())
    lines = (talk / "youtube.txt").read_text().splitlines()
    assert [line.partition(" ")[2] for line in lines] == [event.title for event in events]


def test_the_result_says_what_sentences_were_compared_by(talk, tmp_path):
    has_them = has_word_vectors()
    assert read_events(talk / "events.json").method.endswith("and word vectors") == has_them
    done = run("segment", talk.parent / "talk.srt", "-o", tmp_path / "OUT", "--no-word-vectors")
    assert "compared by words\n" in done.stdout
    assert read_events(tmp_path / "OUT/events.json").method == "default, features words"
    done = run("segment", talk.parent / "talk.srt", "-o", tmp_path / "OUT", "--word-vectors")
    assert done.returncode == (0 if has_them else 2)


def test_the_terminal_counts_sentences(talk, tmp_path):
    done = run("segment", talk.parent / "talk.srt", "-o", tmp_path / "OUT")
    assert "3 events in 75 sentences, " in done.stdout


def test_the_last_event_ends_with_the_last_sentence(talk):
    assert read_events(talk / "events.json").stop_times[-1] == 74 * 6 + 5


def test_same_input_same_result(talk, tmp_path):
    done = run("segment", talk.parent / "talk.srt", "-o", tmp_path / "again")
    assert done.returncode == 0
    assert (tmp_path / "again/events.json").read_bytes() == (talk / "events.json").read_bytes()


def test_a_name_wins_and_stays(tmp_path):
    source = written_talk(tmp_path / "talk.srt")
    run("segment", source, "-o", tmp_path / "OUT")
    path, named = tmp_path / "OUT/events.json", tmp_path / "named.json"
    content = json.loads(path.read_text())
    content["events"][1]["name"] = "Music"
    named.write_text(json.dumps(content))
    run("segment", source, "-o", tmp_path / "OUT", "--corrections", named)
    # Subtitles may be shifted against the sound; the sentences are the same.
    written_talk(source, seconds=7.0)
    done = run("segment", source, "-o", tmp_path / "OUT", "--export", "webvtt")
    assert done.returncode == 0, done.stderr
    event = read_events(path).events[1]
    assert (event.name, event.start_time) == ("Music", 175.0)
    assert "\nMusic\n" in (tmp_path / "OUT/chapters.vtt").read_text()


def test_no_titles_leaves_numbers(tmp_path):
    source = written_talk(tmp_path / "talk.srt")
    done = run("segment", source, "-o", tmp_path / "OUT", "--no-titles", "--export", "webvtt")
    assert done.returncode == 0, done.stderr
    assert "\nEvent 2\n" in (tmp_path / "OUT/chapters.vtt").read_text()


def test_damage_ends_with_one_line_and_code_2(tmp_path):
    source = written_talk(tmp_path / "talk.srt")
    source.write_text(source.read_text().replace("00:01:00,000 -->", "00:01:00,000 ->"))
    done = run("segment", source, "-o", tmp_path / "OUT")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "cue 11" in done.stderr


def test_text_of_others_stays_text(tmp_path):
    source = tmp_path / "talk.srt"
    written_talk(source)
    text = source.read_text().replace("glacier", "</script><script>alert(1)</script>")
    (tmp_path / "talk.json").write_text(
        json.dumps(
            {"segments": [{"start": 0, "end": 1, "text": "</script><script>x</script> a b"}]}
        )
    )
    source.write_text(text)
    for name in ("talk.srt", "talk.json"):
        done = run("segment", tmp_path / name, "-o", tmp_path / f"OUT-{name}")
        assert done.returncode == 0, done.stderr
        page = (tmp_path / f"OUT-{name}/index.html").read_text()
        assert page.count("<script") == 2  # the data, and the page's own
        assert "<script>x" not in page


def test_a_phrase_of_every_event_is_no_title():
    # "theta" is in all events, and "alpha wave", "beta wave" in one each.
    spoken = [
        [f"the theta {own} wave is {own} wave theta" for _ in range(10)]
        for own in ("alpha", "beta", "gamma", "delta")
    ]
    titles = event_titles_of(spoken)
    assert [title.split()[0] for title in titles] == ["Alpha", "Beta", "Gamma", "Delta"]
    assert not any("theta" in title.casefold() for title in titles)


def test_a_title_has_the_whole_phrase_not_a_part_of_it():
    spoken = [
        ["The tide gauge station is new."] * 3 + ["A tide gauge is there."],
        ["The choir sings the mass."] * 4,
    ]
    # Three of the four mentions of the tide gauge are of its station.
    assert event_titles_of(spoken)[0].split(",")[0] == "Tide gauge station"


def test_a_title_is_not_made_of_verbs():
    # "carve" is said more often than the stones, but always after "to" and "we".
    spoken = [
        ["We carve it.", "We want to carve it.", "This granite is here.", "The marble is, too."]
        * 3,
        ["The choir sings the mass."] * 4,
    ]
    assert event_titles_of(spoken)[0] == "Granite, marble"


def test_events_in_which_nothing_is_said_have_no_title():
    assert event_titles_of([["dough dough"], ["", ""]])[1] == ""


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """A film of 225 s that never changes, with subtitles beside it."""
    pytest.importorskip("av")
    from made_photos import make_film

    folder = tmp_path_factory.mktemp("film")
    make_film(folder / "film.mp4", (("red", 2250),))
    written_talk(folder / "film.en.srt", seconds=3.0)
    return folder / "film.mp4"


def test_a_film_with_subtitles_is_divided_by_what_is_said(film, tmp_path):
    done = run("segment", film, "-o", tmp_path / "OUT", "--export", "podcast", "--model", "color")
    assert done.returncode == 0, done.stderr
    found = read_events(tmp_path / "OUT/events.json")
    starts = [event.start_time for event in found.events[1:]]
    # The subjects change at 75 s and 150 s, and a sentence lasts 3 s. A film that stands still may
    # also begin an event where its compression begins anew, every 25 s here.
    chapters = json.loads((tmp_path / "OUT/chapters.json").read_text())["chapters"]
    for true, subject in zip((75, 150), SUBJECTS[1:], strict=True):
        near = [k for k, start in enumerate(starts) if abs(start - true) <= 6]
        assert near
        title = chapters[near[-1] + 1]["title"]
        assert set(title.casefold().replace(",", "").split()) <= set(subject.split())


def test_every_sentence_is_said_once_in_a_film(film, tmp_path):
    run("segment", film, "-o", tmp_path / "OUT", "--model", "color")
    texts = read_events(tmp_path / "OUT/events.json").texts
    said = [one.text for one in read_talk(film.with_name("film.en.srt")).cues]
    assert " ".join(text for text in texts if text) == " ".join(said)


def test_no_talk_leaves_out_the_subtitles_beside_a_film(film, tmp_path):
    done = run("segment", film, "-o", tmp_path / "OUT", "--no-talk", "--model", "color")
    assert done.returncode == 0, done.stderr
    found = read_events(tmp_path / "OUT/events.json")
    assert found.texts is None
    assert found.method == "default, features color"
    done = run("segment", film, "--no-talk", "--talk", film.with_name("film.en.srt"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_talk_of_another_name_is_given(film, tmp_path):
    done = run("segment", film, "-o", tmp_path / "OUT", "--talk", tmp_path / "none.srt")
    assert done.returncode == 2
    assert "no such file" in done.stderr


def test_subtitles_of_a_film_are_found_by_name(tmp_path):
    for name in ("a.mp4", "a2.srt", "b.a.srt", "a.txt", "a.part2.srt"):
        (tmp_path / name).touch()
    assert talk_beside(tmp_path / "a.mp4") is None
    for name in ("a.fr.srt", "a.en-GB.vtt", "a.VTT"):
        (tmp_path / name).touch()
        assert talk_beside(tmp_path / "a.mp4") == tmp_path / name
