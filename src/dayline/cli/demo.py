"""`dayline demo`: a made sequence, segmented and compared with its truth."""

from __future__ import annotations

from pathlib import Path

import typer

__all__ = ["demo"]


def demo(
    output: Path = typer.Option(Path("demo"), "--output", "-o", help="Folder for the result."),
    seed: int = typer.Option(0, help="Another seed makes another sequence."),
) -> None:
    """Make a sequence with known events, segment it and say how well that went."""
    import numpy as np

    from dayline.cli.evaluate import Protocol, evaluate
    from dayline.cli.segment import Method, segment
    from dayline.datasets.synthetic import make_communities
    from dayline.files import prepare_output, writing_whole

    folder = prepare_output(output)
    made = make_communities(600, stay=400.0, n_features=16, random_state=seed)
    features = folder / "features.npz"
    with writing_whole(features, "wb") as file:
        np.savez(file, features=made.features, boundaries=made.boundaries)
    segment(
        features, folder, Method.default, key=None, transpose=False, interpolate=False, n_events=None,
        min_duration=None, expected_duration=None, level=0, device="cpu", quiet=False, as_json=False,
    )  # fmt: skip
    typer.echo("")
    evaluate(folder / "events.json", features, 5, Protocol.interior, None, as_json=False)
    typer.echo(f"\nThe events are in {folder}/events.json and {folder}/events.csv.")
