"""Subtitles and transcripts: every form gives the same cues; damage is named by its cue."""

import json

import pytest
import webvtt

from dayline.media.talk import Cue, read_talk, sentences, talks_among

SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Good morning</i>,
everyone.

2
00:00:03,250 --> 00:00:05,000 X1:10 X2:20
{\\an8}R&D is <b>next</b>.
"""
CUES = (Cue(1.0, 2.5, "Good morning, everyone."), Cue(3.25, 5.0, "R&D is next."))
VTT = """WEBVTT - a lecture

STYLE
::cue { color: red }

NOTE
a comment --> no, a remark

first
00:01.000 --> 00:02.500 align:start
<v Ann>Good morning</v>,
everyone.

00:00:03.250 --> 00:00:05.000
R&amp;D is <00:00:04.000><c>next</c>.
""".replace("a comment --> no, a remark", "a comment")
WHISPER = {
    "text": "Good morning, everyone. R&D is next.",
    "segments": [
        {"id": 0, "start": 1.0, "end": 2.5, "text": " Good morning, everyone."},
        {"id": 1, "start": 3.25, "end": 5.0, "text": " R&D is next."},
    ],
}
WHISPER_CPP = {
    "transcription": [
        {"offsets": {"from": 1000, "to": 2500}, "text": " Good morning, everyone."},
        {"offsets": {"from": 3250, "to": 5000}, "text": " R&D is next."},
    ]
}
JSON3 = {
    "wireMagic": "pb3",
    "events": [
        {"tStartMs": 0, "dDurationMs": 9000, "id": 1},
        {
            "tStartMs": 1000,
            "dDurationMs": 1500,
            "segs": [{"utf8": "Good morning,"}, {"utf8": " everyone.", "tOffsetMs": 200}],
        },
        {"tStartMs": 2500, "aAppend": 1, "segs": [{"utf8": "\n"}]},
        {"tStartMs": 3250, "dDurationMs": 1750, "segs": [{"utf8": "R&D is next."}]},
    ],
}
PODCAST = {
    "version": "1.0.0",
    "segments": [
        {"speaker": "Ann", "startTime": 1.0, "endTime": 2.5, "body": "Good morning, everyone."},
        {"startTime": 3.25, "endTime": 5.0, "body": "R&D is next."},
    ],
}
LISTED = [
    {"text": "Good morning, everyone.", "start": 1.0, "duration": 1.5},
    {"text": "R&D is next.", "start": 3.25, "duration": 1.75},
]
CHUNKS = {
    "chunks": [
        {"timestamp": [1.0, 2.5], "text": " Good morning, everyone."},
        {"timestamp": [3.25, 5.0], "text": " R&D is next."},
    ]
}
# Every sentence is alone after a silence.
FAR_TOO_LONG = [{"start": 20 * k, "end": 20 * k + 1, "text": "No."} for k in range(30_001)]
XML = (
    '<?xml version="1.0" encoding="utf-8" ?><transcript>'
    '<text start="1" dur="1.5">Good morning, everyone.</text>'
    '<text start="3.25" dur="1.75">R&amp;amp;D is next.</text></transcript>'
)
SRV3 = (
    '<timedtext format="3"><body><p t="1000" d="1500"><s>Good morning,</s><s> everyone.</s></p>'
    '<p t="3250" d="1750">R&amp;D is next.</p></body></timedtext>'
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("talk.srt", SRT),
        ("talk.vtt", VTT),
        ("whisper.json", json.dumps(WHISPER)),
        ("whisper_cpp.json", json.dumps(WHISPER_CPP)),
        ("youtube.json3", json.dumps(JSON3)),
        ("podcast.json", json.dumps(PODCAST)),
        ("listed.json", json.dumps(LISTED)),
        ("chunks.json", json.dumps(CHUNKS)),
        ("youtube.xml", XML),
        ("youtube.srv3", SRV3),
    ],
)
def test_every_form_gives_the_same_cues(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_talk(tmp_path / name).cues == CUES


@pytest.mark.parametrize(("name", "text"), [("talk.srt", SRT), ("talk.vtt", VTT)])
def test_times_are_those_of_another_reader(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    read = webvtt.from_srt if name.endswith("srt") else webvtt.read
    others = [(c.start_in_seconds + c.start_time.milliseconds / 1000) for c in read(str(path))]
    assert [cue.start for cue in read_talk(path).cues] == others


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path, encoding, newline):
    path = tmp_path / "talk.srt"
    text = SRT.replace("morning", "café").replace("\n", newline)
    path.write_bytes(text.encode(encoding))
    talk = read_talk(path)
    assert talk.cues[0].text == "Good café, everyone."
    # A guess is named; what the file says about itself is none.
    assert bool(talk.notes) == (encoding in ("cp1252", "latin-1"))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.srt", SRT.replace("00:00:03,250 -->", "00:0x:03,250 -->"), "cue 2 has the times"),
        ("a.srt", SRT.replace("--> 00:00:05,000 X1:10 X2:20", ""), "cue 2 has the times"),
        ("a.srt", SRT.replace("00:00:03,250 --> 00:00:05,000 X1:10 X2:20\n", ""), "cue 2 has no"),
        ("a.srt", "", "nothing is said"),
        ("a.json", json.dumps(FAR_TOO_LONG), "over 30,000 sentences"),
        ("a.srt", "\0" * 100, "not a text file"),
        ("a.vtt", SRT, "name it .srt"),
        ("a.json", "[1]", "cue 1 is not an object"),
        ("a.json", "{", "a.json"),
        ("a.json", '{"a": 1}', "not a transcript"),
        ("a.json", json.dumps(WHISPER).replace("3.25", '"x"'), "cue 2 has no start"),
        ("a.json", json.dumps(WHISPER).replace("3.25", "NaN"), "cue 2 has the start nan"),
        ("a.json", json.dumps(WHISPER).replace("3.25", "1e300"), "cue 2 has the start"),
        ("a.xml", XML.replace('"3.25"', '"x"'), "cue 2 has times"),
        ("a.xml", XML[:-20], "not XML"),
        ("a.xml", '<!DOCTYPE x [<!ENTITY a "aa">]>' + XML, "document type"),
    ],
)
def test_damage_is_one_line_with_the_cue(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=said) as error:
        read_talk(tmp_path / name)
    assert "\n" not in str(error.value)
    assert name in str(error.value)


def test_rolling_subtitles_say_each_line_once(tmp_path):
    # As YouTube's: two lines are shown, and the upper one was said in the cue before.
    text = "WEBVTT\n\n"
    shown = [("", "one two"), ("one two", ""), ("one two", "three four"), ("three four", "five")]
    for k, (above, below) in enumerate(shown):
        lines = "\n".join(line for line in (above, below) if line)
        text += f"00:0{k}.000 --> 00:0{k + 1}.000\n{lines}\n\n"
    (tmp_path / "a.vtt").write_text(text)
    cues = read_talk(tmp_path / "a.vtt").cues
    assert [cue.text for cue in cues] == ["one two", "three four", "five"]
    # The first line stayed until second 2.
    assert cues[0] == Cue(0.0, 2.0, "one two")


def test_subtitles_of_a_film_are_no_talk_of_their_own(tmp_path):
    names = (
        "film.mp4",
        "film.srt",
        "film.en.vtt",
        "filming.srt",
        "a.vtt",
        "a.srt",
        "b.json",
        ".c.srt",
    )
    files = [tmp_path / name for name in names]
    assert [path.name for path in talks_among(files)] == ["filming.srt", "a.srt"]


def test_cues_out_of_order_are_sorted_with_a_note(tmp_path):
    first, second = SRT.split("\n\n")
    (tmp_path / "a.srt").write_text(f"{second}\n\n{first}\n")
    talk = read_talk(tmp_path / "a.srt")
    assert [cue.start for cue in talk.cues] == [1.0, 3.25]
    assert "sorted" in talk.notes[0]


def test_sentences_end_at_full_stops_silences_and_forty_words():
    ten = "w " * 9 + "w"
    cues = [
        Cue(0, 1, ten),
        Cue(1, 2, ten + "."),  # a full stop after 20 words
        Cue(2, 3, "Yes."),  # too short to stand alone
        Cue(3, 4, ten),
        Cue(20, 21, ten),  # after a silence
        Cue(21, 22, ten),
        Cue(22, 23, ten),
        Cue(23, 24, ten),  # forty words
        Cue(24, 25, ten),
    ]
    spans = [(one.start, one.end) for one in sentences(cues)]
    assert spans == [(0, 2), (2, 4), (20, 24), (24, 25)]


def test_scripts_without_spaces_have_sentences_too():
    # Twelve characters are about six words: seven cues make forty.
    cues = [Cue(k, k + 1, "今日は天気がとても良いね") for k in range(14)]
    assert [one.start for one in sentences(cues)] == [0, 7]
