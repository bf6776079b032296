"""How many small faults in the method and the partition do the quick tests see?

    python tests/mutations.py                    # 60 mutations, always the same
    python tests/mutations.py --list             # only show them
    python tests/mutations.py --only 17 --aloud  # one of them, with the output of pytest
    python tests/mutations.py -n 120 --first 61  # 60 others

Every mutation changes one operator, comparison, number or term, in a copy of the tree. The tests of
the same module run first, then all quick tests of the method, the decision and the estimators, each
up to its first failure. Shared data are not looked for: the figure holds for every checkout. Needs
`os.fork`: libraries are imported once.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ["tests/method", "tests/decision", "tests/estimators"]
SECONDS = 240
"""A mutation may make a loop endless; that is seen too."""

OPERATORS: dict[type, str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*", ast.Pow: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.MatMult: "*",
}  # fmt: skip
COMPARISONS: dict[type, str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
}  # fmt: skip

ALWAYS = [("decision/partition.py", "stop + min_length, beaten", "stop, beaten")]
"""Faults that went unseen once."""

LBFGS = (
    'options = {"maxiter": max_evaluations, "maxfun": 10 * max_evaluations, "ftol": tolerance,'
    ' "gtol": 1e-9}'
)
EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "method/descent.py",
        LBFGS,
        LBFGS.replace("10 *", "11 *"),
    ): "the objective itself stops at max_evaluations",
    (
        "method/embedding.py",
        "spread = xp.sqrt(xp.where(values > 0, values, xp.zeros_like(values)))",
        "spread = xp.sqrt(xp.where(values >= 0, values, xp.zeros_like(values)))",
    ): "0 either way",
    (
        "method/symmetric.py",
        "@dataclass(frozen=True)",
        "@dataclass(frozen=False)",
    ): "nothing assigns",
    ("method/descent.py", "@dataclass(frozen=True)", "@dataclass(frozen=False)"): "nothing assigns",
    ("method/dge.py", "@dataclass(frozen=True)", "@dataclass(frozen=False)"): "nothing assigns",
    (
        "method/communities.py",
        "scale = np.max(np.abs(points), initial=0.0) or 1.0",
        "scale = np.max(np.abs(points), initial=0.0) or 1.5",
    ): "all points are 0 there",
    (
        "method/denoise.py",
        (
            "low, high = features.min(axis=axis, keepdims=True), features.max(axis=axis,"
            " keepdims=True)"
        ),
        (
            "low, high = features.min(axis=axis, keepdims=True), features.max(axis=axis,"
            " keepdims=False)"
        ),
    ): "broadcasts to the same",
    (
        "method/denoise.py",
        "twice[max(n - search_radius, 0) :] = 2.0",
        "twice[max(n - search_radius, 1) :] = 2.0",
    ): "the first frames are doubled already",
    ("method/symmetric.py", "n = x.shape[0]", "n = x.shape[1]"): "the matrix is square",
    (
        "method/outliers.py",
        "usual = np.partition(apart, kept - 1, axis=1)[:, :kept].mean(axis=1)",
        "usual = np.partition(apart, kept, axis=1)[:, :kept].mean(axis=1)",
    ): "the same values are kept, in another order",
    (
        "method/embedding.py",
        "objective, start, n_steps=n_steps, gradient_of=lambda x: objective(x, with_loss=False)[1]",
        "objective, start, n_steps=n_steps, gradient_of=lambda x: objective(x, with_loss=True)[1]",
    ): "a loss that nothing reads",
    (
        "decision/partition.py",
        "if stop - start > 1:",
        "if stop - start >= 1:",
    ): "the partition of one frame has no boundary",
}
"""Mutations that change no result, by file, line before and line after, with the reason; none of them is drawn."""


@dataclass(frozen=True)
class Mutation:
    file: str
    line: int
    before: str
    after: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.file, self.before, self.after

    def __str__(self) -> str:
        return f"{self.file}:{self.line}\n      - {self.before}\n      + {self.after}"


def modules() -> list[Path]:
    package = ROOT / "src" / "dayline"
    return [*sorted(package.glob("method/[a-z]*.py")), package / "decision" / "partition.py"]


def mutations_of(path: Path) -> Iterator[Mutation]:
    """Yield all mutations of a module, in the order of its lines."""
    text = path.read_text()
    name = path.relative_to(ROOT / "src" / "dayline").as_posix()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def begin(node: ast.expr) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def end(node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.end_lineno - 1] + node.end_col_offset

    def replaced(start: int, stop: int, new: str) -> Mutation:
        return _replaced(name, text, start, stop, new)

    for node in sorted(_expressions(ast.parse(text)), key=lambda n: (begin(n), -end(n))):
        if isinstance(node, ast.BinOp):
            between = text[end(node.left) : begin(node.right)]
            sign = between.strip("() \n")
            at = end(node.left) + between.index(sign)
            yield replaced(at, at + len(sign), OPERATORS[type(node.op)])
            if isinstance(node.op, (ast.Add, ast.Sub)):
                yield replaced(begin(node), end(node), text[begin(node.left) : end(node.left)])
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
            left, right = node.left, node.comparators[0]
            sign = text[end(left) : begin(right)].strip("() \n")
            at = text.index(sign, end(left))
            yield replaced(at, at + len(sign), COMPARISONS[type(node.ops[0])])
        elif isinstance(node, ast.UnaryOp):
            yield replaced(begin(node), begin(node.operand), "")
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            new = 1 - node.value if text[: begin(node)].endswith("axis=") else _nearby(node.value)
            yield replaced(begin(node), end(node), f"{new!r}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield replaced(begin(node), end(node), f"{not node.value}")


def _replaced(name: str, text: str, start: int, stop: int, new: str) -> Mutation:
    source = text[:start] + new + text[stop:]
    line = text.count("\n", 0, start)
    before, after = (t.splitlines()[line].strip() for t in (text, source))
    return Mutation(name, line + 1, before, after, source)


def _nearby(value: float) -> float:
    return value + 1 if isinstance(value, int) else float(f"{value * 1.5:.6g}") or 0.5


def _expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """Walk all that is computed: neither annotations nor the checks of arguments, which have tests of their own."""
    for field, part in ast.iter_fields(tree):
        if field in ("annotation", "returns"):
            continue
        for child in part if isinstance(part, list) else [part]:
            if (
                not isinstance(child, ast.AST)
                or isinstance(child, ast.JoinedStr)
                or _is_check(child)
            ):
                continue
            if isinstance(child, ast.expr):
                yield child
            yield from _expressions(child)


def _is_check(node: ast.AST) -> bool:
    """Whether this is a call of check_..., the raising of an error, a type or the limits of parameters."""
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "COUNTS"
    ):
        return True
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(node, ast.Raise) or (isinstance(called, ast.Name) and "check_" in called.id)


def draw(n: int) -> list[Mutation]:
    """Choose mutations, from every module in turn.

    A hash of what they change decides, so that edits elsewhere leave the choice alone.
    """
    possible = {path: list(mutations_of(path)) for path in modules()}
    keys = {m.key for found in possible.values() for m in found}
    print(
        f"{sum(map(len, possible.values()))} possible mutations, {len(EQUIVALENT)} known to change"
        " no result"
    )
    for key in EQUIVALENT.keys() - keys:
        print(f"no longer possible: {key}")
    drawn = [_always(*fault) for fault in ALWAYS]
    chosen = {m.key for m in drawn} | EQUIVALENT.keys()
    queues = [
        sorted(
            (m for m in found if m.key not in chosen),
            key=lambda m: hashlib.sha256(str(m.key).encode()).digest(),
        )
        for found in possible.values()
    ]
    in_turn = (m for turn in zip_longest(*queues) for m in turn if m is not None)
    return [*drawn, *islice(in_turn, n - len(drawn))]


def _always(name: str, before: str, after: str) -> Mutation:
    text = (ROOT / "src" / "dayline" / name).read_text()
    start = text.index(before)
    return _replaced(name, text, start, start + len(before), after)


def first_tests(mutation: Mutation) -> list[str]:
    folder, stem = Path(mutation.file).parent, Path(mutation.file).stem
    return [f"tests/{folder}/test_{stem}.py"]


def run_tests(tree: Path, tests: list[str], *, aloud: bool) -> int:
    """Run tests of a copy in a child process; return the exit code of pytest, or 1 if it takes too long."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            os._exit(_pytest(tree, tests, aloud=aloud))
        finally:
            os._exit(3)  # an exception must not leave the child in the loop of its parent
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1


def _pytest(tree: Path, tests: list[str], *, aloud: bool) -> int:
    import pytest

    os.chdir(tree)
    shutil.rmtree(".hypothesis", ignore_errors=True)
    sys.path.insert(0, str(tree / "src"))
    os.environ |= {"PYTHONPATH": str(tree / "src"), "DAYLINE_SHARED": str(tree / "none")}
    if not aloud:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
    options = ["-x", "-q", "-m", "not slow", "--hypothesis-seed=0", "-p", "no:cacheprovider"]
    return int(pytest.main([*options, *tests]))


def is_caught(tree: Path, mutation: Mutation, *, aloud: bool = False) -> bool:
    """Whether any test fails with the mutation; the copy is mended afterwards."""
    path = tree / "src" / "dayline" / mutation.file
    original = path.read_text()
    path.write_text(mutation.source)
    try:
        for tests in (first_tests(mutation), ["tests/method/test_authors_figures.py", *FOLDERS]):
            code = run_tests(tree, tests, aloud=aloud)
            if code not in (0, 1, 2):  # passed, failed, could not be imported
                raise RuntimeError(f"pytest itself failed with code {code}")
            if code:
                return True
    finally:
        path.write_text(original)
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=60, help="how many mutations")
    parser.add_argument("--list", action="store_true", help="show them and stop")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of the mutations to try")
    parser.add_argument("--first", type=int, default=1, help="number of the first one to try")
    parser.add_argument("--aloud", action="store_true", help="show the output of pytest")
    arguments = parser.parse_args()
    mutations = dict(enumerate(draw(arguments.n), start=1))
    if arguments.list:
        for number, mutation in mutations.items():
            print(f"{number:4d}  {mutation}")
        return
    os.environ["OMP_NUM_THREADS"] = "1"
    sys.dont_write_bytecode = True
    for library in ("scipy.optimize", "scipy.signal", "sklearn.cluster", "torch"):
        importlib.import_module(library)

    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "dayline"
        shutil.copytree(
            ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "results", "demo")
        )
        if not arguments.only and run_tests(tree, FOLDERS, aloud=arguments.aloud):
            sys.exit("the tests fail without any mutation")
        chosen = arguments.only or [number for number in mutations if number >= arguments.first]
        survived = []
        for number in chosen:
            began = time.monotonic()
            caught = is_caught(tree, mutations[number], aloud=arguments.aloud)
            if not caught:
                survived.append(number)
            seconds = time.monotonic() - began
            print(
                f"{number:4d}  {'caught' if caught else 'SURVIVED'} ({seconds:.0f} s) "
                f" {mutations[number]}",
                flush=True,
            )
    n_caught = len(chosen) - len(survived)
    print(
        f"{n_caught} of {len(chosen)} caught ({n_caught / len(chosen):.0%}); survived:"
        f" {survived or 'none'}"
    )


if __name__ == "__main__":
    main()
