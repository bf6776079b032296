"""Packages that only some tasks need; they come with `pip install "dayline[EXTRA]"`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

__all__ = ["MissingExtraError", "needs_extra"]

# The packages by the names under which they are imported.
_PHOTOS = ("PIL", "av", "google", "onnxruntime", "pillow_heif", "platformdirs")
_PACKAGES: Mapping[str, tuple[str, ...]] = {"photos": _PHOTOS, "demo": (*_PHOTOS, "skimage")}


class MissingExtraError(ValueError):
    """A package that the task needs is not installed; the message says how to install it."""


@contextmanager
def needs_extra(extra: str, task: str) -> Iterator[None]:
    """Say which extra to install if one of its packages is missing. Also a decorator.

    Parameters
    ----------
    extra : str
        "photos" or "demo".
    task : str
        What needs it, as the subject of a sentence: "reading photos".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # Any other missing module is a bug of ours.
        if (error.name or "").partition(".")[0] not in _PACKAGES[extra]:
            raise
        raise MissingExtraError(
            f'{task} needs more packages ({error.name} is missing); pip install "dayline[{extra}]"'
        ) from error
