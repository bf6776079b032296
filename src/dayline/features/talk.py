"""From what is said to features: one row per sentence, by the words around it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from dayline.arrays import FloatArray
from dayline.media.talk import UNSPACED, Cue

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
STEM = 6
"""Letters of a word that count, so that "sailing" and "sailors" are nearly the same word."""

N_BUCKETS = 4096
AT_ONCE = 4096
N_DIRECTIONS = 8  # a power of 2
AROUND = 1.4
"""Words of this many sentences on either side count too (one standard deviation): a sentence has few
words that tell what it is about."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; of scripts without spaces, pairs of characters."""
    words: list[str] = []
    for word in WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'")):
        if UNSPACED.match(word) and len(word) > 2:
            words += [word[k : k + 2] for k in range(len(word) - 1)]
        else:
            words.append(word)
    return words


def talk_features(texts: Sequence[str], *, word_vectors: bool) -> FloatArray:
    """Return features of what is said in each sentence.

    Parameters
    ----------
    texts : sequence of str
        What is said in each sentence.
    word_vectors : bool
        Whether words of like meaning are alike (extra `talk`), beside the same words.
    """
    words = word_features(texts)
    if not word_vectors:
        return words
    from dayline.features.word_vectors import sentence_vectors

    return np.concatenate([words, main_directions(sentence_vectors(texts))], axis=1)


def word_features(texts: Sequence[str]) -> FloatArray:
    """Return the main directions of the words that are said around each sentence.

    Words are hashed, counted, weighted by how rare they are (TF-IDF), and averaged over the
    sentences around; the rows are reduced to their principal components.

    Parameters
    ----------
    texts : sequence of str
        What is said in each sentence.
    """
    counts = np.zeros((len(texts), N_BUCKETS), dtype=np.float32)
    for row, text in zip(counts, texts, strict=True):
        for word in words_of(text):
            row[_bucket(word[:STEM])] += 1.0

    # A word that is said in one sentence only tells nothing about others.
    n_sentences = np.count_nonzero(counts, axis=0)
    counts, n_sentences = counts[:, n_sentences > 1], n_sentences[n_sentences > 1]
    np.log1p(counts, out=counts)
    counts *= np.log(len(texts) / n_sentences).astype(np.float32)
    return main_directions(counts)


def with_talk(
    features: FloatArray, times: Sequence[float], said: Sequence[Cue], *, word_vectors: bool
) -> FloatArray:
    """Join what is seen and what is said at each frame, with equal weight.

    Parameters
    ----------
    features : array of shape (n_frames, n_features)
        What is seen.
    times : sequence of float
        Of the frames, in seconds.
    said : sequence of Cue
        Sentences, in order of time. Each counts until the next one starts, the first from the
        start of the film. An even change between two would look like an average over a window.
    word_vectors : bool
        See `talk_features`.
    """
    rows = talk_features([one.text for one in said], word_vectors=word_vectors)
    starts = [one.start for one in said]
    at_frames = rows[np.maximum(np.searchsorted(starts, times, side="right") - 1, 0)]
    # All columns count alike later, so that what is said needs as many as what is seen.
    repeated = np.tile(at_frames, max(features.shape[1] // rows.shape[1], 1))
    return np.concatenate([features, repeated], axis=1)


def texts_of_frames(times: Sequence[float], said: Sequence[Cue]) -> tuple[str, ...]:
    """Return what is said from each frame until the next one: the sentences that start there.

    Parameters
    ----------
    times : sequence of float
        Of the frames, in seconds.
    said : sequence of Cue
        Sentences, in order of time.
    """
    texts = [""] * len(times)
    for one in said:
        frame = max(int(np.searchsorted(times, one.start, side="right")) - 1, 0)
        texts[frame] = f"{texts[frame]} {one.text}".strip()
    return tuple(texts)


def main_directions(rows: FloatArray) -> FloatArray:
    """Average rows over the sentences around, and reduce them to their principal components.

    Later, every column is divided by its standard deviation, which would make the least component
    as important as the first. So columns are sums and differences of all components.

    Parameters
    ----------
    rows : array of shape (n_sentences, n_columns)
        A vector per sentence; zeros if it says nothing.
    """
    from scipy.linalg import hadamard
    from scipy.ndimage import gaussian_filter1d

    if rows.shape[1] == 0:
        return np.zeros((len(rows), 1))
    around = gaussian_filter1d(rows, AROUND, axis=0, mode="nearest")
    lengths = np.sqrt(np.einsum("ij,ij->i", around, around))[:, None]
    around /= np.where(lengths > 0, lengths, 1.0)
    mean = around.mean(axis=0, dtype=np.float64)
    # A talk of hours has thousands of sentences: the smaller Gram matrix, of a part at a time.
    parts = [slice(start, start + AT_ONCE) for start in range(0, len(around), AT_ONCE)]
    if len(around) > around.shape[1]:
        centered = (around[part] - mean for part in parts)
        values, vectors = np.linalg.eigh(sum(part.T @ part for part in centered))
        main = vectors[:, ::-1][:, :N_DIRECTIONS]
        directions = np.concatenate([(around[part] - mean) @ main for part in parts])
    else:
        few = around - mean
        values, vectors = np.linalg.eigh(few @ few.T)
        sizes = np.sqrt(np.maximum(values[::-1][:N_DIRECTIONS], 0.0))
        directions = vectors[:, ::-1][:, :N_DIRECTIONS] * sizes
    # The sign of a direction is arbitrary: its largest entry is positive.
    largest = np.take_along_axis(directions, np.argmax(np.abs(directions), axis=0)[None], axis=0)
    components = np.zeros((len(rows), N_DIRECTIONS))
    components[:, : directions.shape[1]] = directions * np.where(largest < 0, -1.0, 1.0)
    return np.asarray(components @ hadamard(N_DIRECTIONS))


def _bucket(word: str) -> int:
    """Return the hash of a word (FNV-1a): the same in every run, unlike Python's own."""
    value = 0x811C9DC5
    for byte in word.encode("utf-8"):
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value % N_BUCKETS
