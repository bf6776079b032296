"""A command that refuses empty values."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

__all__ = ["Command"]


class Command(TyperCommand):
    """A command whose arguments and options cannot be empty.

    An unset variable of the shell gives an empty value, and as a path this is the current folder.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the arguments of the command line; raise if one is empty."""
        if not ctx.resilient_parsing:
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
            params: list[Any] = self.get_params(ctx)
            for param in params:
                value = given.get(param.name)
                if "" in (value if isinstance(value, (list, tuple)) else (value,)):
                    raise typer.BadParameter("it is empty (an unset shell variable?)", ctx=ctx, param=param)
        return super().parse_args(ctx, args)
