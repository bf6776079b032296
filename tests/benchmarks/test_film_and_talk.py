from __future__ import annotations

import numpy as np
import pytest
import talk

pytest.importorskip("av")
import film_and_talk as script

from dayline.media.talk import read_talk


def test_subtitles_are_read_as_they_were_written(tmp_path):
    said = [f"One two three part{k}." for k in range(900)]
    cues, starts = talk.cues_of([said, ["Five six seven."]])
    read = read_talk(script.write_subtitles(cues, tmp_path / "talk.srt")).cues
    assert [cue.text for cue in read] == [cue.text for cue in cues]
    np.testing.assert_allclose([cue.start for cue in read], [cue.start for cue in cues], atol=6e-4)
    # Four words take 4 / 2.6 s each time.
    assert starts == [pytest.approx(900 * 4 / 2.6)]


def test_places_and_texts_change_where_they_are_said_to(monkeypatch):
    monkeypatch.setattr(script, "N_PARTS", 4)
    monkeypatch.setattr(script, "RATE", 1)
    documents = [[f"Word{d} and word{d} here."] * 30 for d in range(6)]
    film, cues, changes = script.made_film(documents, "one camera", np.random.default_rng(0))
    for start in [*changes["both"], *changes["talk alone"]]:
        before, after = ([c.text for c in cues if c.start < start], [c.text for c in cues])
        assert after[len(before)] != before[-1]
    small = np.asarray([frame[::16, ::16].astype(int) for frame in film.frames])
    jumps = np.abs(np.diff(small, axis=0)).mean(axis=(1, 2, 3))
    cuts = {round(t) for t in changes["both"] + changes["pictures alone"]}
    # The camera moves by a tenth of a pixel a frame; another picture differs by tens of levels.
    assert {int(k) + 1 for k in np.flatnonzero(jumps > 15)} == cuts
