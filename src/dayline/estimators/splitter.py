"""WholeSequences: cross-validation in which every fold is one whole sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from dayline.arrays import IntArray
from dayline.checks import show_value


class WholeSequences(BaseCrossValidator):  # type: ignore[misc]
    """Score every sequence as a whole, for `GridSearchCV` and `cross_val_score`.

    Other splitters cut sequences, or join them, and a boundary needs the frames on both sides.
    Nothing is learned from labels, so a sequence is both the training and the test part of its
    fold, and is fitted once. Pass `groups=`, the sequence of every frame, and `refit=False`:
    fitting all rows at once would treat them as one sequence.

    Examples
    --------
    >>> import numpy as np
    >>> from dayline import WholeSequences
    >>> groups = ["monday", "monday", "monday", "tuesday", "tuesday"]
    >>> for _, frames in WholeSequences().split(np.zeros((5, 2)), groups=groups):
    ...     print(frames)
    [0 1 2]
    [3 4]
    """

    def split(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the frames of each sequence, twice.

        Parameters
        ----------
        X, y : array-like
            Rows and labels; only their number counts.
        groups : array-like of shape (n_frames,)
            Number or name of the sequence of every frame; those of a sequence stand together.
        """
        n_frames = len(next((rows for rows in (X, y, groups) if rows is not None), ()))
        for frames in self._sequences(groups):
            if frames[-1] >= n_frames:
                raise ValueError(f"groups has more than {n_frames} entries; pass one per frame")
            yield frames, frames

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of sequences."""
        return len(self._sequences(groups))

    def _sequences(self, groups: Any) -> list[IntArray]:
        if groups is None or len(groups) == 0:
            raise ValueError("WholeSequences needs groups=, the sequence of every frame")
        of_frame = np.asarray(groups)
        starts = np.flatnonzero(of_frame[1:] != of_frame[:-1]) + 1
        names = of_frame[[0, *starts]].tolist()
        for k, name in enumerate(names):
            if name in names[:k]:
                raise ValueError(
                    f"groups: the frames of sequence {show_value(name)} do not stand together; "
                    "put them in order"
                )
        return np.split(np.arange(len(of_frame)), starts)
