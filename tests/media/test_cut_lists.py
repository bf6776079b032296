from __future__ import annotations

import pytest

from dayline.media.cut_lists import read_cuts
from dayline.media.film import read_video
from made_films import make_moving_film

SCENES_CSV = """Timecode List:,00:00:02.000,00:00:03.200
Scene Number,Start Frame,Start Timecode,Start Time (seconds),End Frame
1,1,00:00:00.000,0.000,50
2,51,00:00:02.000,2.000,80
3,81,00:00:03.200,3.200,100
"""
EDL = """TITLE: film
FCM: NON-DROP FRAME

001  AX       V     C        00:00:00:00 00:00:02:00 {0}:00:00:00 {0}:00:02:00
* FROM CLIP NAME: one
002  AX       V     C        00:00:02:00 00:00:03:05 {0}:00:02:00 {0}:00:03:05
003  AX       A     C        00:00:02:10 00:00:03:05 {0}:00:02:10 {0}:00:03:05
003  AX       V     D    010 00:00:03:00 00:00:04:00 {0}:00:03:00 {0}:00:04:00
"""


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    return read_video(make_moving_film(path, (100,)))


def starts(path, text, film):
    path.write_text(text)
    return [(shot.start, shot.how) for shot in read_cuts(path, film)]


def test_the_csv_of_pyscenedetect(tmp_path, film):
    found = starts(tmp_path / "scenes.csv", SCENES_CSV, film)
    assert found == [(0, "start"), (50, "cut"), (80, "cut")]


@pytest.mark.parametrize("hour", ["00", "01"])
def test_an_edl_with_a_dissolve_that_begins_at_any_hour(tmp_path, film, hour):
    # The dissolve mixes frames 75 .. 84: its middle is 80.
    found = starts(tmp_path / "film.edl", EDL.format(hour), film)
    assert found == [(0, "start"), (50, "cut"), (80, "dissolve")]


def test_drop_frame_timecode_leaves_out_numbers(tmp_path):
    times = [round(1000 * k * 1001 / 30000) for k in range(1900)]
    film = read_video(
        make_moving_film(
            tmp_path / "film.mkv", (1900,), times_ms=times, pictures=blank_frames(1900)
        )
    )
    edl = "FCM: DROP FRAME\n001 AX V C 00:00:00;00 00:01:00;02 00:00:00;00 00:01:00;02\n"
    edl += "002 AX V C 00:01:00;02 00:01:02;00 00:01:00;02 00:01:02;00\n"
    # 00:00:59;29 is frame 1799, and the next number is 00:01:00;02.
    assert starts(tmp_path / "film.edl", edl, film) == [(0, "start"), (1800, "cut")]


def blank_frames(n):
    import numpy as np

    return (np.zeros((90, 160, 3), dtype=np.uint8) for _ in range(n))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "neither a column 'Start Time (seconds)'"),
        ("", "neither a column"),
        (SCENES_CSV.replace("3.200,100", "soon,100"), "line 5 has no start time"),
        (SCENES_CSV.replace("3.200,100", "nan,100"), "line 5 has no start time"),
        (SCENES_CSV.replace("3.200,100", "60.0,100"), "begins at 00:01:00, but the video ends"),
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path, film, text, said):
    with pytest.raises(ValueError, match=r"^[^\n]+$") as refused:
        starts(tmp_path / "cuts.csv", text, film)
    assert said in str(refused.value)


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path, film):
    with pytest.raises(ValueError, match="no such file"):
        read_cuts(tmp_path / "cuts.csv", film)
    (tmp_path / "cuts.csv").write_bytes(b"\xff\xfe\x00" * 100)
    with pytest.raises(ValueError, match="not a text file"):
        read_cuts(tmp_path / "cuts.csv", film)
