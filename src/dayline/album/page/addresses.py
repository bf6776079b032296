"""Addresses of events and photos on a page, which stay when photos are added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dayline.events import Segmentation


def renew_addresses(
    segmentation: Segmentation, before: Mapping[str, Any] | None
) -> dict[str, list[str] | None] | None:
    """Return what the addresses on a page mean: #event-3 the event with the third photo in a list.

    An event that has an address keeps it, wherever it is among the others; a new one gets the next
    number. So do photos.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    before : mapping or None
        The data of the page that showed these photos before.

    Returns
    -------
    dict or None
        Digests of photos: for `events` one in each, for `photos` all; None if photos count from 1
        in their order. None if the frames have no digests: then events count from 1, too.
    """
    digests = segmentation.digests
    if digests is None:
        return None
    events, photos = _known(before)

    frames = {digest: frame for frame, digest in enumerate(digests)}
    found = {int(segmentation.labels[frames[one]]) for one in events if one in frames}
    middles = [digests[(e.start + e.stop) // 2] for e in segmentation.events]
    events += [middle for k, middle in enumerate(middles) if k not in found]

    known = set(photos)
    photos += [digest for digest in digests if digest not in known]
    return {"events": events, "photos": None if photos == list(digests) else photos}


def _known(before: Mapping[str, Any] | None) -> tuple[list[str], list[str]]:
    """Return the photos that addresses of events, and of photos, meant before."""
    shown = {} if before is None else before["segmentation"]
    digests = shown.get("digests")
    if digests is None:
        return [], []
    addresses = kept_addresses(before)
    if addresses is None:  # a page of a version in which they were numbers
        middles = [(e["start"] + e["stop"]) // 2 for e in shown["events"]]
        return [digests[middle] for middle in middles], list(digests)
    return list(addresses["events"] or ()), list(addresses["photos"] or digests)


def kept_addresses(page: Mapping[str, Any] | None) -> dict[str, list[str] | None] | None:
    """Return what `renew_addresses` returned for a page; None if it has no such data.

    Parameters
    ----------
    page : mapping or None
        The data of the page, which others may have changed.
    """
    kept = (page or {}).get("addresses")
    if not isinstance(kept, dict) or set(kept) != {"events", "photos"} or kept["events"] is None:
        return None
    lists = [numbers for numbers in kept.values() if numbers is not None]
    are_texts = all(isinstance(n, list) and all(isinstance(d, str) for d in n) for n in lists)
    return kept if are_texts else None


def event_numbers(segmentation: Segmentation, addresses: Mapping[str, Any] | None) -> list[int]:
    """Return the number in the address of each event.

    Parameters
    ----------
    segmentation : Segmentation
        The events.
    addresses : mapping or None
        See `renew_addresses`.
    """
    numbers = list(range(1, len(segmentation.events) + 1))
    frames = {digest: frame for frame, digest in enumerate(segmentation.digests or ())}
    kept = [] if addresses is None else list(enumerate(addresses["events"], start=1))
    for number, digest in reversed(kept):
        if digest in frames:
            numbers[segmentation.labels[frames[digest]]] = number
    return numbers


def photo_numbers(segmentation: Segmentation, addresses: Mapping[str, Any] | None) -> list[int]:
    """Return the number in the address of each photo.

    Parameters
    ----------
    segmentation : Segmentation
        The photos.
    addresses : mapping or None
        See `renew_addresses`.
    """
    kept = None if addresses is None else addresses["photos"]
    if kept is None or segmentation.digests is None:
        return list(range(1, segmentation.n_frames + 1))
    numbers = {digest: k for k, digest in enumerate(kept, start=1)}
    return [numbers.get(digest, k) for k, digest in enumerate(segmentation.digests, start=1)]


def is_moved(before: Mapping[str, Any], segmentation: Segmentation) -> bool:
    """Return whether most photos of a page are among those of a result.

    Parameters
    ----------
    before : mapping
        The data of the page, such as that of a folder which had photos of one day only.
    segmentation : Segmentation
        The result.
    """
    shown = before["segmentation"].get("digests") or ()
    return 2 * len(set(shown).intersection(segmentation.digests or ())) > len(shown)
