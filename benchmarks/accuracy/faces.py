"""Count the faces that CenterFace and OpenCV's Haar cascades miss, and their false alarms.

Faces: scikit-image's astronaut (NASA, public domain), turned and in several sizes, and its 100
small gray faces, pasted into its pictures without people.

    python benchmarks/accuracy/faces.py [--photos FOLDER] [--every N]

With --photos, photos with at least one detection are counted too. The cascades need
opencv-python-headless below 5, which dayline no longer does.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter
from skimage import data

from dayline.media.faces import face_finder
from dayline.media.photos import read_photo_folder
from dayline.media.source import images

Pixels = NDArray[np.uint8]
Boxes = list[tuple[float, float, float, float]]

HEAD = (150, 0, 300, 200)  # of the astronaut: left, top, right, bottom
FACE = (182, 58, 270, 178)
BACKGROUNDS = ("coffee", "chelsea", "rocket", "brick", "grass", "stereo_motorcycle")
HEIGHTS = (20, 30, 45, 70, 110)
ANGLES = (0, 15, -15, 30, -30, 60, 90, 180)
MARGIN = 0.25
"""The part of a box's size by which `blur_box` enlarges it on each side."""


@dataclass(frozen=True)
class Scene:
    """A picture and its faces, each with the group in which it is counted."""

    pixels: Pixels
    faces: list[tuple[str, tuple[float, float, float, float]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--photos", type=Path, help="folder of photos, in which detections are counted"
    )
    parser.add_argument(
        "--every", type=int, default=6, help="use only every n-th photo (default 6)"
    )
    asked = parser.parse_args()

    finders = {f"CenterFace >= {c:g}": _centerface(c) for c in (0.15, 0.5)} | _haar()
    made = list(_scenes())
    blank = [Scene(_background(name), []) for name in BACKGROUNDS]
    for name, find in finders.items():
        _report(name, find, [*made, *blank])
    if asked.photos is not None:
        sequence = read_photo_folder(asked.photos)
        photos = [
            image
            for _, image in images(
                sequence, size=480, indices=range(0, sequence.n_frames, asked.every)
            )
        ]
        for name, find in finders.items():
            started = perf_counter()
            n_found = sum(bool(find(photo)) for photo in photos)
            seconds = (perf_counter() - started) / len(photos)
            print(f"{name}: a face on {n_found} of {len(photos)} photos, {seconds:.3f} s per photo")


def _report(name: str, find: Callable[[Pixels], Boxes], scenes: list[Scene]) -> None:
    started = perf_counter()
    found = [find(scene.pixels) for scene in scenes]
    seconds = (perf_counter() - started) / len(scenes)
    counts: dict[str, list[int]] = {}
    n_false = 0
    for scene, boxes in zip(scenes, found, strict=True):
        for group, face in scene.faces:
            missed_and_all = counts.setdefault(group, [0, 0])
            missed_and_all[0] += not any(_hides(box, face) for box in boxes)
            missed_and_all[1] += 1
        n_false += sum(not any(_touches(box, face) for _, face in scene.faces) for box in boxes)
    groups = ", ".join(f"{group} {missed}/{n}" for group, (missed, n) in counts.items())
    missed, n = (sum(each[k] for each in counts.values()) for k in (0, 1))
    print(
        f"{name}: {missed} of {n} faces missed ({groups}); {n_false} false alarms; {seconds:.3f} s"
        " per picture"
    )


def _hides(box: tuple[float, ...], face: tuple[float, ...]) -> bool:
    """Whether the blurred box covers at least two thirds of the face."""
    left, top, right, bottom = box
    aside, above = MARGIN * (right - left), MARGIN * (bottom - top)
    width = min(right + aside, face[2]) - max(left - aside, face[0])
    height = min(bottom + above, face[3]) - max(top - above, face[1])
    return (
        width > 0
        and height > 0
        and 3 * width * height >= 2 * (face[2] - face[0]) * (face[3] - face[1])
    )


def _touches(box: tuple[float, ...], face: tuple[float, ...]) -> bool:
    return box[0] < face[2] and face[0] < box[2] and box[1] < face[3] and face[1] < box[3]


def _scenes() -> Iterator[Scene]:
    """Paste four heads into each picture."""
    heads = [(f"turned {abs(a)}", _astronaut(h, a)) for a in ANGLES for h in HEIGHTS]
    heads += [
        (f"gray, {h} px", _gray(face, h)) for h in (50, 100) for face in data.lfw_subset()[:100]
    ]
    for first in range(0, len(heads), 4):
        scene = Image.fromarray(_background(BACKGROUNDS[first // 4 % len(BACKGROUNDS)]))
        faces = []
        for k, (group, (head, mask, (left, top, right, bottom))) in enumerate(
            heads[first : first + 4]
        ):
            x, y = 160 + 320 * (k % 2) - head.width // 2, 120 + 240 * (k // 2) - head.height // 2
            scene.paste(head, (x, y), mask)
            faces.append((group, (x + left, y + top, x + right, y + bottom)))
        yield Scene(np.asarray(scene), faces)


def _astronaut(
    height: int, angle: int
) -> tuple[Image.Image, Image.Image, tuple[float, float, float, float]]:
    """Cut out the head, turned about the middle of the face, with a face of this height."""
    whole = Image.fromarray(data.astronaut())
    middle = ((FACE[0] + FACE[2]) / 2, (FACE[1] + FACE[3]) / 2)
    reach = 120
    square = whole.rotate(angle, Image.Resampling.BICUBIC, center=middle).crop(
        tuple(round(m + side) for side in (-reach, reach) for m in middle)
    )
    mask = Image.new("L", whole.size)
    ImageDraw.Draw(mask).ellipse(HEAD, fill=255)
    mask = mask.rotate(angle, center=middle).crop(
        tuple(round(m + side) for side in (-reach, reach) for m in middle)
    )
    side = round(2 * reach * height / (FACE[3] - FACE[1]))
    small = square.resize((side, side), Image.Resampling.BICUBIC)
    turn = np.deg2rad(angle)
    corners = np.asarray([(x, y) for x in (FACE[0], FACE[2]) for y in (FACE[1], FACE[3])]) - middle
    turned = corners @ np.asarray([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    half = np.abs(turned).max(axis=0) * side / (2 * reach)
    # The box around a turned face is larger than the face; its inner part counts.
    half *= 1 / (np.abs(np.cos(turn)) + np.abs(np.sin(turn)))
    box = (side / 2 - half[0], side / 2 - half[1], side / 2 + half[0], side / 2 + half[1])
    soft = mask.resize((side, side)).filter(ImageFilter.GaussianBlur(side / 60))
    return small, soft, box


def _gray(
    face: NDArray[np.float64], side: int
) -> tuple[Image.Image, Image.Image, tuple[float, float, float, float]]:
    picture = Image.fromarray(np.round(255 * face).astype(np.uint8)).resize(
        (side, side), Image.Resampling.BICUBIC
    )
    mask = Image.new("L", (side, side))
    ImageDraw.Draw(mask).ellipse((0, 0, side, side), fill=255)
    soft = mask.filter(ImageFilter.GaussianBlur(side / 25))
    return picture.convert("RGB"), soft, (0.15 * side, 0.1 * side, 0.85 * side, 0.95 * side)


def _background(name: str) -> Pixels:
    picture = data.stereo_motorcycle()[0] if name == "stereo_motorcycle" else getattr(data, name)()
    return np.asarray(
        Image.fromarray(picture).convert("RGB").resize((640, 480), Image.Resampling.BICUBIC)
    )


def _centerface(least_confidence: float) -> Callable[[Pixels], Boxes]:
    find = face_finder(least_confidence=least_confidence)
    return lambda pixels: [tuple(row[:4]) for row in find(pixels).tolist()]


def _haar() -> dict[str, Callable[[Pixels], Boxes]]:
    """Return the detectors of dayline 0.1.0.

    Three cascades, the one of profiles also on the mirrored image.
    """
    try:
        import cv2
    except ModuleNotFoundError:
        return {}
    if not hasattr(cv2, "CascadeClassifier"):
        return {}
    names = ("frontalface_default", "frontalface_alt2", "profileface")
    cascades = [
        cv2.CascadeClassifier(f"{cv2.data.haarcascades}haarcascade_{name}.xml") for name in names
    ]

    def find(pixels: Pixels) -> Boxes:
        scale = min(1.0, 640 / max(pixels.shape[:2]))
        gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
        gray = cv2.equalizeHist(
            cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        )
        smallest = (max(20, max(gray.shape) // 30),) * 2
        asked = {"scaleFactor": 1.1, "minNeighbors": 2, "minSize": smallest}
        boxes = [box for each in cascades for box in each.detectMultiScale(gray, **asked)]
        mirrored = cascades[2].detectMultiScale(np.ascontiguousarray(gray[:, ::-1]), **asked)
        boxes += [(gray.shape[1] - x - width, y, width, height) for x, y, width, height in mirrored]
        return [
            tuple(v / scale for v in (x, y, x + width, y + height)) for x, y, width, height in boxes
        ]

    return {"Haar cascades": find}


if __name__ == "__main__":
    main()
