from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from dayline.album.export.photos import folder_names, sort_photos
from dayline.events import Event, Place, Segmentation


@pytest.fixture
def source(tmp_path) -> Path:
    folder = tmp_path / "in"
    for name in ("a.jpg", "sub/A.jpg", "sub/b.jpg", "b.jpg"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def out(tmp_path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "photos"


def of(
    *names: str, split: int, titles: tuple[str | None, str | None] = (None, None)
) -> Segmentation:
    events = (
        Event(0, split, community=3, name=titles[0]),
        Event(split, len(names), name=titles[1]),
    )
    return Segmentation(events, names=names)


def contents(folder: Path) -> dict[str, str]:
    found = (p for p in sorted(folder.rglob("*")) if p.is_file() and not p.name.startswith("."))
    return {p.relative_to(folder).as_posix(): p.read_text() for p in found}


def test_photos_are_linked_into_one_folder_per_event(source, out):
    sort_photos(of("a.jpg", "sub/b.jpg", "b.jpg", split=1), out, source=source)
    assert contents(out) == {
        "01 Event/a.jpg": "a.jpg",
        "02 Event/b.jpg": "sub/b.jpg",
        "02 Event/b (2).jpg": "b.jpg",
    }
    assert (out / "01 Event/a.jpg").samefile(source / "a.jpg")
    assert contents(source) == {name: name for name in ("a.jpg", "b.jpg", "sub/A.jpg", "sub/b.jpg")}


def test_names_that_differ_in_case_only_do_not_collide(source, out):
    sort_photos(of("a.jpg", "sub/A.jpg", "b.jpg", split=2), out, source=source)
    assert contents(out) == {
        "01 Event/a.jpg": "a.jpg",
        "01 Event/A (2).jpg": "sub/A.jpg",
        "02 Event/b.jpg": "b.jpg",
    }


def test_folders_are_as_open_as_any_other_new_folder(source, out):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    assert out.stat().st_mode == out.parent.stat().st_mode == (out / "02 Event").stat().st_mode


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EPERM, errno.ENOTSUP])
def test_where_no_link_can_be_made_photos_are_copied(source, out, monkeypatch, code):
    def no_link(*_):
        raise OSError(code, "no link")

    monkeypatch.setattr(os, "link", no_link)
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    assert contents(out) == {"01 Event/a.jpg": "a.jpg", "02 Event/b.jpg": "b.jpg"}
    assert not (out / "01 Event/a.jpg").samefile(source / "a.jpg")


def test_a_full_disk_leaves_nothing_behind_and_the_old_result_in_place(source, out, monkeypatch):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(OSError, match="No space left"):
        sort_photos(of("b.jpg", "a.jpg", split=1), out, source=source)
    assert contents(out) == {"01 Event/a.jpg": "a.jpg", "02 Event/b.jpg": "b.jpg"}
    assert [p.name for p in out.parent.iterdir()] == ["photos"]


def test_the_old_result_comes_back_when_the_new_one_cannot_take_its_place(source, out, monkeypatch):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    rename = Path.rename

    def fails_for_the_new_one(self, target):
        if self.name == "new":
            raise PermissionError(errno.EACCES, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails_for_the_new_one)
    with pytest.raises(PermissionError, match="Permission denied"):
        sort_photos(of("b.jpg", "a.jpg", split=1), out, source=source)
    assert contents(out) == {"01 Event/a.jpg": "a.jpg", "02 Event/b.jpg": "b.jpg"}


@pytest.mark.parametrize(
    ("title", "folder"),
    [
        ("../../etc", "01 .._.._etc"),
        ('a/b\\c:d*?"<x>|', "01 a_b_c_d____x__"),
        ("trailing dots. . .", "01 trailing dots"),
        ("x" * 300, "01 " + "x" * 60),
        ("\u05e9\u05dc\u05d5\u05dd\n", "01 \u05e9\u05dc\u05d5\u05dd"),
        ("..", "01"),
    ],
)
def test_titles_become_folder_names_that_every_system_takes(source, out, title, folder):
    sort_photos(of("a.jpg", "b.jpg", split=1, titles=(title, "y")), out, source=source)
    assert contents(out) == {f"{folder}/a.jpg": "a.jpg", "02 y/b.jpg": "b.jpg"}


@pytest.mark.parametrize(
    "name", ["../secret.jpg", "sub/../../secret.jpg", "/etc/passwd", "C:\\x.jpg", "..\\secret.jpg"]
)
def test_names_that_lead_out_of_the_source_are_refused(source, out, name):
    (source.parent / "secret.jpg").write_text("secret")
    with pytest.raises(ValueError, match="points outside the photo folder"):
        sort_photos(of("a.jpg", name, split=1), out, source=source)
    assert list(out.parent.iterdir()) == []


def test_a_photo_that_is_gone_is_named(source, out):
    with pytest.raises(ValueError, match=r"photo 'gone\.jpg' is not in .*; pass the folder"):
        sort_photos(of("a.jpg", "gone.jpg", split=1), out, source=source)


def test_a_result_of_ours_is_replaced(source, out):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    sort_photos(of("sub/b.jpg", "a.jpg", split=1, titles=("Lunch", None)), out, source=source)
    assert contents(out) == {"01 Lunch/b.jpg": "sub/b.jpg", "02 Event/a.jpg": "a.jpg"}
    assert [p.name for p in out.parent.iterdir()] == ["photos"]
    assert contents(source) == {name: name for name in ("a.jpg", "b.jpg", "sub/A.jpg", "sub/b.jpg")}


@pytest.mark.parametrize("before", [[], ["ours"]])
def test_files_of_others_are_never_replaced(source, out, before):
    if before:
        sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    else:
        out.mkdir()
    (out / "diary.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"has a file 'diary\.txt' not written by dayline"):
        sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    assert (out / "diary.txt").read_text() == "mine"


def test_a_link_in_place_of_the_folder_is_refused(source, out):
    elsewhere = source.parent / "elsewhere"
    elsewhere.mkdir()
    out.symlink_to(elsewhere)
    with pytest.raises(ValueError, match="is not a folder written by dayline"):
        sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    assert list(elsewhere.iterdir()) == []


def test_frames_without_names_cannot_be_sorted(source, out):
    with pytest.raises(ValueError, match="segment a folder of photos"):
        sort_photos(Segmentation.from_boundaries([1], 2), out, source=source)


def test_a_photo_that_was_replaced_by_hand_is_not_deleted(source, out):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    (out / "01 Event/a.jpg").unlink()
    (out / "01 Event/a.jpg").write_text("retouched")
    with pytest.raises(ValueError, match=r"has a file '01 Event/a\.jpg' that was changed since"):
        sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    assert (out / "01 Event/a.jpg").read_text() == "retouched"


def test_a_copy_of_the_folder_with_other_times_is_replaced(source, out, tmp_path):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    copy = shutil.copytree(out, tmp_path / "copy", copy_function=shutil.copyfile)
    assert not (copy / "01 Event" / "a.jpg").samefile(source / "a.jpg")
    os.utime(copy / "01 Event" / "a.jpg", (1, 1))
    sort_photos(of("b.jpg", "a.jpg", split=1), copy, source=source)
    assert contents(copy) == {"01 Event/b.jpg": "b.jpg", "02 Event/a.jpg": "a.jpg"}
    assert not list(tmp_path.glob("copy-kept-*"))


@pytest.mark.parametrize("manifest", ["whole", "damaged", "missing"])
def test_force_replaces_the_folder_and_keeps_files_of_others(source, out, manifest):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    (out / "01 Event/a.jpg").unlink()
    (out / "01 Event/a.jpg").write_text("retouched")
    (out / "diary.txt").write_text("mine")
    (out / "for later").mkdir()
    if manifest == "damaged":
        (out / ".dayline-photos.json").write_text("{")
    if manifest == "missing":
        (out / ".dayline-photos.json").unlink()
    with pytest.warns(UserWarning, match=r"[23] files in .*photos not written by dayline, .* kept"):
        sort_photos(of("b.jpg", "a.jpg", split=1), out, source=source, force=True)
    assert contents(out) == {"01 Event/b.jpg": "b.jpg", "02 Event/a.jpg": "a.jpg"}
    (kept,) = out.parent.glob("photos-kept-*")
    assert contents(kept).items() >= {"01 Event/a.jpg": "retouched", "diary.txt": "mine"}.items()
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)


def test_what_a_killed_run_had_moved_aside_is_tidied_and_other_folders_stay(source, out):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    mine = shutil.copytree(out, out.with_name("photos-kept-mine"))
    (source / "a.jpg").unlink()
    out.rename(out.with_name("photos-kept-2026-11-19T10-00-00-000000"))
    with pytest.warns(UserWarning, match="1 file in .* kept in .*-kept-2026-11-19T10-00-00-000000"):
        sort_photos(of("b.jpg", "sub/b.jpg", split=1), out, source=source)
    kept = out.with_name("photos-kept-2026-11-19T10-00-00-000000")
    assert contents(kept) == {"01 Event/a.jpg": "a.jpg"}
    assert contents(mine) == {"01 Event/a.jpg": "a.jpg", "02 Event/b.jpg": "b.jpg"}


def test_a_photo_that_was_edited_in_the_source_too_is_sorted_again(source, out):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    (out / "01 Event/a.jpg").write_text("edited in place, in both folders")
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    assert (out / "01 Event/a.jpg").samefile(source / "a.jpg")


def test_sorted_photos_are_not_sorted_onto_themselves(source, out):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    before = contents(out)
    for inside in (out, next(path for path in out.iterdir() if path.is_dir())):
        names = [p.relative_to(inside).as_posix() for p in sorted(inside.rglob("*.jpg"))]
        with pytest.raises(ValueError, match="which would be replaced; choose another folder"):
            sort_photos(
                Segmentation.from_boundaries([], len(names), names=tuple(names)), out, source=inside
            )
    assert contents(out) == before


def test_an_empty_folder_of_others_is_not_deleted(source, out):
    sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    (out / "for later").mkdir()
    with pytest.raises(ValueError, match="has a folder 'for later' not written by dayline"):
        sort_photos(of("a.jpg", "b.jpg", split=1), out, source=source)
    assert (out / "for later").is_dir()


def test_the_last_copy_of_a_photo_is_kept(source, out):
    sort_photos(of("a.jpg", "sub/b.jpg", "b.jpg", split=1), out, source=source)
    (source / "a.jpg").unlink()
    (source / "sub" / "b.jpg").unlink()
    (source / "sub" / "b.jpg").write_text("edited elsewhere, as a new file")
    with pytest.warns(UserWarning, match="2 files in .* of a photo no longer in the source: kept"):
        sort_photos(of("sub/b.jpg", "b.jpg", split=1), out, source=source)
    (kept,) = out.parent.glob("photos-kept-*")
    assert contents(kept) == {"01 Event/a.jpg": "a.jpg", "02 Event/b.jpg": "sub/b.jpg"}
    assert contents(out) == {
        "01 Event/b.jpg": "edited elsewhere, as a new file",
        "02 Event/b.jpg": "b.jpg",
    }
    sort_photos(of("sub/b.jpg", "b.jpg", split=1), out, source=source)
    assert len(list(out.parent.glob("photos-kept-*"))) == 1


def at(*times: float, names: tuple[str | None, ...], **about) -> Segmentation:
    events = tuple(Event(k, k + 1, community=k, name=name) for k, name in enumerate(names))
    return Segmentation(
        events,
        times=times,
        clock="wall",
        names=tuple(f"{k}.jpg" for k in range(len(names))),
        **about,
    )


NOON = 1_715_532_660.0  # 2024-05-12 16:51


def test_folders_are_named_after_the_time_and_the_name():
    day = at(NOON, NOON + 61, NOON + 62, NOON + 86_400, names=("Lunch", None, None, "..."))
    assert folder_names(day) == [
        "2024-05-12 16.51 Lunch",
        "2024-05-12 16.52 After Lunch",
        "2024-05-12 16.52 Afternoon",
        "2024-05-13 16.51",
    ]


def test_a_folder_without_a_name_has_that_of_its_place():
    day = at(
        NOON,
        NOON + 600,
        names=(None, "Dinner"),
        places=(Place(0, "kitchen: ours"), Place(1, "garden")),
    )
    assert folder_names(day) == ["2024-05-12 16.51 kitchen_ ours", "2024-05-12 17.01 Dinner"]


def test_folders_of_undated_photos_are_numbered():
    assert folder_names(at(86_340.0, 86_460.0, names=("Party", None))) == [
        "01 23.59 Party",
        "02 00.01 After Party",
    ]


@pytest.mark.parametrize("name", ["\U0001f642" * 80, "e\u0301" * 80, "x" * 300])
def test_long_names_fit_every_file_system(name):
    first, second = folder_names(at(NOON, NOON + 1, names=(name, name)))
    assert first != second
    assert max(len(first.encode()), len(second.encode())) <= 255


def test_names_that_macos_takes_for_the_same_do_not_collide():
    composed, decomposed = folder_names(at(NOON, NOON + 1, names=("caf\u00e9", "CAFE\u0301")))
    assert decomposed.endswith(" (2)")
    assert composed != decomposed
