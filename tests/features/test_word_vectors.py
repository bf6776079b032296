"""Vectors of sentences: what they are, and what they add to the same words."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("wordllama", reason="needs the extra talk")

from dayline import EventSegmenter
from dayline.features import word_vectors
from dayline.features.talk import STEM, talk_features
from dayline.features.word_vectors import LONGEST, TOKENIZER, WEIGHTS, sentence_vectors
from dayline.files import UnreadableFileError
from dayline.installation import package_folder

MUSIC = (
    "violin orchestra melody conductor|concerto rehearsal applause cello|piano sonata composer"
    " rhythm|trumpet chord harmony choir|singer opera soprano stage|guitar drummer jazz band|"
    "flute quartet tempo overture|clarinet tuning lyrics chorus|musician ballad tenor harp"
)
FOOD = (
    "flour yeast oven dough|bread butter salt baker|onion garlic soup kettle|pepper sauce pan"
    " recipe|cheese tomato pasta kitchen|sugar cream cake dessert|roast potato gravy dinner|rice"
    " lentils spice stew|lemon honey syrup pancake"
)


def told(subjects):
    """Return sentences of words of which none occurs twice."""
    texts = [text for subject in subjects for text in subject.split("|")]
    stems = [word[:STEM] for word in " ".join(texts).split()]
    assert len(stems) == len(set(stems))
    return texts


def test_a_vector_is_the_mean_of_those_of_its_parts():
    folder = package_folder("wordllama")
    content = (folder / WEIGHTS).read_bytes()
    # A file of safetensors: the length of its header, the header as JSON, the numbers.
    length = int.from_bytes(content[:8], "little")
    about = json.loads(content[8 : 8 + length])["embedding.weight"]
    rows = np.frombuffer(content[8 + length :], dtype="<f2").reshape(about["shape"])
    parts = json.loads((folder / TOKENIZER).read_text("utf-8"))["model"]["vocab"]
    both = (rows[parts["▁music"]].astype(float) + rows[parts["▁bread"]].astype(float)) / 2
    np.testing.assert_allclose(sentence_vectors(["music bread"])[0], both, rtol=1e-12)


def test_a_text_without_words_has_zeros():
    assert not sentence_vectors([""]).any()


def test_a_subtitle_as_long_as_a_book_counts_up_to_its_limit():
    text = "word " * LONGEST
    vectors = sentence_vectors([text, text[:LONGEST]])
    np.testing.assert_array_equal(vectors[0], vectors[1])


def test_subjects_without_a_word_in_common_are_told_apart():
    texts = told((MUSIC, FOOD))
    # No word is said twice, so that the same words tell nothing.
    assert not talk_features(texts, word_vectors=False).any()
    features = talk_features(texts, word_vectors=True)
    found = EventSegmenter(n_events=2).segment(features).boundaries
    # The words of a sentence count for its neighbors too.
    assert len(found) == 1
    assert abs(found[0] - 9) <= 1


def test_neither_the_package_nor_a_network_library_is_imported():
    code = (
        "import sys; from dayline.features.word_vectors import sentence_vectors as vectors\n"
        "assert vectors(['a word']).any()\n"
        "assert not {'wordllama', 'requests', 'huggingface_hub', 'torch'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_refuses_other_files(tmp_path, monkeypatch):
    copy = tmp_path / "wordllama"
    for name in (WEIGHTS, TOKENIZER):
        (copy / name).parent.mkdir(parents=True)
        shutil.copyfile(package_folder("wordllama") / name, copy / name)
    monkeypatch.setattr(word_vectors, "package_folder", lambda _: copy)
    with (copy / WEIGHTS).open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"x")
    with pytest.raises(UnreadableFileError, match="not the published word vectors; reinstall"):
        sentence_vectors(["a"])
    (copy / WEIGHTS).unlink()
    with pytest.raises(UnreadableFileError, match="cannot be read"):
        sentence_vectors(["a"])
