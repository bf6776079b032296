"""The shots of a film as events, so that every export can have them, and a table of them."""

from __future__ import annotations

import csv
from bisect import bisect_right
from pathlib import Path

from dayline.events import Event, Segmentation
from dayline.files import writing_whole

COLUMNS = ("shot", "start", "stop", "n_frames", "start_time", "stop_time", "how", "event")


def shots_as_events(segmentation: Segmentation) -> Segmentation:
    """Return one event per shot, "Shot 1" and so on; its frame is the first one of the shot.

    The last event has the last frame of the film, too.

    Parameters
    ----------
    segmentation : Segmentation
        Events of a film.
    """
    shots = segmentation.shots
    if not shots:
        raise ValueError(
            "there are no shots: only films have them; segment the film again, or leave out --shots"
        )
    film = "" if segmentation.digests is None else segmentation.digests[0].partition(":")[0]
    times = [*(shot.start_time for shot in shots), shots[-1].stop_time]
    return Segmentation(
        events=tuple(
            Event(
                k,
                k + 1 if k + 1 < len(shots) else k + 2,
                start_time=shot.start_time,
                stop_time=shot.stop_time,
                reason="content" if k else "start",
                name=f"Shot {k + 1}",
            )
            for k, shot in enumerate(shots)
        ),
        times=tuple(times),
        clock="media",
        digests=tuple(f"{film}:{round(1000 * time)}" for time in times) if film else None,
        source=segmentation.source,
        shots=shots,
    )


def film_end_of(segmentation: Segmentation) -> float:
    """Return the end of the last shot in seconds: its last frame is shown as long as others."""
    first, last = segmentation.shots[0], segmentation.shots[-1]
    shown = (last.stop_time - first.start_time) / max(last.stop - 1, 1)
    return last.stop_time + shown


def write_shots_csv(segmentation: Segmentation, path: Path) -> Path:
    """Write one row per shot (UTF-8, comma, header line).

    `shot` and `event` count from 1; `start` and `stop` are frames of the film and count from 0.

    Parameters
    ----------
    segmentation : Segmentation
        Events of a film.
    path : Path
        The file to write.
    """
    starts = [start for start in segmentation.start_times[1:] if start is not None]
    with writing_whole(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for k, shot in enumerate(segmentation.shots, start=1):
            about = (shot.start, shot.stop, shot.stop - shot.start, shot.start_time, shot.stop_time)
            event = bisect_right(starts, shot.start_time) + 1
            writer.writerow([k, *about, shot.how, event])
    return path
