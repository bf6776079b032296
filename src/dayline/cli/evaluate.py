"""`dayline evaluate`: found boundaries against true ones, with controls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

if TYPE_CHECKING:
    from dayline.arrays import IntArray
    from dayline.metrics import BoundaryScore

N_DRAWS = 100
"""Of random cuts, whose scores are averaged."""

Protocol: TypeAlias = Literal["interior", "ces"]


def evaluate(
    found: Annotated[
        Path, typer.Argument(help="events.json, or a list of boundaries (.csv, .txt, .npy, .npz).")
    ],
    true: Annotated[
        Path,
        typer.Argument(help="True boundaries, in the same formats; .npz may hold labels instead."),
    ],
    tolerance: Annotated[int, typer.Option(min=0, help="Frames a boundary may be off.")] = 5,
    protocol: Annotated[
        Protocol, typer.Option(help="How to count: interior, or as the papers do (ces).")
    ] = "interior",
    n_frames: Annotated[
        int | None, typer.Option(min=1, help="Length of the sequence, if neither file has it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score found boundaries against true ones, with controls."""
    import json

    from dayline.research.datasets.annotations import read_boundaries

    ours, truth = read_boundaries(found), read_boundaries(true)
    lengths = {n for n in (n_frames, ours.n_frames, truth.n_frames) if n is not None}
    if len(lengths) > 1:
        raise ValueError(
            f"{found} and {true} have different lengths: {' and '.join(map(str, sorted(lengths)))}"
            " frames"
        )
    rows = _scores(
        ours.boundaries, truth.boundaries, tolerance, protocol, next(iter(lengths), None)
    )
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
    else:
        _print_rows(rows)


def _scores(
    found: IntArray,
    true: IntArray,
    tolerance: int,
    protocol: Protocol,
    n_frames: int | None,
) -> list[dict[str, Any]]:
    """Score the found boundaries and, if the length is known, the controls."""
    from dayline.metrics import equal_pieces, no_boundaries, random_cuts, score_boundaries

    def row(boundaries: IntArray) -> BoundaryScore:
        return score_boundaries(
            boundaries, true, tolerance=tolerance, protocol=protocol, n_frames=n_frames
        )

    rows = [_row("found", [row(found)])]
    if n_frames is not None:
        cuts = [
            row(random_cuts(n_frames, len(found) + 1, random_state=seed)) for seed in range(N_DRAWS)
        ]
        rows += [
            _row("equal pieces (true number)", [row(equal_pieces(n_frames, len(true) + 1))]),
            _row(f"random cuts (found number, mean of {N_DRAWS} draws)", cuts),
            _row("none", [row(no_boundaries(n_frames))]),
        ]
    return rows


def _row(what: str, scores: list[BoundaryScore]) -> dict[str, Any]:
    total, draws = sum(scores[1:], scores[0]), len(scores)
    counts = {name: getattr(total, name) for name in ("n_matched", "n_found", "n_true")}
    return {"what": what, "f1": total.f1, "precision": total.precision, "recall": total.recall} | {
        name: n / draws if n % draws else n // draws for name, n in counts.items()
    }


def _print_rows(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "F1", "precision", "recall", "matched", "found", "true"):
        table.add_column(heading, justify="right" if heading else "left")
    for r in rows:
        scores = [f"{r[k]:.3f}" for k in ("f1", "precision", "recall")]
        table.add_row(
            str(r["what"]), *scores, *(str(r[k]) for k in ("n_matched", "n_found", "n_true"))
        )
    Console().print(table)
