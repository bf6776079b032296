"""Tell screenshots, scanned documents and receipts from photos, by what their files say.

Pictures alone do not decide: a white wall, a menu and a page of a book are photos of the day, too.
"""

from __future__ import annotations

import re

from dayline.media.frame import Camera

# What phones and computers call screenshots: Screenshot_20230715-101112_Maps.png, Screen Shot
# 2020-01-02 at 10.11.12.png, Bildschirmfoto 2023-07-15 um 10.11.12.png.
SCREENSHOT = (
    r"screen ?shots?|bildschirmfotos?|captures? d['’]écran|capturas? de (?:pantalla|tela|ecrã)"
    r"|schermata|schermafbeelding|skärmavbild|skjermbilde|skærmbillede|zrzut ekranu|näyttökuva"
    r"|снимок экрана|ekran görüntüsü|スクリーンショット|스크린샷|截屏|截图|屏幕截图|屏幕快照"
)
RECORDING = r"screen ?record(?:ing|er)?|rpreplay|bildschirmaufnahme"
DOCUMENT = r"camscanner|adobe scan|scanned documents?|gescannte dokumente?"
RECEIPT = r"receipts?|invoices?|quittung(?:en)?|rechnung(?:en)?|kassenbons?|factures?|facturas?"
KINDS = {
    "screenshot": SCREENSHOT,
    "screen recording": RECORDING,
    "document": DOCUMENT,
    "receipt": RECEIPT,
}
# The words begin the name of a file, or are all of that of a folder.
FILE_NAMES = {
    kind: re.compile(rf"(?:{words})(?![^\W\d_])", re.IGNORECASE) for kind, words in KINDS.items()
}
FOLDER_NAMES = {kind: re.compile(rf"(?:{words})s?", re.IGNORECASE) for kind, words in KINDS.items()}

SCREENS = frozenset(
    {
        # iPhones.
        (640, 1136), (750, 1334), (828, 1792), (1125, 2436), (1170, 2532), (1179, 2556),
        (1206, 2622), (1242, 2208), (1242, 2688), (1284, 2778), (1290, 2796), (1320, 2868),
        # Others. 16:9, 4:3 and 2:1 are left out, since pictures have these shapes as well.
        (720, 1520), (720, 1560), (720, 1600), (1008, 2244), (1080, 2220),
        (1080, 2280), (1080, 2310), (1080, 2340), (1080, 2376), (1080, 2400), (1080, 2408),
        (1080, 2424), (1280, 2856), (1344, 2992), (1440, 2960), (1440, 3040),
        (1440, 3088), (1440, 3120), (1440, 3200),
    }
)  # fmt: skip
"""Shorter and longer side in pixels of the screens of phones."""


def aside_by_name(name: str) -> str:
    """Return what a file is by its name and its folders, such as "screenshot"; empty if a photo.

    Parameters
    ----------
    name : str
        The path below the folder of photos.
    """
    *folders, file = name.replace("_", " ").split("/")
    for kind in KINDS:
        if FILE_NAMES[kind].match(file) or any(map(FOLDER_NAMES[kind].fullmatch, folders)):
            return kind
    return ""


def aside_by_header(
    name: str, camera: Camera, *, form: str | None, size: tuple[int, int], comment: str
) -> str:
    """Return what a picture is by its file's name and header; empty if it is a photo.

    A picture that a camera took is a photo, whatever it is called and shows.

    Parameters
    ----------
    name : str
        The path below the folder of photos.
    camera : Camera
        What took it.
    form : str or None
        Its format, such as "PNG".
    size : (int, int)
        Width and height.
    comment : str
        The UserComment of its EXIF data, in which phones write "Screenshot".
    """
    if camera != Camera():
        return ""
    is_screen = form == "PNG" and (min(size), max(size)) in SCREENS
    if is_screen or comment.casefold() == "screenshot":
        return "screenshot"
    return aside_by_name(name)
