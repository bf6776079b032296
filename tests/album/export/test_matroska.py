from __future__ import annotations

import io

from lxml import etree

from dayline.album.export.chapters import write_matroska

# The elements of Matroska's chapter specification that are written, in the order mkvmerge's own DTD
# asks for.
GRAMMAR = """
<!ELEMENT Chapters (EditionEntry)>
<!ELEMENT EditionEntry (ChapterAtom+)>
<!ELEMENT ChapterAtom (ChapterUID, ChapterTimeStart, ChapterTimeEnd, ChapterDisplay)>
<!ELEMENT ChapterUID (#PCDATA)>
<!ELEMENT ChapterTimeStart (#PCDATA)>
<!ELEMENT ChapterTimeEnd (#PCDATA)>
<!ELEMENT ChapterDisplay (ChapterString, ChapterLanguage)>
<!ELEMENT ChapterString (#PCDATA)>
<!ELEMENT ChapterLanguage (#PCDATA)>
"""


def seconds(text: str) -> float:
    hours, minutes, rest = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def test_an_xml_reader_reads_the_chapters_back(film, tmp_path, expected_chapters):
    tree = etree.parse(write_matroska(film, tmp_path / "chapters.xml"))
    assert etree.DTD(io.StringIO(GRAMMAR)).validate(tree)
    found = [
        (
            seconds(atom.findtext("ChapterTimeStart")),
            seconds(atom.findtext("ChapterTimeEnd")),
            atom.findtext("ChapterDisplay/ChapterString"),
        )
        for atom in tree.iter("ChapterAtom")
    ]
    assert found == expected_chapters


def test_chapter_numbers_are_unique_and_not_zero(film, tmp_path):
    tree = etree.parse(write_matroska(film, tmp_path / "chapters.xml"))
    numbers = [int(element.text) for element in tree.iter("ChapterUID")]
    assert len(set(numbers)) == 4
    assert 0 not in numbers
