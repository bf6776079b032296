"""Read what is said, and when: subtitles (.srt, .vtt) and transcripts (.json, .xml)."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from dayline.files import UnreadableFileError, parse_json
from dayline.media.frame import VIDEO_SUFFIXES, shown_name
from dayline.text import clean_text

TALK_SUFFIXES = (".srt", ".vtt", ".json", ".json3", ".xml", ".srv1", ".srv2", ".srv3")
OF_FOLDERS = (".srt", ".vtt", ".json3", ".srv3", ".srv2", ".srv1")
"""What is a transcript wherever it lies, the best first; other .json and .xml may be anything."""

LARGEST = 64 * 2**20
"""Bytes; a day of speech as subtitles has about 2 MB, as JSON with a time per word 30."""

MOST_SENTENCES = 30_000
"""A day of speech has 20,000, which take 1.6 GB."""

LATEST = 1e7
"""Seconds; no recording lasts four months."""

CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
TIMING = re.compile(rf"\s*{CLOCK}\s*-->\s*{CLOCK}(?:\s.*)?")
LIKE_TIMING = re.compile(r"\s*\d\S*\s*-+>|\s*\d{1,4}:\d\d:\d\d[.,]?\d*\s*-*\s*$")
TAGS = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
"""Italics, voices and times of words, and the positions that SubRip has from other formats."""

END = re.compile(r"[.?!…。？！]['\"’”»)\]]*$")
FEWEST_WORDS, MOST_WORDS = 8, 40
SILENCE = 10.0
UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Characters of scripts that put no spaces between words: Thai, Lao, Japanese, Chinese."""


@dataclass(frozen=True)
class Cue:
    """What is said from `start` to `end`, in seconds."""

    start: float
    end: float
    text: str


@dataclass(frozen=True)
class Talk:
    """A transcript.

    Attributes
    ----------
    source : Path
        The file.
    cues : tuple of Cue
        In order of their starts, each with a text of one line.
    notes : tuple of str
        What was assumed.
    """

    source: Path
    cues: tuple[Cue, ...]
    notes: tuple[str, ...] = ()


def is_talk(path: Path) -> bool:
    """Whether a file is one of subtitles or a transcript, by its name."""
    return path.suffix.lower() in TALK_SUFFIXES and not path.is_dir()


def read_talk(path: str | Path) -> Talk:
    """Read subtitles or a transcript.

    Parameters
    ----------
    path : str or Path
        SubRip (.srt), WebVTT (.vtt), JSON of Whisper, whisper.cpp, YouTube (json3) or a podcast,
        or XML of YouTube. UTF-8 or UTF-16, else Windows-1252 (Latin-1).

    Raises
    ------
    UnreadableFileError
        If it is damaged; the message names the cue, counted from 1.
    """
    path = Path(path)
    name = shown_name(path)
    try:
        if path.stat().st_size > LARGEST:
            raise UnreadableFileError(
                f"{name}: over {LARGEST >> 20} MB, more than a transcript of days; split it"
            )
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{name}: no such file or folder") from None
    text, notes = _decoded(content)
    suffix = path.suffix.lower()
    try:
        if "\0" in text:
            raise ValueError("not a text file")
        if suffix.startswith(".json"):
            cues = list(_json_cues(text))
        elif suffix in (".xml", ".srv1", ".srv2", ".srv3"):
            cues = list(_xml_cues(text))
        else:
            is_webvtt = text.startswith("WEBVTT")
            if suffix == ".vtt" and not is_webvtt:
                raise ValueError('WebVTT begins with "WEBVTT"; if this is SubRip, name it .srt')
            cues = list(_text_cues(text, is_webvtt=is_webvtt))
    except ValueError as error:
        raise UnreadableFileError(f"{name}: {error}") from None

    ordered = sorted(cues, key=lambda cue: cue.start)
    if ordered != cues:
        notes.append(f"{name}: its cues are not in order of time; they were sorted")
    ordered = _unrolled(ordered)
    if not ordered:
        raise UnreadableFileError(f"{name}: nothing is said in it; no cue has a time and a text")
    if len(sentences(ordered)) > MOST_SENTENCES:
        raise UnreadableFileError(
            f"{name}: over {MOST_SENTENCES:,} sentences, more than a day of speech; split it"
        )
    return Talk(path, tuple(ordered), tuple(notes))


def talk_beside(film: Path) -> Path | None:
    """Return the subtitles beside a film, by their name: film.srt, film.vtt or film.en.srt.

    Of several languages, the first by name; a film's own name comes before them.
    """
    try:
        names = sorted(path.name for path in film.parent.iterdir())
    except OSError:
        return None
    stem = re.escape(film.stem)
    for form in (rf"{stem}\.(srt|vtt)", rf"{stem}\.[A-Za-z]{{2,3}}([-_.]\w+)*\.(srt|vtt)"):
        for name in names:
            if re.fullmatch(form, name, re.IGNORECASE) and (film.parent / name).is_file():
                return film.parent / name
    return None


def talks_among(files: Sequence[Path]) -> list[Path]:
    """Return the transcripts among the files of a folder that are of no film beside them.

    Of several formats of one talk, as Whisper and yt-dlp write, the first of `OF_FOLDERS` counts.

    Parameters
    ----------
    files : sequence of Path
        The files of one folder.
    """
    films = {path.stem.casefold() for path in files if path.suffix.lower() in VIDEO_SUFFIXES}
    found: dict[str, Path] = {}
    for suffix in OF_FOLDERS:
        for path in files:
            parts = path.stem.casefold().split(".")
            # film.en.srt belongs to film.mp4.
            is_of_film = any(".".join(parts[:k]) in films for k in range(1, len(parts) + 1))
            is_hidden = path.name.startswith(".")
            if path.suffix.lower() == suffix and not is_of_film and not is_hidden:
                found.setdefault(path.stem.casefold(), path)
    kept = set(found.values())
    return [path for path in files if path in kept]


def sentences(cues: Sequence[Cue]) -> tuple[Cue, ...]:
    """Join cues to sentences: up to a full stop at the end of a cue, or to 40 words.

    Parameters
    ----------
    cues : sequence of Cue
        In order of time. A silence of `SILENCE` seconds ends a sentence, too.
    """
    joined: list[Cue] = []
    parts: list[Cue] = []
    for k, cue in enumerate(cues):
        parts.append(cue)
        text = " ".join(part.text for part in parts)
        # In scripts without spaces, two characters are about a word.
        n_words = max(len(text.split()), len(UNSPACED.findall(text)) // 2)
        ends = END.search(text) is not None and n_words >= FEWEST_WORDS
        is_last = k + 1 == len(cues) or cues[k + 1].start - cue.end >= SILENCE
        if ends or n_words >= MOST_WORDS or is_last:
            joined.append(Cue(parts[0].start, max(part.end for part in parts), text))
            parts = []
    return tuple(joined)


def _decoded(content: bytes) -> tuple[str, list[str]]:
    """Return the text of a file, and a note if its encoding had to be guessed."""
    notes: list[str] = []
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", "replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", "replace")
            notes.append("the transcript is not UTF-8; read as Windows-1252 (Latin-1)")
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def _cue(number: int, start: Any, end: Any, lines: Iterable[str]) -> Cue:
    """Make a cue of seconds and lines of plain text; raise ValueError if it cannot be one."""
    times = []
    for what, value in (("start", start), ("end", end)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"cue {number} has no {what}, a number of seconds")
        if not (math.isfinite(value) and -1 <= value <= LATEST):
            raise ValueError(f"cue {number} has the {what} {value:g} s; repair it")
        times.append(max(float(value), 0.0))
    # Lines stay apart until repeated ones are left out.
    cleaned = [clean_text(line) for line in lines]
    text = "\n".join(line for line in cleaned if line)
    return Cue(round(times[0], 3), round(max(times), 3), text)


def _text_cues(text: str, *, is_webvtt: bool) -> Iterator[Cue]:
    """Yield the cues of SubRip or WebVTT: a line of times, and lines of text until an empty one."""
    lines = text.split("\n")
    found: list[tuple[int, re.Match[str]]] = []
    for k, line in enumerate(lines):
        follows_text = k > 0 and lines[k - 1].strip() != "" and not lines[k - 1].strip().isdigit()
        if match := TIMING.fullmatch(line):
            found.append((k, match))
        elif LIKE_TIMING.match(line) and not follows_text:
            raise ValueError(
                f"cue {len(found) + 1} has the times {clean_text(line)[:60]!r} (line {k + 1});"
                " write them as 00:01:02,500 --> 00:01:05,000"
            )

    firsts = [k for k, _ in found]
    stops = [*firsts[1:], len(lines)]
    for number, ((k, match), stop) in enumerate(zip(found, stops, strict=False), start=1):
        inside = lines[k + 1 : stop]
        if is_webvtt:
            # After an empty line: names of cues, comments and styles.
            inside = inside[: inside.index("")] if "" in inside else inside
        else:
            if stop < len(lines) and inside and inside[-1].strip().isdigit():
                inside = inside[:-1]  # the number of the next cue
            _refuse_lost_times(inside, number)
        plain = [TAGS.sub("", line) for line in inside]
        if is_webvtt:
            plain = [html.unescape(line) for line in plain]
        yield _cue(number, _seconds(match.groups()[:4]), _seconds(match.groups()[4:]), plain)


def _refuse_lost_times(lines: Sequence[str], number: int) -> None:
    """Raise ValueError if the text of a SubRip cue contains another cue without its times."""
    for k, (above, line) in enumerate(pairwise(lines)):
        if not above.strip() and line.strip() == str(number + 1) and any(lines[k + 2 : k + 3]):
            raise ValueError(f"cue {number + 1} has no line of times, or it was cut off")


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = parts
    whole = 3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0)
    return whole + float(f"0.{fraction or 0}")


def _unrolled(cues: Sequence[Cue]) -> list[Cue]:
    """Leave out lines that roll: YouTube's subtitles repeat the line before in the next cue."""
    kept: list[Cue] = []
    shown: list[str] = []
    for before, cue in pairwise([Cue(-1, -1, ""), *cues]):
        lines = cue.text.split("\n") if cue.text else []
        rolls = bool(lines and shown) and lines[0] == shown[-1] and cue.start <= before.end + 0.05
        new = lines[1:] if rolls else lines
        shown = lines or shown
        if new:
            kept.append(replace(cue, text=" ".join(new)))
        elif kept and rolls:
            kept[-1] = replace(kept[-1], end=max(kept[-1].end, cue.end))
    return kept


def _json_cues(text: str) -> Iterator[Cue]:
    """Yield the cues of a transcript in JSON; see `_JSON_FORMS`."""
    content = parse_json(text)
    for key, read in _JSON_FORMS.items():
        listed = content.get(key) if isinstance(content, dict) else content
        if not isinstance(listed, list) or (isinstance(content, list) and key != "segments"):
            continue
        for number, one in enumerate(listed, start=1):
            if not isinstance(one, dict):
                raise ValueError(f"cue {number} is not an object")
            said = read(one)
            if said is None:
                continue
            start, end, words = said
            if not isinstance(words, str):
                raise ValueError(f"cue {number} has no text")
            yield _cue(number, start, start if end is None else end, words.split("\n"))
        return
    raise ValueError(
        "not a transcript of Whisper, whisper.cpp, YouTube or a podcast: it has none of"
        f" {', '.join(_JSON_FORMS)}"
    )


Said = tuple[Any, Any, Any]


def _segment(one: dict[str, Any]) -> Said | None:
    start = one.get("start", one.get("startTime"))
    end = one.get("end", one.get("endTime"))
    if end is None and "duration" in one:
        end = _sum(start, one["duration"])
    return start, end, one.get("text", one.get("body"))


def _chunk(one: dict[str, Any]) -> Said | None:
    times = one.get("timestamp")
    start, end = times if isinstance(times, list) and len(times) == 2 else (None, None)
    return start, end, one.get("text")


def _whisper_cpp(one: dict[str, Any]) -> Said | None:
    offsets = one.get("offsets")
    offsets = offsets if isinstance(offsets, dict) else {}
    return _thousandth(offsets.get("from")), _thousandth(offsets.get("to")), one.get("text")


def _youtube(one: dict[str, Any]) -> Said | None:
    segments = one.get("segs")
    if not isinstance(segments, list):
        return None  # where a window opens
    start = _thousandth(one.get("tStartMs"))
    words = [part.get("utf8", "") if isinstance(part, dict) else None for part in segments]
    text = "".join(map(str, words)) if all(isinstance(word, str) for word in words) else None
    return start, _sum(start, _thousandth(one.get("dDurationMs", 0))), text


def _thousandth(value: Any) -> Any:
    return value / 1000 if isinstance(value, int | float) and not isinstance(value, bool) else None


def _sum(start: Any, length: Any) -> Any:
    with suppress(TypeError):
        return start + length
    return None


_JSON_FORMS: dict[str, Callable[[dict[str, Any]], Said | None]] = {
    "segments": _segment,
    "transcription": _whisper_cpp,
    "events": _youtube,
    "chunks": _chunk,
}
"""What a list of cues is called by Whisper (and podcasts, and others without a name), whisper.cpp,
YouTube, and Whisper in Hugging Face's transformers."""


def _xml_cues(text: str) -> Iterator[Cue]:
    """Yield the cues of YouTube's XML: <text start="1.5" dur="2"> or <p t="1500" d="2000">."""
    if "<!" in text.replace("<![CDATA[", ""):
        # A document type may define text that grows without limit.
        raise ValueError("contains a document type or a comment, which YouTube's XML has not")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - no document type, so no entities
    except ElementTree.ParseError as error:
        raise ValueError(f"not XML ({error})") from None
    number = 0
    for element in root.iter():
        unit, names = (1000, ("t", "d")) if element.tag == "p" else (1, ("start", "dur"))
        if element.tag not in ("p", "text"):
            continue
        number += 1
        try:
            start, length = (float(element.get(name, "0")) / unit for name in names)
        except ValueError:
            raise ValueError(f"cue {number} has times that are not numbers") from None
        # Older files escape twice.
        words = html.unescape("".join(element.itertext()))
        yield _cue(number, start, start + length, words.split("\n"))
