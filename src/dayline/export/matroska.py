"""Matroska chapters in XML, for `mkvmerge --chapters` and `mkvpropedit --chapters`."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree  # only to write; no untrusted XML is parsed

from dayline.events import Segmentation
from dayline.export.chapters import Chapter, chapters
from dayline.io.files import write_text_whole
from dayline.text import clock_text

__all__ = ["write_matroska"]

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE Chapters SYSTEM "matroskachapters.dtd">\n'


def write_matroska(
    segmentation: Segmentation, path: str | Path, *, fps: float | None = None, duration: float | None = None
) -> Path:
    """Write one chapter per event into one edition.

    Parameters
    ----------
    segmentation : Segmentation
        Events, with times unless `fps` is given.
    path : str or Path
        The file to write.
    fps, duration : float, optional
        See `dayline.export.chapters.chapters`.
    """
    path = Path(path)
    root = ElementTree.Element("Chapters")
    edition = ElementTree.SubElement(root, "EditionEntry")
    for number, mark in enumerate(chapters(segmentation, fps=fps, duration=duration)):
        edition.append(_atom(mark, uid=number + 1))
    ElementTree.indent(root)
    write_text_whole(path, HEAD + ElementTree.tostring(root, encoding="unicode") + "\n")
    return path


def _atom(mark: Chapter, *, uid: int) -> ElementTree.Element:
    atom = ElementTree.Element("ChapterAtom")
    ElementTree.SubElement(atom, "ChapterUID").text = str(uid)
    ElementTree.SubElement(atom, "ChapterTimeStart").text = clock_text(mark.start, digits=9)
    ElementTree.SubElement(atom, "ChapterTimeEnd").text = clock_text(mark.end, digits=9)
    display = ElementTree.SubElement(atom, "ChapterDisplay")
    ElementTree.SubElement(display, "ChapterString").text = mark.title
    ElementTree.SubElement(display, "ChapterLanguage").text = "und"
    return atom
