"""A matplotlib figure that a notebook shows and that pyplot does not keep."""

from __future__ import annotations

from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["NotebookFigure"]


class NotebookFigure(Figure):
    """A figure outside pyplot: nothing global refers to it, and no window opens."""

    def _repr_png_(self) -> bytes:
        FigureCanvasAgg(self)
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=100)
        return buffer.getvalue()
