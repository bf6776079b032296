"""Frames: photos and videos in, an ordered sequence of images with times out."""

from __future__ import annotations

from dayline.frames.bursts import group_bursts, signature
from dayline.frames.describe import FrameRow, describe, time_text
from dayline.frames.pauses import ClockJump, Pause, check_pauses, find_clock_jumps, find_pauses
from dayline.frames.pixels import images
from dayline.frames.sequence import Also, FrameSequence, drop_frames
from dayline.frames.source import day_folders, open_source, read_photo_folder, read_video

__all__ = [
    "Also",
    "ClockJump",
    "FrameRow",
    "FrameSequence",
    "Pause",
    "check_pauses",
    "day_folders",
    "describe",
    "drop_frames",
    "find_clock_jumps",
    "find_pauses",
    "group_bursts",
    "images",
    "open_source",
    "read_photo_folder",
    "read_video",
    "signature",
    "time_text",
]
