"""Vectors of sentences: means of word vectors, in which words of like meaning are alike.

The vectors are those of WordLlama (Miller 2024), 256 numbers for each of 32,000 parts of words, in
a package on PyPI. Its files are read without its code: nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dayline.arrays import FloatArray
from dayline.files import UnreadableFileError, file_digest, reading
from dayline.installation import missing_packages, needs_extra, package_folder

PACKAGE = "wordllama"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
SHA256 = {
    WEIGHTS: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    TOKENIZER: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
}

LONGEST = 4000
"""Characters of a sentence that count; a subtitle that holds a book would take minutes."""


def has_word_vectors() -> bool:
    """Whether the extra `talk` is installed; nothing is imported."""
    return not missing_packages("talk")


@needs_extra("talk", "comparing what is said by its meaning")
def sentence_vectors(texts: Sequence[str]) -> FloatArray:
    """Return the mean of the word vectors of each text; zeros for an empty one.

    Parameters
    ----------
    texts : sequence of str
        Sentences.

    Raises
    ------
    UnreadableFileError
        If a file of the package is not the published one.
    """
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = package_folder(PACKAGE)
    if folder is None:
        raise ModuleNotFoundError(name=PACKAGE)
    for name, digest in SHA256.items():
        path = folder / name
        with reading(path, "word vectors"):
            if file_digest(path) != digest:
                raise UnreadableFileError(
                    f"{path}: not the published word vectors; reinstall {PACKAGE}==0.4.0.post1"
                )
    weights = load_file(folder / WEIGHTS)["embedding.weight"]
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))

    vectors = np.zeros((len(texts), weights.shape[1]))
    for vector, text in zip(vectors, texts, strict=True):
        parts = tokenizer.encode(text[:LONGEST], add_special_tokens=False).ids
        if parts:
            vector[:] = weights[parts].mean(axis=0, dtype=np.float64)
    return vectors
