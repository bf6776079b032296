"""Reference pages from the code: public names, commands, parameters with their letters, schema."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

import dayline

__all__ = ["api_page", "command_line_page", "parameters_page", "schema_page"]

GROUPS = {
    "Estimators": ("estimators",),
    "Results": ("events", "decision.decide", "decision.learned"),
    "From a source to a page": ("album", "plotting"),
    "Scores and controls": ("metrics",),
    "The method, function by function": ("method.steps",),
    "Signals": ("method.windows", "method.periods"),
    "From an embedding to boundaries": ("decision.contexts", "decision.partition"),
    "Made data": ("research.datasets",),
}
"""Modules whose public names stand together, in the order of `dayline.__all__`."""
LETTERS = re.compile(r"\((d|K|alpha|p|eta|mu|N_C|h|L and M|l-hat and l-tilde)\)")
GREEK = {"alpha": "α", "eta": "η", "mu": "μ", "l-hat": "l̂", "l-tilde": "l̃", "N_C": "N<sub>C</sub>"}


def api_page() -> str:
    """Every public name, in groups; raise if one is in no group or in two."""
    lines = [
        "# Python",
        "",
        "Everything in `dayline.__all__`. Names, parameters and attributes are"
        " [stable](../stability.md).",
    ]
    homes = {name: getattr(dayline, name).__module__ for name in dayline.__all__}
    grouped = []
    for title, modules in GROUPS.items():
        own = tuple(f"dayline.{module}." for module in modules)
        names = [name for name, home in homes.items() if f"{home}.".startswith(own)]
        lines += ["", f"## {title}"]
        lines += [f"\n::: {homes[name]}.{name}" for name in names]
        grouped += names
    if sorted(grouped) != sorted(homes):
        raise ValueError(
            f"in no group, or in two: {[name for name in homes if grouped.count(name) != 1]}"
        )
    lines += [
        "",
        "## Many sequences",
        "",
        "::: dayline.batch.run.segment_many",
        "",
        "::: dayline.batch.run.read_batch",
        "",
        "## In other libraries",
        "",
        "[How to use them](../how-to/other-libraries.md); `dayline.adapters` needs an extra for each.",
    ]
    for name in (
        "sktime.DaylineDetector",
        "aeon.DaylineSegmenter",
        "skchange.DaylineDetector",
        "ruptures.Dayline",
    ):
        lines += ["", f"::: dayline.adapters.{name}"]
    return "\n".join(lines) + "\n"


def command_line_page() -> str:
    """Every command with its arguments and options."""
    from typer.main import get_command

    from dayline.cli import app

    lines = [
        "# Command line",
        "",
        "`dayline COMMAND --help` prints the same. Exit codes: 0, success; 2, an error, in one"
        " line; 130, interrupted.",
    ]
    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    for function, (name, command) in zip(app.registered_commands, commands.items(), strict=True):
        hints = get_type_hints(function.callback)
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        words = " ".join(str(one.name).upper() for one in arguments)
        usage = f"`dayline {name} {words} [OPTIONS]`".replace("  ", " ")
        lines += ["", f"## dayline {name}", "", usage, "", _cell(command.help or ""), ""]
        if arguments:
            lines += ["| argument | is |", "| --- | --- |"]
            lines += [f"| `{str(a.name).upper()}` | {_cell(a.help or '')} |" for a in arguments]

        panels: dict[str, list[str]] = {}
        for option in command.params:
            if option not in arguments:
                shown = ", ".join(f"`{part}`" for part in (*option.opts, *option.secondary_opts))
                text = _cell(option.help or "") + _choices(hints[option.name]) + _default(option)
                panels.setdefault(option.rich_help_panel or "option", []).append(
                    f"| {shown} | {text} |"
                )
        for panel, rows in panels.items():
            lines += ["", f"| {panel} | |", "| --- | --- |", *rows]
    return "\n".join(lines) + "\n"


def _choices(hint: Any) -> str:
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    return f" One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else ""


def _default(option: Any) -> str:
    if option.required:
        return " Required."
    is_plain = option.default is None or option.default is False or option.default == []
    return "" if is_plain else f" Default: `{option.default}`."


def parameters_page() -> str:
    """Every parameter of the estimators, with its letter and its value in each variant."""
    lines = [
        "# Parameters",
        "",
        "Every parameter of the estimators, its letter in the paper, and its value in the default,"
        " in `paper()` and in `authors()`.",
    ]
    for kind in (
        dayline.DynamicGraphEmbedding,
        dayline.EventSegmenter,
        dayline.PrincipalComponents,
    ):
        variants = {"default": kind()}
        if kind is dayline.DynamicGraphEmbedding:
            variants |= {"`paper()`": kind.paper(), "`authors()`": kind.authors()}
        heads = " | ".join(variants)
        lines += ["", f"## {kind.__name__}", "", f"| parameter | letter | {heads} | meaning |"]
        lines += ["| --- | --- |" + " --- |" * (len(variants) + 1)]
        described = _described(kind)
        for name in inspect.signature(kind).parameters:
            letter, text = described.get(name, ("", ""))
            values = " | ".join(
                f"`{one.get_params(deep=False)[name]}`" for one in variants.values()
            )
            lines.append(f"| `{name}` | {letter} | {values} | {text} |")
    return "\n".join(lines) + "\n"


def _described(kind: type) -> dict[str, tuple[str, str]]:
    """Return letter and description of each parameter, from the docstring."""
    text = (
        (inspect.getdoc(kind) or "").split("Parameters\n----------\n")[1].split("\nAttributes\n")[0]
    )
    found = {}
    for block in re.split(r"\n(?=\S)", text):
        head, _, body = block.partition("\n")
        names = [name.strip() for name in head.split(" : ")[0].split(",")]
        meaning = _cell(" ".join(body.split()))
        match = LETTERS.search(meaning)
        letters = match[1].split(" and ") if match else []
        for k, name in enumerate(names):
            letter = letters[k] if k < len(letters) else ""
            found[name] = (GREEK.get(letter, letter), meaning)
    return found


def schema_page() -> str:
    """The JSON Schema of events.json."""
    from dayline.events import events_schema

    schema = json.dumps(events_schema(), indent=2)
    return (
        "# JSON schema\n\n"
        "The JSON Schema of [events.json](../events-json.md), as"
        " `dayline.events.events_schema()` returns it:\n\n"
        f"```json\n{schema}\n```\n"
    )


def _cell(text: str) -> str:
    """Return text that can stand in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
