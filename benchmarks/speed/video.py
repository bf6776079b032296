"""Time decoding sampled frames with and without shortcuts, and check that they are the same.

    python benchmarks/speed/video.py FILM... [--every 0.5 10 60]

Shortcuts: seeking past groups of packets without a requested frame, and skipping frames that no
other depends on.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from dayline.media import film_decode as video_file
from dayline.media.source import images, read_video


def main() -> None:
    """Print one line per film and step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("films", type=Path, nargs="+")
    parser.add_argument("--every", type=float, nargs="+", default=[0.5, 10.0, 60.0])
    options = parser.parse_args()
    print("film                       every  frames  plain, s  no seek, s  both, s  same")
    for film in options.films:
        for every in options.every:
            sequence = read_video(film, every=every)
            if sequence.video is None or not sequence.video.keys:
                raise SystemExit(f"{film}: is damaged, so that no shortcuts are taken")
            plain = replace(sequence, video=replace(sequence.video, keys={}))
            far_ahead = video_file.FAR_AHEAD
            seconds, results = [], []
            for one, far in ((plain, far_ahead), (sequence, 10**9), (sequence, far_ahead)):
                video_file.FAR_AHEAD = far
                begun = time.perf_counter()
                results.append(dict(images(one, size=256)))
                seconds.append(time.perf_counter() - begun)
            same = all(
                result.keys() == results[0].keys()
                and all(np.array_equal(image, results[0][i]) for i, image in result.items())
                for result in results
            )
            times = "  ".join(f"{value:9.2f}" for value in seconds)
            print(
                f"{film.name[:25]:25s}  {every:5g}  {sequence.n_frames:6d}  {times} "
                f" {'yes' if same else 'NO'}"
            )


if __name__ == "__main__":
    main()
