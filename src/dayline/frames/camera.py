"""Which camera took a photo: from its EXIF data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PIL import Image

from dayline.frames.names import shown_name

__all__ = ["Camera", "camera_of"]

MAKE, MODEL, SERIAL, EXIF_FOLDER = 0x010F, 0x0110, 0xA431, 0x8769
LONGEST = 80


@dataclass(frozen=True)
class Camera:
    """A camera, as far as its photos name it.

    Attributes
    ----------
    model : str
        Make and model, such as "Canon EOS 5D"; empty if unknown.
    serial : str
        Serial number of the body; empty if unknown.
    """

    model: str = ""
    serial: str = ""


def camera_of(image: Image.Image) -> Camera:
    """Read make, model and serial number of the camera from the EXIF data of a photo."""
    try:
        exif = image.getexif()
        make, model = _text(exif.get(MAKE)), _text(exif.get(MODEL))
        serial = _text(exif.get_ifd(EXIF_FOLDER).get(SERIAL))
    except Exception:  # broken EXIF counts as missing, as for times
        return Camera()
    # Many cameras repeat the make in the model: "Canon", "Canon EOS 5D".
    whole = model if not make or model.casefold().startswith(make.split()[0].casefold()) else f"{make} {model}"
    return Camera(whole.strip(), serial)


def _text(value: Any) -> str:
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else str(value or "")
    return shown_name(" ".join(text.replace("\0", " ").split()).encode("utf-8", "replace").decode())[:LONGEST]
