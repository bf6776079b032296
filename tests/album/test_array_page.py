"""A page from an array, with pictures or without, in one call."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from PIL import Image

from dayline import EventSegmenter, Segmentation, read_events, write_page

N = 24


@pytest.fixture(scope="module")
def rows():
    return np.repeat(np.eye(3), N // 3, axis=0) + np.random.default_rng(0).normal(
        scale=0.1, size=(N, 3)
    )


def picture(k: int) -> np.ndarray:
    return np.full((30, 40, 3), 10 * k, dtype=np.uint8)


def shown(page) -> list[str | None] | None:
    found = re.search(
        r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page.read_text(), re.DOTALL
    )
    return json.loads(found[1])["pictures"]


def test_an_array_gives_a_page_events_and_a_table(rows, tmp_path):
    page = write_page(rows, tmp_path / "out", times=30 * np.arange(N), name="sensors")
    assert page == tmp_path / "out" / "index.html"
    assert {"index.html", "events.json", "events.csv", "graph.png"} <= {
        p.name for p in page.parent.iterdir()
    }
    found = read_events(page.parent / "events.json")
    assert (found.boundaries, found.source, found.names) == ((8, 16), "sensors", None)
    assert found.times[1] == 30
    assert shown(page) is None


def test_pictures_may_be_arrays_of_every_usual_kind_and_be_missing(rows, tmp_path):
    pictures = [picture(k) for k in range(N)]
    pictures[1] = picture(1)[:, :, 0]
    pictures[2] = picture(2) / 255
    pictures[3] = np.dstack([picture(3), picture(3)[:, :, :1]])
    pictures[4] = Image.fromarray(picture(4))
    pictures[5] = None
    page = write_page(rows, tmp_path / "out", pictures=pictures, segmenter=EventSegmenter.fast())
    addresses = shown(page)
    assert addresses[5] is None
    for k in range(N):
        if k != 5:
            pixels = np.asarray(Image.open(page.parent / addresses[k]))
            assert pixels.shape == (30, 40, 3)
            assert abs(int(pixels.mean()) - 10 * k) <= 1
    # Again, with one picture changed: the others are not written anew, and the old one is removed.
    before = {path.name: path.stat().st_mtime_ns for path in (page.parent / "thumbnails").iterdir()}
    write_page(
        rows, tmp_path / "out", pictures={**dict(enumerate(pictures)), 7: picture(200 // 10)}
    )
    after = {path.name: path.stat().st_mtime_ns for path in (page.parent / "thumbnails").iterdir()}
    assert {name for name in before if before[name] == after.get(name)} == set(before) - {
        addresses[7].split("/")[1]
    }


def test_files_give_their_names_and_damaged_ones_no_picture(rows, tmp_path):
    files = []
    for k in range(N):
        files.append(tmp_path / f"{k:02d}.png")
        Image.fromarray(picture(k)).save(files[-1])
    files[3].write_bytes(b"not a picture")
    with pytest.warns(UserWarning, match=r"frame 3, 03\.png: no picture \(not an image"):
        page = write_page(rows, tmp_path / "out", pictures=files)
    addresses = shown(page)
    assert [k for k in range(N) if addresses[k] is None] == [3]
    assert read_events(page.parent / "events.json").names == tuple(file.name for file in files)


def test_a_fitted_segmenter_and_a_segmentation_have_a_page_too(rows, tmp_path):
    fitted = EventSegmenter().fit(rows)
    page = write_page(fitted, tmp_path / "a")
    assert (page.parent / "graph.png").is_file()
    assert read_events(page.parent / "events.json").events[0].key_frame in range(8)
    page = write_page(
        Segmentation.from_boundaries([5], N), tmp_path / "b", name="mine", pictures={2: picture(2)}
    )
    found = read_events(page.parent / "events.json")
    assert (found.boundaries, found.source) == ((5,), "mine")
    assert [k for k, address in enumerate(shown(page)) if address] == [2]


def test_corrections_saved_in_the_folder_are_kept(rows, tmp_path):
    folder = write_page(rows, tmp_path / "out").parent
    digests = read_events(folder / "events.json").digests
    saved = Segmentation.from_boundaries([5], N, digests=digests)
    (folder / "events.json").write_text(saved.to_json())
    with pytest.warns(UserWarning, match=r"events\.json is not the file that dayline wrote"):
        write_page(rows, folder)
    assert read_events(folder / "events.json").boundaries == (5,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"pictures": [None] * 3},
            "3 pictures for 24 frames; pass one per frame, None where there is none",
        ),
        ({"pictures": {30: None}}, "pictures: there is no frame 30; frames count from 0 to 23"),
        ({"pictures": "photos"}, "pictures='photos'; pass a list of files, one per frame"),
        ({"pictures": {0: "gone.jpg"}}, r"frame 0: picture gone\.jpg is not a file"),
        (
            {"pictures": {4: np.zeros((3, 40, 30))}},
            r"frame 4: picture has shape \(3, 40, 30\), float64; pass a file",
        ),
        ({"pictures": {4: np.full((4, 4), 255.0)}}, "frame 4: .*uint8, or numbers from 0 to 1"),
        (
            {"events": np.zeros((5, 2, 2))},
            r"features have shape \(5, 2, 2\) and type float64; pass",
        ),
        ({"events": "photos"}, r"features have shape \(\) and type <U6; pass a matrix"),
        (
            {"events": Segmentation.from_boundaries([5], N), "times": [1]},
            "times is for features; the Segmentation has",
        ),
        ({"times": [1, 2]}, r"times have shape \(2,\) for 24 frames"),
    ],
)
def test_wrong_arguments_are_named_and_nothing_is_written(rows, tmp_path, change, message):
    arguments = {"events": rows, "folder": tmp_path / "out", **change}
    with pytest.raises(ValueError, match=message):
        write_page(**arguments)
    assert not (tmp_path / "out").exists()
