"""File name suffixes of photos and videos."""

from __future__ import annotations

__all__ = ["PHOTO_SUFFIXES", "VIDEO_SUFFIXES"]

PHOTO_SUFFIXES = frozenset(
    ".jpg .jpeg .jpe .mpo .png .webp .tif .tiff .gif .heic .heif .hif .avif".split()  # noqa: SIM905
)
VIDEO_SUFFIXES = frozenset(
    ".mp4 .m4v .mov .mkv .webm .avi .mpg .mpeg .ts .m2ts .mts .wmv .flv .3gp .ogv .vob .mxf".split()  # noqa: SIM905
)
