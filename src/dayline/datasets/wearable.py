"""Simulate a camera worn on the chest: drifting crops, exposure, blur, people in the way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dayline.arrays import FloatArray

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["PHOTO_SIZE", "Glance", "colour_of_grey", "passer_by", "take_photo", "visit"]

PHOTO_SIZE = (448, 336)
COATS = ((38, 44, 62), (92, 36, 40), (58, 70, 58), (120, 112, 100), (30, 30, 32))
SKINS = ((224, 186, 160), (160, 112, 82), (96, 66, 50))


@dataclass(frozen=True)
class Glance:
    """Camera settings of one photo of a place.

    Attributes
    ----------
    x, y : float
        Centre of the crop, in [-1, 1]; at -1 and 1 the crop touches the edge of the photograph.
    zoom : float
        Width of the crop as a fraction of the widest possible one.
    angle : float
        Roll of the camera in degrees.
    exposure : float
        Factor on the brightness of the photograph.
    warmth : float
        Factor on red, and its inverse on blue.
    blur : int
        Length of the motion blur in pixels; no blur below 2.
    blur_axis : int
        0 for vertical, 1 for horizontal motion.
    """

    x: float
    y: float
    zoom: float
    angle: float
    exposure: float
    warmth: float
    blur: int
    blur_axis: int


def visit(n_photos: int, *, zoom: tuple[float, float], rng: np.random.Generator) -> list[Glance]:
    """Draw the camera settings of a visit: a slow drift, small movements, and varying light.

    Parameters
    ----------
    n_photos : int
        Number of photos of the visit.
    zoom : tuple of float
        Narrowest and widest crop, as fractions of the widest possible one.
    rng : numpy.random.Generator
        Random number generator.
    """
    drift = rng.uniform(-0.7, 0.7, 4) + np.cumsum(rng.normal(0.0, 0.16, (n_photos, 4)), axis=0)
    drift = np.sin(drift) + rng.normal(0.0, 0.05, (n_photos, 4))
    light = rng.normal(0.0, 0.08) + 0.04 * np.cumsum(rng.normal(0.0, 1.0, n_photos))
    light += np.where(rng.random(n_photos) < 0.06, rng.choice([-0.45, 0.4], n_photos), 0.0)
    warmth = float(np.exp(rng.normal(0.0, 0.05)))
    # People turn when they arrive and leave, so the first and last photos of a visit are blurred more often.
    chance = np.full(n_photos, 0.09)
    chance[[0, -1]] = 0.4
    blur = np.where(rng.random(n_photos) < chance, rng.integers(6, 26, n_photos), 0)
    axis = rng.choice([0, 1, 1], n_photos)
    middle, reach = (zoom[0] + zoom[1]) / 2, (zoom[1] - zoom[0]) / 2
    return [
        Glance(
            x=float(np.clip(drift[k, 0], -1, 1)),
            y=float(np.clip(drift[k, 1], -1, 1)),
            zoom=float(middle + reach * np.clip(drift[k, 2], -1, 1)),
            angle=float(4.0 * drift[k, 3]),
            exposure=float(np.exp(np.clip(light[k], -0.8, 0.6))),
            warmth=warmth,
            blur=int(blur[k]),
            blur_axis=int(axis[k]),
        )
        for k in range(n_photos)
    ]


def colour_of_grey(grey: Image.Image, above: tuple[float, ...], below: tuple[float, ...]) -> Image.Image:
    """Colour a grey photograph with two tints, one above the other, blended in between.

    Parameters
    ----------
    grey : PIL.Image.Image
        A greyscale photograph.
    above, below : tuple of float
        Factors on red, green and blue.
    """
    from PIL import Image

    values = np.asarray(grey.convert("L"), dtype=np.float32)
    height = np.linspace(0.0, 1.0, len(values), dtype=np.float32)
    share = 1.0 / (1.0 + np.exp(-(height - 0.6) * 24.0))
    tint = (1 - share)[:, None] * np.asarray(above) + share[:, None] * np.asarray(below)
    return Image.fromarray(np.clip(values[:, :, None] * tint[:, None, :], 0, 255).astype(np.uint8))


def take_photo(
    place: Image.Image, glance: Glance, *, rng: np.random.Generator, in_the_way: Image.Image | None = None
) -> Image.Image:
    """Simulate one photo of a place.

    Parameters
    ----------
    place : PIL.Image.Image
        The photograph that represents the place, in RGB.
    glance : Glance
        The camera settings.
    rng : numpy.random.Generator
        Random number generator for the sensor noise.
    in_the_way : PIL.Image.Image, optional
        A transparent layer to draw over the scene, of `PHOTO_SIZE`.
    """
    from PIL import Image

    scene = _crop(place, glance)
    if in_the_way is not None:
        scene = Image.alpha_composite(scene.convert("RGBA"), in_the_way).convert("RGB")
    light = np.asarray(scene, dtype=np.float32)
    if glance.blur > 1:
        from scipy.ndimage import uniform_filter1d

        light = uniform_filter1d(light, glance.blur, axis=glance.blur_axis)
    gain = glance.exposure * np.asarray([glance.warmth, 1.0, 1.0 / glance.warmth], dtype=np.float32)
    light = light * gain * _vignette()[:, :, None]
    # Short exposures are noisier.
    grain = rng.standard_normal(light.shape[:2], dtype=np.float32) * (2.5 / min(glance.exposure, 1.0))
    light += grain[:, :, None]
    return Image.fromarray(np.clip(light, 0, 255).astype(np.uint8))


def _crop(place: Image.Image, glance: Glance) -> Image.Image:
    from PIL import Image

    width, height = PHOTO_SIZE
    # The widest crop that stays inside the photograph when the camera rolls by a few degrees.
    scale = 0.94 * glance.zoom * min(place.width / width, place.height / height)
    reach_x = max(place.width - scale * width * 1.06, 0.0) / 2
    reach_y = max(place.height - scale * height * 1.08, 0.0) / 2
    centre_x = place.width / 2 + glance.x * reach_x
    centre_y = place.height / 2 + glance.y * reach_y
    angle = np.deg2rad(np.clip(glance.angle, -4.0, 4.0) * 0.5)
    cos, sin = float(scale * np.cos(angle)), float(scale * np.sin(angle))
    affine = (
        cos,
        sin,
        centre_x - cos * width / 2 - sin * height / 2,
        -sin,
        cos,
        centre_y + sin * width / 2 - cos * height / 2,
    )
    return place.transform(PHOTO_SIZE, Image.Transform.AFFINE, affine, Image.Resampling.BILINEAR)


@cache
def _vignette() -> FloatArray:
    """Return factors that darken the corners, as a small wide-angle lens does."""
    width, height = PHOTO_SIZE
    x, y = np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)
    return 1.0 - 0.16 * (x[None, :] ** 2 + y[:, None] ** 2)


def passer_by(place_in_photo: float, *, rng: np.random.Generator) -> Image.Image:
    """Draw a person close to the camera, out of focus, as a transparent layer.

    Parameters
    ----------
    place_in_photo : float
        Position of the person: 0 at the left edge, 1 at the right.
    rng : numpy.random.Generator
        Random number generator for size, coat and skin.
    """
    from PIL import Image, ImageDraw, ImageFilter

    width, height = PHOTO_SIZE
    layer = Image.new("RGBA", PHOTO_SIZE, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    coat, skin = COATS[rng.integers(len(COATS))], SKINS[rng.integers(len(SKINS))]
    x, shoulders = place_in_photo * width, rng.uniform(0.5, 0.75) * width
    top = rng.uniform(-0.35, 0.0) * height
    head = shoulders * 0.42
    neck = top + head * 1.2
    body = (x - shoulders / 2, neck, x + shoulders / 2, height * 1.6)
    draw.rounded_rectangle(body, radius=shoulders * 0.3, fill=(*coat, 255))
    shade = tuple(int(value * 0.7) for value in coat)
    for side in (-1, 1):  # shade the arms
        arm = x + side * shoulders * 0.36
        draw.line((arm, neck + shoulders * 0.3, arm, height * 1.6), fill=(*shade, 255), width=int(shoulders * 0.05))
    draw.rectangle((x - head * 0.2, neck - head * 0.25, x + head * 0.2, neck + head * 0.1), fill=(*skin, 255))
    draw.ellipse((x - head / 2, top, x + head / 2, top + head * 1.25), fill=(*skin, 255))
    hair = (x - head * 0.55, top - head * 0.15, x + head * 0.55, top + head)
    draw.pieslice(hair, 180, 360, fill=(40, 30, 26, 255))
    return layer.filter(ImageFilter.GaussianBlur(8)).filter(ImageFilter.BoxBlur((14, 0)))
