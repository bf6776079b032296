"""A damaged file is read as before, with a note of what is wrong, or refused in one line."""

from __future__ import annotations

import os
import sys
import zlib

import pytest

if sys.platform != "linux":
    pytest.skip("memory is measured as Linux tells it", allow_module_level=True)

from fuzz.child import damaged_file
from fuzz.parent import find_faults, in_words
from fuzz.readers import READERS
from fuzz.samples import samples

N_FILES = int(os.environ.get("DAYLINE_FUZZ", "300"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", READERS)
def test_no_damaged_file_gets_a_wrong_answer_without_a_word(kind, tmp_path):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    found = find_faults(kind, N_FILES, tmp_path)
    if found:
        pytest.fail(
            f"{len(found)} of {N_FILES} damaged {kind} files:\n{in_words(found)}", pytrace=False
        )


@pytest.mark.parametrize("kind", ["npz", "png"])
def test_damage_is_the_same_in_every_run(kind):
    files = [[damaged_file(kind, k, samples(kind)) for k in range(50)] for _ in range(2)]
    assert files[0] == files[1]
    assert len({zlib.crc32(file.data) for file in files[0]}) > 45
    assert {file.checked for file in files[0]} == {True, False}
