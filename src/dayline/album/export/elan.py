"""An ELAN annotation file (.eaf) with two tiers: events and contexts."""

from __future__ import annotations

import mimetypes
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree  # only to write; no untrusted XML is parsed

from dayline.album.export.chapters import chapters, context_labels, milliseconds
from dayline.events import Segmentation
from dayline.files import write_text_whole
from dayline.text import clean_text

SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"
LINGUISTIC_TYPE = "default-lt"


def write_elan(
    segmentation: Segmentation,
    path: str | Path,
    *,
    fps: float | None = None,
    duration: float | None = None,
) -> Path:
    """Write the events and their contexts as two tiers with the same times.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    path : str or Path
        The file to write.
    fps, duration : float, optional
        See `dayline.album.export.chapters.chapters`.
    """
    path = Path(path)
    marks = chapters(segmentation, fps=fps, duration=duration)
    root = _document(segmentation)
    layers = {
        "events": tuple(mark.title for mark in marks),
        "contexts": context_labels(segmentation),
    }
    spans = [(mark.start, mark.end) for mark in marks]
    kept = [
        (tier, span, text)
        for tier, texts in layers.items()
        for span, text in zip(spans, texts, strict=True)
        if text
    ]
    _add_time_slots(root, [span for _, span, _ in kept])
    for tier in layers:
        _add_tier(root, tier, {k: text for k, (owner, _, text) in enumerate(kept) if owner == tier})
    kind = {
        "LINGUISTIC_TYPE_ID": LINGUISTIC_TYPE,
        "TIME_ALIGNABLE": "true",
        "GRAPHIC_REFERENCES": "false",
    }
    ElementTree.SubElement(root, "LINGUISTIC_TYPE", kind)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    write_text_whole(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')
    return path


def _document(segmentation: Segmentation) -> ElementTree.Element:
    attributes = {
        "AUTHOR": "dayline",
        "DATE": datetime.now(UTC).isoformat(timespec="seconds"),
        "FORMAT": "3.0",
        "VERSION": "3.0",
        f"{{{SCHEMA_INSTANCE}}}noNamespaceSchemaLocation": SCHEMA,
    }
    ElementTree.register_namespace("xsi", SCHEMA_INSTANCE)
    root = ElementTree.Element("ANNOTATION_DOCUMENT", attributes)
    header = ElementTree.SubElement(
        root, "HEADER", {"MEDIA_FILE": "", "TIME_UNITS": "milliseconds"}
    )
    source = clean_text(segmentation.source or "")
    if segmentation.clock == "media" and source:
        kind = mimetypes.guess_type(source)[0] or "video/*"
        url = f"./{quote(Path(source).name)}"
        media = {"MEDIA_URL": url, "RELATIVE_MEDIA_URL": url, "MIME_TYPE": kind}
        ElementTree.SubElement(header, "MEDIA_DESCRIPTOR", media)
    return root


def _add_time_slots(root: ElementTree.Element, spans: list[tuple[float, float]]) -> None:
    """Give every annotation its own time slots, so that ELAN can move one without the others."""
    order = ElementTree.SubElement(root, "TIME_ORDER")
    slots = [(milliseconds(start), f"ts{2 * k + 1}") for k, (start, _) in enumerate(spans)]
    slots += [(milliseconds(end), f"ts{2 * k + 2}") for k, (_, end) in enumerate(spans)]
    for value, name in sorted(slots):
        ElementTree.SubElement(order, "TIME_SLOT", {"TIME_SLOT_ID": name, "TIME_VALUE": str(value)})


def _add_tier(root: ElementTree.Element, name: str, texts: dict[int, str]) -> None:
    tier = ElementTree.SubElement(
        root, "TIER", {"TIER_ID": name, "LINGUISTIC_TYPE_REF": LINGUISTIC_TYPE}
    )
    for k, text in texts.items():
        place = {
            "ANNOTATION_ID": f"a{k + 1}",
            "TIME_SLOT_REF1": f"ts{2 * k + 1}",
            "TIME_SLOT_REF2": f"ts{2 * k + 2}",
        }
        annotation = ElementTree.SubElement(tier, "ANNOTATION")
        aligned = ElementTree.SubElement(annotation, "ALIGNABLE_ANNOTATION", place)
        ElementTree.SubElement(aligned, "ANNOTATION_VALUE").text = text
