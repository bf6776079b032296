"""Make the pages of the gallery from the scripts beside this file.

python examples/gallery/build.py [NAME ...]

Each script becomes docs/gallery/NAME.md: its docstring and the comments below `# %%` are the prose,
the code is shown with its output, and NAME.png, which the script saves, is at the top. The
docstring has a title, a summary for the index, more paragraphs if needed, and a last one, "Figure:
...", that describes the figure.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from dayline.files import write_text_whole, writing_whole

HERE = Path(__file__).parent
PAGES = HERE.parents[1] / "docs" / "gallery"
ORDER = (
    "synthetic",
    "photos",
    "film",
    "motion",
    "sensors",
    "taught",
    "side_by_side",
    "one_boundary",
)
"""Scripts in the order of the index."""

MOST_BYTES = 150_000
THUMBNAIL_WIDTH = 330


class GalleryError(ValueError):
    """A script does not have the form of the gallery."""


@dataclass(frozen=True)
class Cell:
    """Prose, and the code below it, which starts on a given line of the script."""

    prose: str
    code: str
    line: int


@dataclass(frozen=True)
class Script:
    """A script in its parts."""

    name: str
    title: str
    paragraphs: tuple[str, ...]
    figure: str
    cells: tuple[Cell, ...]


def read_script(path: Path) -> Script:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    about = ast.get_docstring(tree)
    paragraphs = [" ".join(part.split()) for part in (about or "").split("\n\n")]
    if len(paragraphs) < 3 or not paragraphs[-1].startswith("Figure: "):
        raise GalleryError(
            f'{path}: its docstring needs a title, a summary and "Figure: ...", with blank lines'
            " between"
        )
    lines = source.splitlines()
    starts = [i for i, line in enumerate(lines) if line.strip() == "# %%"]
    cells = [
        _cell(lines, start + 1, stop)
        for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]
    outside = "\n".join(lines[tree.body[0].end_lineno : starts[0] if starts else None]).strip()
    if outside:
        raise GalleryError(f"{path}: code before the first # %% would not be shown")
    title, *rest = paragraphs
    return Script(
        path.stem,
        title.rstrip("."),
        tuple(rest[:-1]),
        rest[-1].removeprefix("Figure: "),
        tuple(cells),
    )


def _cell(lines: Sequence[str], start: int, stop: int) -> Cell:
    first = start
    while first < stop and lines[first].startswith("#"):
        first += 1
    prose = "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[start:first])
    return Cell(prose.strip(), "\n".join(lines[first:stop]).strip("\n"), first)


def run_script(script: Script) -> tuple[list[str], bytes]:
    """Run a script in an empty folder; return what every cell prints, and the figure."""
    os.environ["MPLBACKEND"] = "Agg"
    known: dict[str, object] = {"__name__": "__main__"}
    printed = []
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for cell in script.cells:
            # Blank lines before the code, so that errors name the line of the script.
            code = compile("\n" * cell.line + cell.code, f"{script.name}.py", "exec")
            with redirect_stdout(io.StringIO()) as output:
                exec(code, known)
            printed.append(output.getvalue().rstrip())
        figure = Path(f"{script.name}.png")
        if not figure.is_file():
            raise GalleryError(f"{script.name}.py does not save {figure}")
        content = figure.read_bytes()
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    return printed, content


def page_text(script: Script, printed: Sequence[str]) -> str:
    """Return the page; the output of a cell is left out if it is empty."""
    parts = [
        (
            f"<!-- Made by examples/gallery/build.py from {script.name}.py: edit that file, then"
            " run `make gallery`. -->"
        ),
        f"# {script.title}",
        f"![{script.title}](images/{script.name}.png)",
        f"*{script.figure}*",
        *script.paragraphs,
    ]
    for cell, output in zip(script.cells, printed, strict=True):
        parts += [cell.prose] if cell.prose else []
        parts += [f"```python\n{cell.code.strip()}\n```"] if cell.code.strip() else []
        parts += [f"```text\n{output}\n```"] if output else []
    parts.append(
        f"The whole script is `examples/gallery/{script.name}.py`. [All examples](index.md)"
    )
    return "\n\n".join(parts) + "\n"


def index_text(scripts: Sequence[Script]) -> str:
    parts = [
        "<!-- Made by examples/gallery/build.py: edit the scripts, then run `make gallery`. -->",
        "# Gallery",
        (
            "Each example is one script in `examples/gallery/` that runs in seconds, on data that"
            " it makes itself or on photographs without known copyright restrictions. `make"
            " gallery` runs all of them and writes these pages."
        ),
    ]
    for script in scripts:
        page = f"{script.name}.md"
        parts += [f"## [{script.title}]({page})", script.paragraphs[0]]
        parts += [f"[![{script.title}](images/{script.name}-small.png)]({page})"]
    return "\n\n".join(parts) + "\n"


def save_figure(content: bytes, name: str) -> int:
    """Write the figure and its thumbnail, both with at most 256 colors.

    Return the bytes of the figure.
    """
    from PIL import Image

    with Image.open(io.BytesIO(content)) as opened:
        image = opened.convert("RGB")
    height = round(image.height * THUMBNAIL_WIDTH / image.width)
    small = image.resize((THUMBNAIL_WIDTH, height), Image.Resampling.LANCZOS)
    (PAGES / "images").mkdir(parents=True, exist_ok=True)
    sizes = []
    for picture, path in ((image, f"{name}.png"), (small, f"{name}-small.png")):
        buffer = io.BytesIO()
        picture.quantize(256).save(buffer, format="PNG", optimize=True)
        sizes.append(buffer.tell())
        if buffer.tell() > MOST_BYTES:
            raise GalleryError(
                f"{path} has {buffer.tell():,} bytes, over {MOST_BYTES:,}; draw it smaller"
            )
        with writing_whole(PAGES / "images" / path, "wb") as file:
            file.write(buffer.getvalue())
    return sizes[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"only these pages: {', '.join(ORDER)}"
    )
    names = parser.parse_args().names or ORDER
    unknown = set(names) - set(ORDER)
    if unknown:
        parser.error(
            f"{', '.join(sorted(unknown))}: no such script; choose from {', '.join(ORDER)}"
        )
    try:
        scripts = [read_script(HERE / f"{name}.py") for name in ORDER]
        for script in scripts:
            if script.name in names:
                build_page(script)
    except GalleryError as error:
        parser.error(str(error))
    write_text_whole(PAGES / "index.md", index_text(scripts))


def build_page(script: Script) -> None:
    began = time.perf_counter()
    printed, figure = run_script(script)
    size = save_figure(figure, script.name)
    write_text_whole(PAGES / f"{script.name}.md", page_text(script, printed))
    print(f"{script.name:14s} {time.perf_counter() - began:5.1f} s, figure {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
