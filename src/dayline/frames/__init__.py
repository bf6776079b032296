"""Frames: photos and videos in, an ordered sequence of images with times out."""

from __future__ import annotations

from dayline.frames.bursts import group_bursts, signature
from dayline.frames.cuts import Changes, changes, hard_cut
from dayline.frames.describe import FrameRow, describe, time_text
from dayline.frames.jumps import Jump, check_jumps, find_jumps
from dayline.frames.pauses import ClockJump, Pause, check_pauses, find_clock_jumps, find_pauses
from dayline.frames.pixels import images
from dayline.frames.sequence import Also, FrameSequence, drop_frames
from dayline.frames.source import day_folders, open_source, read_photo_folder, read_video
from dayline.frames.video_spans import frames_in_spans

__all__ = [
    "Also",
    "Changes",
    "ClockJump",
    "FrameRow",
    "FrameSequence",
    "Jump",
    "Pause",
    "changes",
    "check_jumps",
    "check_pauses",
    "day_folders",
    "describe",
    "drop_frames",
    "find_clock_jumps",
    "find_jumps",
    "find_pauses",
    "frames_in_spans",
    "group_bursts",
    "hard_cut",
    "images",
    "open_source",
    "read_photo_folder",
    "read_video",
    "signature",
    "time_text",
]
