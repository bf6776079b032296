"""Save the events that a person edited into a result, and renew what shows them there."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from dayline.album.days import overview_above, renew_overview, renew_places
from dayline.album.edits import film_of, keep_edits, take_in
from dayline.album.export.table import write_csv
from dayline.album.extraction import source_digests
from dayline.album.page.page import events_mark, frames_mark, page_data, renew_page
from dayline.album.recognize import places_beside
from dayline.album.titles import with_titles
from dayline.album.write import old_chapters_notes, old_events_note, renew_exports
from dayline.events import Segmentation, read_events
from dayline.files import write_text_whole
from dayline.result_folder import EVENTS, MARK, keep_aside, output_folder


class ChangedResultError(ValueError):
    """The events changed since the page was opened; saving would overwrite unseen changes."""


@dataclass(frozen=True)
class Saved:
    """What was saved and renewed.

    Attributes
    ----------
    segmentation : Segmentation
        The events as saved.
    history : Path or None
        The copy of the previous events.json.
    renewed : tuple of str
        Names of the other files that were written again.
    notes : tuple of str
        What could not be renewed, and why.
    """

    segmentation: Segmentation
    history: Path | None = None
    renewed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """The mark of the events."""
        return events_mark(self.segmentation)


def is_result(folder: Path) -> bool:
    """Return whether a folder is the result of one recording, whose events can be saved."""
    return (
        (folder / MARK).is_file()
        and (folder / EVENTS).is_file()
        and not (folder / EVENTS).is_symlink()
    )


def save_events(
    edited: Segmentation, folder: str | Path, *, base: str | None = None, source: Path | None = None
) -> Saved:
    """Write events.json, keep the previous one under a dated name, and renew page and exports.

    Later runs of `dayline segment` apply the saved events as corrections. Only the events, their
    levels, the names of places, favorites and hidden photos are taken from `edited`; all else stays
    as it is in the result.

    Parameters
    ----------
    edited : Segmentation
        The events.
    folder : str or Path
        The folder of the result.
    base : str, optional
        The mark of the events that were edited (`dayline.album.page.page.events_mark`).
    source : Path, optional
        The photos or the video; if not given, they are searched for next to the result.

    Raises
    ------
    ChangedResultError
        If the result has other events than `base` by now.
    ValueError
        If `edited` is about other frames than the result.
    """
    with output_folder(folder) as folder:
        current = read_events(folder / EVENTS)
        if frames_mark(edited) != frames_mark(current):
            raise ValueError(
                f"the events are about other frames than {folder / EVENTS}; apply them with "
                "dayline segment SOURCE --corrections FILE"
            )
        if base is not None and base != events_mark(current):
            raise ChangedResultError(
                f"{folder / EVENTS} has changed since this page was opened; reload the page: your"
                " changes stay in this browser and are offered again"
            )

        saved = replace(
            current,
            events=edited.events,
            places=edited.places,
            levels=edited.levels,
            favorites=edited.favorites,
            hidden=edited.hidden,
        )
        if any(event.title for event in current.events):
            saved = with_titles(saved)

        history = None if saved.to_json() == current.to_json() else keep_aside(folder / EVENTS)
        # First the corrections: after a kill in between, the next run already uses them.
        keep_edits(folder, [saved], copy=False)
        write_text_whole(folder / EVENTS, saved.to_json())
        are_renamed = saved.places != current.places
        return _renewed(saved, folder, source, history, with_places=are_renamed)


def renew_result(folder: str | Path, *, source: Path | None = None) -> Saved:
    """Renew the page and the exports from events.json, which a person may have replaced.

    Parameters
    ----------
    folder : str or Path
        The folder of the result.
    source : Path, optional
        See `save_events`.
    """
    with output_folder(folder) as folder:
        take_in(folder)
        return _renewed(read_events(folder / EVENTS), folder, source, with_places=True)


def page_is_current(folder: Path) -> bool:
    """Return whether the page shows the events of events.json.

    It does not after a person replaced that file, or a save was killed.
    """
    data = page_data(folder / "index.html")
    return data is not None and data.get("base") == events_mark(read_events(folder / EVENTS))


def _renewed(
    segmentation: Segmentation,
    folder: Path,
    source: Path | None,
    history: Path | None = None,
    *,
    with_places: bool,
) -> Saved:
    """Write all that shows the events; what fails is named, and the others are still written."""
    renewed: list[str] = []
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write_csv(segmentation, folder / "events.csv")
        renewed.append("events.csv")

        frames = find_source(segmentation, folder, source)
        names, lines = renew_exports(segmentation, folder, source=frames)
        renewed += names
        notes += lines

        # Last: a page that shows the events means that everything else does, also after a kill.
        try:
            renew_page(segmentation, folder)
            renewed.append("index.html")
        except (ValueError, OSError) as error:
            notes.append(old_events_note("index.html", error))
        try:
            if (above := overview_above(folder)) is not None:
                if with_places and places_beside(folder) is not None:
                    days = renew_places(
                        above, lambda day: find_source(day.segmentation, day.folder, source)
                    )
                    (segmentation,) = (
                        day.segmentation for day in days if day.folder.name == folder.name
                    )
                renew_overview(above)
                renewed.append("../index.html")
        except (ValueError, OSError) as error:
            notes.append(old_events_note("the overview of all days", error))

    notes += old_chapters_notes(folder)
    notes += [" ".join(str(warning.message).split()) for warning in caught]
    return Saved(segmentation, history, tuple(renewed), tuple(notes))


def find_source(segmentation: Segmentation, folder: Path, given: Path | None) -> Path | None:
    """Return the photos or the video of a result: as given, or of the same name next to it."""
    name = segmentation.source
    if name is None or PurePath(name).name != name:
        return None
    above = folder.resolve().parent
    places = (Path.cwd(), above, above.parent) if given is None else (given,)
    candidates = [] if given is None else [given]
    candidates += [place / name for place in places]
    for path in candidates:
        with suppress(OSError, ValueError):
            if segmentation.clock == "media":
                film = film_of((segmentation.digests or ("",))[0])
                found = path.is_file() and film in ("", next(source_digests(path)))
            else:
                first = (segmentation.names or ("",))[0]
                found = path.is_dir() and first != "" and (path / first).is_file()
            if found:
                return path
    return None
