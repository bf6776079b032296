"""File name suffixes of photos and videos."""

from __future__ import annotations

__all__ = ["PHOTO_SUFFIXES", "RAW_SUFFIXES", "VIDEO_SUFFIXES"]

RAW_SUFFIXES = frozenset(".cr2 .cr3 .nef .arw .dng .orf .rw2 .raf .pef .srw".split())  # noqa: SIM905
PHOTO_SUFFIXES = RAW_SUFFIXES | frozenset(
    ".jpg .jpeg .jpe .mpo .png .webp .tif .tiff .gif .heic .heif .hif .avif".split()  # noqa: SIM905
)
VIDEO_SUFFIXES = frozenset(
    ".mp4 .m4v .mov .mkv .webm .avi .mpg .mpeg .ts .m2ts .mts .wmv .flv .3gp .ogv .vob .mxf".split()  # noqa: SIM905
)
