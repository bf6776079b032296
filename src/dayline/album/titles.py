"""Titles of events: phrases that the rest of the talk does not have, or where and when they were."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from dayline.events import Segmentation
from dayline.features.talk import WORD
from dayline.text import clean_text

LONGEST = 49
"""Characters; YouTube's player shows no more of a title."""

MOST_PHRASES = 2
MOST_WORDS = 3
WEAK_WORDS = frozenset(
    [
        "said", "say", "says", "going", "gonna", "got", "know", "like", "just", "really",
        "thing", "things", "think", "want", "way", "yeah", "okay", "right", "let", "look",
        "lot", "come", "good", "make", "great", "kind", "actually", "little", "did", "does",
        "don", "didn", "doesn", "isn", "ve", "ll", "re",
    ]
)  # fmt: skip
"""Words that speakers of English use of anything, besides the usual stop words."""

BEFORE_VERBS = frozenset(
    [
        "to", "will", "would", "can", "could", "should", "shall", "must", "may", "might", "cannot",
        "not", "i", "we", "they", "you", "he", "she", "who", "do", "did", "does", "let", "us",
    ]
)  # fmt: skip
"""What stands before verbs in English, as in "to propose" and "we seek"; a title is made of nouns."""

PART_OF_LONGER = 0.6
"""Share of its mentions in which a phrase is part of one longer phrase, from which on that one is
meant: "Interstate Commerce" of "Interstate Commerce Commission"."""

SHARE_OF_BEST = 0.35
"""Score of a second phrase over that of the first, below which it is left out."""

EVERYWHERE = 0.6
"""Share of the events from which on a word tells nothing; so stop words of any language are known."""

PARTS_OF_DAY = (
    (5, "Night"),
    (8, "Early morning"),
    (11, "Morning"),
    (14, "Midday"),
    (18, "Afternoon"),
    (22, "Evening"),
    (24, "Night"),
)
"""Names of the hours before each of these; as in page/titles.js."""

LONG = 10 * 60
"""Seconds; the title of a longer event at a place with a name says how long it was."""

SOON = 3600
"""Seconds within which an event is "after" the one before it."""


def with_titles(segmentation: Segmentation) -> Segmentation:
    """Give every event a title from what is said in it; without a transcript, none.

    A phrase counts by the log-likelihood ratio (Dunning 1993) of its frequency in the event and
    in the rest of the talk. The best one or two are the title, in the order in which they are said.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with the `texts` of their frames. Names that a person gave stay.
    """
    if segmentation.texts is None:
        return segmentation
    spoken = [segmentation.texts[event.start : event.stop] for event in segmentation.events]
    titles = event_titles_of(spoken)
    events = tuple(
        replace(event, title=title or None)
        for event, title in zip(segmentation.events, titles, strict=True)
    )
    return segmentation.about(events=events)


def titles_of_levels(segmentation: Segmentation) -> dict[str, str] | None:
    """Return the titles of the events of all levels by their frames, such as "0-12"; None if none.

    The page shows them when a person chooses another level.

    Parameters
    ----------
    segmentation : Segmentation
        Events with titles, and their levels.
    """
    if segmentation.texts is None or not any(event.title for event in segmentation.events):
        return None
    titles: dict[str, str] = {}
    for level in ((), *(one.boundaries for one in segmentation.levels), segmentation.boundaries):
        spans = list(pairwise((0, *level, segmentation.n_frames)))
        spoken = [segmentation.texts[start:stop] for start, stop in spans]
        for (start, stop), title in zip(spans, event_titles_of(spoken), strict=True):
            if title:
                titles[f"{start}-{stop}"] = title
    return titles


def event_titles_of(spoken: Sequence[Sequence[str]]) -> list[str]:
    """Return a title for each event; an empty one if nothing is said in it.

    Parameters
    ----------
    spoken : sequence of sequences of str
        What is said in each event, sentence by sentence.
    """
    shapes: dict[str, Counter[str]] = defaultdict(Counter)
    as_verbs: Counter[str] = Counter()
    counts = [_phrases(texts, shapes, as_verbs) for texts in spoken]
    in_events = Counter(phrase for found in counts for phrase in found)
    n_spoken = sum(1 for found in counts if found)
    common = {
        phrase
        for phrase, n in in_events.items()
        if n_spoken >= 4 and " " not in phrase and n > EVERYWHERE * n_spoken
    }
    totals: Counter[str] = Counter()
    for found in counts:
        totals.update(found)
    n_all = [max(sum(n for p, n in found.items() if " " not in p), 1) for found in counts]
    n_total = sum(n_all)

    titles = []
    for texts, found, n_words in zip(spoken, counts, n_all, strict=True):
        telling = {
            phrase: n
            for phrase, n in found.items()
            if (n > 1 or n_words < 60) and not common.intersection(phrase.split())
        }
        parts = _parts_of_longer(telling)
        scores = {
            phrase: _likelihood_ratio(n, totals[phrase] - n, n_words, n_total - n_words)
            * _weight(
                phrase,
                shapes[phrase],
                is_rare=n < 3 and n_words >= 120,
                verbs=as_verbs[phrase] / totals[phrase],
            )
            for phrase, n in telling.items()
            if phrase not in parts
        }
        best = sorted(scores, key=lambda phrase: (-scores[phrase], phrase))
        titles.append(_title(best, scores, " ".join(texts).casefold(), shapes))
    return titles


def _phrases(
    texts: Sequence[str], shapes: dict[str, Counter[str]], as_verbs: Counter[str]
) -> Counter[str]:
    """Count runs of up to three words without stop words, how each is written, and after what."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    stop_words = ENGLISH_STOP_WORDS | WEAK_WORDS
    found: Counter[str] = Counter()
    for text in texts:
        text = unicodedata.normalize("NFC", text)
        runs: list[tuple[str, list[str]]] = [("", [])]
        end = 0
        for match in WORD.finditer(text):
            word = match[0].replace("’", "'")
            gap = text[end : match.start()]
            if gap.strip() not in ("", "-"):
                runs.append(("", []))
            if word.casefold().partition("'")[0] in stop_words or len(word) < 3:
                runs.append((word.casefold(), []))
            else:
                runs[-1][1].append(word)
            end = match.end()
        for before, run in runs:
            for size in range(1, MOST_WORDS + 1):
                for k in range(len(run) - size + 1):
                    written = " ".join(run[k : k + size])
                    found[written.casefold()] += 1
                    shapes[written.casefold()][written] += 1
                    as_verbs[written.casefold()] += k == 0 and before in BEFORE_VERBS
    return found


def _parts_of_longer(found: Mapping[str, int]) -> set[str]:
    """Return the phrases of an event that mostly are part of a longer one."""
    parts: set[str] = set()
    for phrase, n in found.items():
        if n > 1 and " " in phrase:
            shorter = (phrase.rpartition(" ")[0], phrase.partition(" ")[2])
            parts.update(part for part in shorter if n >= PART_OF_LONGER * found.get(part, 0))
    return parts


def _likelihood_ratio(here: int, elsewhere: int, n_here: int, n_elsewhere: int) -> float:
    """Return how surprising it is that a phrase is so frequent here; 0 if it is rarer here."""
    if n_elsewhere <= 0:
        return float(here)
    rate = (here + elsewhere) / (n_here + n_elsewhere)
    if here <= rate * n_here:
        return 0.0
    ratio = here * math.log(here / (rate * n_here))
    if elsewhere:
        ratio += elsewhere * math.log(elsewhere / (rate * n_elsewhere))
    return 2.0 * ratio


def _weight(phrase: str, written: Counter[str], *, is_rare: bool, verbs: float) -> float:
    """Prefer names and phrases of several words, which say more than one; and nouns of English.

    Parameters
    ----------
    phrase : str
        In lower case.
    written : Counter
        How it is written, and how often.
    is_rare : bool
        Whether it is said twice at most in a long event.
    verbs : float
        Share of its mentions that follow "to", "we" and the like.
    """
    shape = written.most_common(1)[0][0]
    is_name = shape[:1].isupper() and not shape.isupper()
    is_plain_word = " " not in phrase and not is_name
    is_no_noun = is_plain_word and phrase.endswith(("ed", "ly", "ing", "ful"))
    return (
        (1.0, 2.0, 2.6)[phrase.count(" ")]
        * (1.5 if is_name else 1.0)
        * (0.4 if is_no_noun else 1.0)
        * (0.4 if is_plain_word and is_rare else 1.0)
        * (0.3 if verbs > 0.4 and not is_name else 1.0)
    )


def _title(
    best: Sequence[str], scores: dict[str, float], said: str, shapes: dict[str, Counter[str]]
) -> str:
    """Join the best phrases that share no word, as long as they fit."""
    chosen: list[str] = []
    for phrase in best[:20]:
        words = {word[:3] for word in phrase.split()}
        taken = {word[:3] for other in chosen for word in other.split()}
        if scores[phrase] <= SHARE_OF_BEST * scores[best[0]] or words & taken:
            continue
        if chosen and len(", ".join([*chosen, phrase])) > LONGEST:
            continue
        chosen.append(phrase)
        if len(chosen) == MOST_PHRASES:
            break
    chosen.sort(key=said.find)
    title = ", ".join(shapes[phrase].most_common(1)[0][0] for phrase in chosen)
    title = clean_text(title)[:LONGEST].rstrip(" ,")
    return title[:1].upper() + title[1:]


def automatic_title(
    start: float | None,
    stop: float | None,
    *,
    place: str = "",
    town: str = "",
    before: tuple[str, float | None] | None = None,
) -> str:
    """Return what an event is called until a person names it, as on the page (page/titles.js).

    The place that a person named and the time spent there; else the event before, if that has a
    name and ended not long ago; else the part of the day, with the town. Empty if nothing is known.

    Parameters
    ----------
    start, stop : float or None
        Seconds on a wall clock.
    place, town : str
        Their names, if there are any.
    before : (str, float or None), optional
        The name that a person gave to the event before, and when it ended.
    """
    seconds = 0.0 if start is None or stop is None else stop - start
    if place:
        return f"{place}, {_rough_duration(seconds)}" if seconds >= LONG else place
    if start is None:
        return town
    name, ended = before or ("", None)
    if name and ended is not None and 0 <= start - ended <= SOON:
        return f"After {name}"
    hour = start / 3600 % 24
    part = next(name for until, name in PARTS_OF_DAY if hour < until)
    return f"{part} in {town}" if town else part


def _rough_duration(seconds: float) -> str:
    """Return a duration such as "40 minutes" or "2½ hours"."""
    minutes = 5 * math.floor(seconds / 300 + 0.5)
    if minutes < 90:
        return f"{minutes} minutes"
    halves = math.floor(seconds / 1800 + 0.5)
    return f"{halves // 2}{'½' if halves % 2 else ''} hours"
