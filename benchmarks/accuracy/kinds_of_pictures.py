"""Sequences of pictures: handwritten digits and walks over photos (see other_kinds.py)."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from archives import Archive, Made, changes
from sklearn.datasets import load_digits

PHOTOS = (
    "astronaut.png", "brick.png", "camera.png", "cell.png", "chelsea.png", "clock_motion.png",
    "coffee.png",
    "coins.png", "grass.png", "gravel.png", "hubble_deep_field.jpg", "ihc.png", "moon.png",
    "motorcycle_left.png",
    "page.png", "retina.jpg", "rocket.jpg", "text.png",
)  # fmt: skip


def digits(folder: Path) -> Made:  # noqa: ARG001
    pictures, labels = load_digits(return_X_y=True)
    random = np.random.default_rng(41)
    left = [list(random.permutation(np.flatnonzero(labels == digit))) for digit in range(10)]
    for k in range(7):
        some: list[int] = []
        before = -1
        while len(some) < 230:
            length = int(random.integers(3, 16))
            fitting = [d for d in range(10) if d != before and len(left[d]) >= length]
            before = int(random.choice(fitting))
            some += left[before][:length]
            left[before] = left[before][length:]
        yield f"group{k}", pictures[some], changes(labels[some]), 1


def view(part: np.ndarray) -> np.ndarray:
    """Return the square roots of the shares of colors and edge directions in a small picture."""
    colors = [np.bincount((part[..., c] // 32).ravel(), minlength=8) for c in range(3)]
    down, right = np.gradient(part.mean(axis=2))
    direction = (8 * (np.arctan2(down, right) / (2 * np.pi) + 0.5)).astype(int) % 8
    edges = np.bincount(direction.ravel(), np.hypot(down, right).ravel() / 16, minlength=8)
    return np.sqrt(np.concatenate([*colors, edges]) / part[..., 0].size)


def walk(
    size: tuple[int, int], window: int, n_steps: int, random: np.random.Generator
) -> np.ndarray:
    """Return corners of a window that moves over a picture with jitter and turns at the edges."""
    room = np.asarray(size) - window
    at, speed = random.uniform(0, room), random.uniform(-4, 4, 2)
    path = at + np.arange(n_steps)[:, None] * speed + random.normal(0, 2, (n_steps, 2))
    return np.rint(room - np.abs(path % (2 * room) - room)).astype(int)


def photos(folder: Path) -> Made:
    from PIL import Image

    archive = Archive(folder, "scikit-image==0.25.2")
    found = [
        np.asarray(Image.open(io.BytesIO(archive.read(f"skimage/data/{n}"))).convert("RGB"))
        for n in PHOTOS
    ]
    random = np.random.default_rng(42)
    for k in range(8):
        rows, lengths = [], []
        for i in random.permutation(len(found))[: 5 + k]:
            corners = walk(found[i].shape[:2], 80, int(random.integers(12, 60)), random)
            rows += [view(found[i][y : y + 80, x : x + 80]) for y, x in corners]
            lengths.append(len(corners))
        yield f"group{k}", np.asarray(rows), np.cumsum(lengths)[:-1], 2
