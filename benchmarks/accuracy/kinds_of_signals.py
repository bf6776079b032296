"""Sequences of measured signals, from nights to proteins (see other_kinds.py)."""

from __future__ import annotations

import codecs
import csv
import io
import pickle
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
from archives import Archive, Made, changes, recordings, shuffled, without_short_runs
from scipy import ndimage


def wrist_rows(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return activity and light of every epoch of an actigraph, and its state.

    1 active, 0 at rest, -1 missing.
    """
    lines = list(csv.reader(content.decode("utf-8-sig").splitlines()))
    head = next(
        k
        for k, cells in enumerate(lines)
        if cells and cells[0] in ("Line", "Ligne", "Zeile") and len(cells) > 7
    )
    wanted = [
        k
        for k, cell in enumerate(lines[head])
        if cell.startswith(("Activit", "Aktivit", "White", "Lumi", "Weiß"))
    ]
    status = next(
        k for k, cell in enumerate(lines[head]) if cell.startswith(("Interval", "Statut de"))
    )
    rows, states = [], []
    for cells in lines[head + 1 :]:
        if len(cells) > status:
            numbers = [cells[k].replace(",", ".") for k in wanted]
            known = "NAN" not in numbers and "kZ" not in numbers and "NaN" not in numbers
            rows.append([float(v) if known else 0.0 for v in numbers])
            active, rest = (
                "ACT" in cells[status] or "AKT" in cells[status],
                "RE" in cells[status] or "RUH" in cells[status],
            )
            states.append((1 if active else 0 if rest else -1) if known else -1)
    return np.asarray(rows), np.asarray(states)


def nights(folder: Path) -> Made:
    archive = Archive(folder, "pyActigraphy==1.2.2")
    for name, seconds in (("eng", 30), ("fr", 60), ("ger_no_light", 30), ("ger_with_light", 30)):
        rows, states = wrist_rows(archive.read(f"tests/data/test_sample_rpx_{name}.csv"))
        each = 300 // seconds
        n = len(rows) // each
        means = np.log1p(rows[: n * each].reshape(n, each, -1)).mean(axis=1)
        blocks = states[: n * each].reshape(n, each)
        still = ndimage.binary_opening(
            means[:, 0] == 0, np.ones(72)
        )  # six hours: the watch lies on a table
        missing, active = (blocks < 0).any(axis=1) | still, (blocks > 0).mean(axis=1) > 0.5
        ends = np.concatenate([[0], changes(missing), [n]])
        for start, stop in pairwise(ends):
            for k, part in enumerate(
                np.array_split(np.arange(start, stop), max(1, (stop - start) // 864))
            ):
                found = changes(without_short_runs(active[part].astype(int), 6))
                if not missing[start] and len(part) >= 500 and len(found) >= 2:
                    yield f"{name}_{start:04d}_{k}", means[part], found, 3


def appliances(folder: Path) -> Made:
    series, labels = recordings(Archive(folder, "sktime==1.0.2"), "ACSF1")
    random = np.random.default_rng(21)
    order = random.permutation(len(series))
    for k in range(10):
        some = order[20 * k : 20 * k + 3 + k % 5]
        some = some[shuffled(labels[some], random)]
        parts = []
        for i in some:  # the four measured quantities of every moment follow each other
            length = int(random.integers(120, 300))
            parts.append(series[i].reshape(-1, 4)[:length])
        yield f"group{k}", np.concatenate(parts), np.cumsum([len(p) for p in parts])[:-1], 5


def seasons(folder: Path) -> Made:
    series, labels = recordings(Archive(folder, "sktime==1.0.2"), "ItalyPowerDemand")
    days = np.concatenate([s.T for s in series])
    random = np.random.default_rng(22)
    left = [
        list(random.permutation(np.flatnonzero(labels == label))) for label in np.unique(labels)
    ]
    for k in range(5):
        parts: list[np.ndarray] = []
        now = k % 2
        while sum(map(len, parts)) < 160 and len(left[now]) >= (
            length := int(random.integers(14, 60))
        ):
            parts.append(days[left[now][:length]])
            left[now] = left[now][length:]
            now = 1 - now
        yield f"group{k}", np.concatenate(parts), np.cumsum([len(p) for p in parts])[:-1], 3


class ArraysOnly(pickle.Unpickler):
    """Reads pickled arrays, and refuses whatever else a pickle could call."""

    def find_class(self, module: str, name: str) -> object:
        """Return one of the few things that a pickled array is made with."""
        return {
            "numpy.core.multiarray._reconstruct": lambda *_: np.ndarray((0,)),
            "numpy.ndarray": np.ndarray,
            "numpy.dtype": np.dtype,
            "_codecs.encode": codecs.encode,
        }[f"{module}.{name}"]


def exercises(folder: Path) -> Made:
    file = io.BytesIO(Archive(folder, "seglearn==1.2.5").read("seglearn/data/watch_dataset.npy"))
    np.lib.format.read_magic(file)
    np.lib.format.read_array_header_1_0(file)
    found = ArraysOnly(file).load().item()
    person, side = np.asarray(found["subject"]), np.asarray(found["side"])
    random = np.random.default_rng(23)
    for k, who in enumerate(np.unique(person)):
        some = random.permutation(np.flatnonzero((person == who) & (side == k % 2)))[: 3 + k % 5]
        speeds = [np.linalg.norm(found["X"][i][:, 3:], axis=1) for i in some]
        parts = [speed[: len(speed) // 10 * 10].reshape(-1, 10).mean(axis=1) for speed in speeds]
        yield (
            f"person{who:02d}",
            np.concatenate(parts)[:, None],
            np.cumsum([len(p) for p in parts])[:-1],
            5,
        )


def table(text: str, category: str) -> list[dict[str, str]]:
    """Return the rows of one table of a macromolecular CIF file."""
    block = next((b for b in text.split("\n#") if b.strip().startswith(f"loop_\n_{category}.")), "")
    lines = block.strip().splitlines()[1:]
    names = [line.strip().split(".")[1] for line in lines if line.startswith(f"_{category}.")]
    cells = [shlex.split(line) if "'" in line else line.split() for line in lines[len(names) :]]
    return [dict(zip(names, row, strict=True)) for row in cells if len(row) == len(names)]


def backbone(atoms: np.ndarray) -> np.ndarray:
    """Return distances between near residues, and dihedral angles of four as sine and cosine."""
    n = len(atoms)
    at = np.clip(np.arange(n)[:, None] + np.arange(-2, 3), 0, n - 1)
    far = [
        np.minimum(np.linalg.norm(atoms[at[:, a]] - atoms[at[:, b]], axis=1), 16.0)
        for a, b in ((1, 3), (0, 3), (1, 4), (0, 4))
    ]
    steps = np.diff(atoms[at], axis=1)
    one, two = np.cross(steps[:, 0], steps[:, 1]), np.cross(steps[:, 1], steps[:, 2])
    across = (steps[:, 0] * two).sum(axis=1) * np.linalg.norm(steps[:, 1], axis=1)
    angle = np.arctan2(across, (one * two).sum(axis=1))
    return np.stack([*far, np.sin(angle), np.cos(angle)], axis=1)


def proteins(folder: Path) -> Made:
    archive = Archive(folder, "biopython==1.84")
    for ending in archive.endings("Tests/PDB/", ".cif"):
        text = archive.read(ending).decode()
        shapes = [(r, "helix") for r in table(text, "struct_conf")]
        shapes += [(r, "strand") for r in table(text, "struct_sheet_range")]
        atoms: dict[tuple[str, str], dict[int, list[float]]] = {}
        for r in table(text, "atom_site"):
            if (
                r["group_PDB"] == "ATOM"
                and r["label_atom_id"] == "CA"
                and r["pdbx_PDB_model_num"] == "1"
            ):
                place = [float(r[f"Cartn_{axis}"]) for axis in "xyz"]
                atoms.setdefault((r["label_entity_id"], r["label_asym_id"]), {}).setdefault(
                    int(r["label_seq_id"]), place
                )
        for kind, chain in dict(reversed(atoms)).items():  # the first chain of every molecule
            residues = atoms[kind, chain]
            numbers = np.asarray(sorted(residues))
            labels = np.full(len(numbers), "neither")
            for r, shape in shapes:
                if r["beg_label_asym_id"] == chain:
                    labels[
                        (numbers >= int(r["beg_label_seq_id"]))
                        & (numbers <= int(r["end_label_seq_id"]))
                    ] = shape
            found = changes(without_short_runs(labels, 3))
            if len(numbers) >= 100 and len(found) >= 5:
                yield (
                    Path(ending).stem.lower() + chain.lower(),
                    backbone(np.asarray([residues[k] for k in numbers])),
                    found,
                    1,
                )
