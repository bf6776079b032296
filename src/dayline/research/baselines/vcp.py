"""CES-VCP: the CES rule on the contexts of a network that predicts frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dayline.arrays import FloatArray, IntArray, check_device
from dayline.checks import (
    LARGEST_COUNT,
    MOST_STEPS,
    check_between,
    check_features,
    check_seed,
    show_value,
)
from dayline.decision.contexts import compare_contexts, pick_boundaries
from dayline.files import reading, writing_whole
from dayline.installation import needs_extra
from dayline.research.baselines.novelty import strongest_maxima
from dayline.research.baselines.segmenter import Baseline

FORMAT = "dayline-context-predictor-1"
MOST_UNITS = 8192
"""Largest context; beyond this, a network takes gigabytes."""


@dataclass(frozen=True)
class ContextPredictor:
    """A trained network, as plain arrays.

    Attributes
    ----------
    weights : mapping of str to ndarray
        Of the two LSTMs, "encoder" (frames to contexts) and "decoder" (contexts to frames), named
        as in PyTorch.
    offset, scale : ndarray of shape (n_features,)
        The input of the network is (x - offset) / scale.
    losses : tuple of float
        Mean squared error of every epoch of training.
    """

    weights: Mapping[str, FloatArray]
    offset: FloatArray
    scale: FloatArray
    losses: tuple[float, ...] = ()

    @property
    def n_features(self) -> int:
        """Number of features of a frame."""
        return self.offset.size

    @property
    def n_units(self) -> int:
        """Size of a context."""
        return self.weights["encoder.bias_hh_l0"].size // 4


@needs_extra("vcp", "context prediction")
def train_predictor(
    sequences: Sequence[Any],
    *,
    n_units: int = 1024,
    n_past: int = 10,
    n_future: int = 10,
    n_epochs: int = 20,
    batch_size: int = 250,
    learning_rate: float = 0.001,
    device: str = "cpu",
    random_state: int | None = 0,
) -> ContextPredictor:
    """Train the network to predict frames, on any number of sequences without labels.

    Parameters
    ----------
    sequences : sequence of array-like, each of shape (n_frames, n_features)
        Recordings with the same features. Those shorter than n_past + n_future frames are ignored.
    n_units : int >= 1
        Size of a context.
    n_past, n_future : int >= 1
        Frames read before the first prediction, and frames predicted, in a window.
    n_epochs, batch_size : int >= 1
        Passes over all windows, each forwards or backwards at random, and windows per step.
    learning_rate : float > 0
        Learning rate of RMSprop.
    device : str
        PyTorch device: "cpu", "cuda", "mps".
    random_state : int or None
        Seed of the weights and of the order of windows.
    """
    import torch

    for name, value in {"n_past": n_past, "n_future": n_future, "batch_size": batch_size}.items():
        check_between(name, value, 1, LARGEST_COUNT, whole=True)
    check_between("n_units", n_units, 1, MOST_UNITS, whole=True)
    check_between("n_epochs", n_epochs, 1, MOST_STEPS, whole=True)
    check_between("learning_rate", learning_rate, 0, 1, above=True)
    check_seed(random_state, largest=np.inf)
    used = [s for s in (check_features(s) for s in sequences) if len(s) >= n_past + n_future]
    if not used:
        raise ValueError(
            f"no sequence has the {n_past + n_future} frames of a training window; give longer ones"
        )
    if len({s.shape[1] for s in used}) > 1:
        raise ValueError(
            "the sequences have different numbers of features; train on one kind of features"
        )

    low = np.min([s.min(axis=0) for s in used], axis=0)
    high = np.max([s.max(axis=0) for s in used], axis=0)
    offset, scale = (low + high) / 2.0, np.where(high > low, (high - low) / 2.0, 1.0)
    # All windows of each sequence, of shape (n_windows, n_features, length).
    windows = [
        np.lib.stride_tricks.sliding_window_view(
            ((s - offset) / scale).astype(np.float32), n_past + n_future, axis=0
        )
        for s in used
    ]

    generator = np.random.default_rng(random_state)
    network = _network(_starting_weights(used[0].shape[1], n_units, generator), device)
    optimizer = torch.optim.RMSprop(network.parameters(), lr=learning_rate)
    losses = tuple(
        _train_once(network, optimizer, windows, n_past, batch_size, generator)
        for _ in range(n_epochs)
    )
    weights = {name: w.detach().cpu().numpy() for name, w in network.state_dict().items()}
    return ContextPredictor(weights, offset.astype(np.float32), scale.astype(np.float32), losses)


def _torch_device(device: str) -> Any:
    """Return the PyTorch device; "cpu" means PyTorch here too."""
    return check_device("torch" if isinstance(device, str) and device == "cpu" else device)


def _shapes(n_features: int, n_units: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all weights, in PyTorch's order."""
    shapes: dict[str, tuple[int, ...]] = {}
    for part, inputs, units in (
        ("encoder", n_features, n_units),
        ("decoder", n_units, n_features),
    ):
        shapes[f"{part}.weight_ih_l0"] = (4 * units, inputs)
        shapes[f"{part}.weight_hh_l0"] = (4 * units, units)
        shapes[f"{part}.bias_ih_l0"] = (4 * units,)
        shapes[f"{part}.bias_hh_l0"] = (4 * units,)
    return shapes


def _starting_weights(
    n_features: int, n_units: int, generator: np.random.Generator
) -> dict[str, FloatArray]:
    """Draw uniform weights as PyTorch does, but with NumPy: every device starts from the same."""
    weights: dict[str, FloatArray] = {}
    for name, shape in _shapes(n_features, n_units).items():
        units = shape[0] // 4
        reach = 1.0 / np.sqrt(units)
        weights[name] = generator.uniform(-reach, reach, shape).astype(np.float32)
        if name.endswith("bias_ih_l0"):
            # Forget gates start open, as in the published program, so that a context lasts.
            weights[name][units : 2 * units] += 1.0
    return weights


def _network(weights: Mapping[str, FloatArray], device: str) -> Any:
    """Build the two LSTMs from their weights."""
    import torch

    n_features = weights["encoder.weight_ih_l0"].shape[1]
    n_units = weights["decoder.weight_ih_l0"].shape[1]
    network = torch.nn.ModuleDict(
        {
            "encoder": torch.nn.LSTM(n_features, n_units, batch_first=True),
            "decoder": torch.nn.LSTM(n_units, n_features, batch_first=True),
        }
    )
    network.load_state_dict({name: torch.as_tensor(np.array(w)) for name, w in weights.items()})
    return network.to(_torch_device(device))


def _train_once(
    network: Any,
    optimizer: Any,
    windows: Sequence[FloatArray],
    n_past: int,
    batch_size: int,
    generator: np.random.Generator,
) -> float:
    """Train on all windows once; return the mean loss."""
    import torch

    device = network["encoder"].weight_ih_l0.device
    places = [(i, j) for i, some in enumerate(windows) for j in range(len(some))]
    order = generator.permutation(len(places))
    total = 0.0
    for start in range(0, len(order), batch_size):
        chosen = [places[k] for k in order[start : start + batch_size]]
        batch = np.stack([windows[i][j].T for i, j in chosen])
        backwards = generator.random(len(batch)) < 0.5
        batch[backwards] = batch[backwards, ::-1]

        frames = torch.as_tensor(batch, device=device)
        contexts, _ = network["encoder"](frames)
        foreseen, _ = network["decoder"](contexts[:, n_past - 1 : -1])
        loss = torch.nn.functional.mse_loss(foreseen, frames[:, n_past:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * len(batch)
    return total / len(places)


@needs_extra("vcp", "context prediction")
def predict_contexts(
    predictor: ContextPredictor, x: Any, *, device: str = "cpu"
) -> tuple[FloatArray, FloatArray]:
    """Read a sequence from its start and from its end.

    Parameters
    ----------
    predictor : ContextPredictor
        A trained network.
    x : array-like of shape (n_frames, n_features)
        One sequence.
    device : str
        PyTorch device.

    Returns
    -------
    past, future : ndarray of shape (n_frames, n_units)
        Context after reading the frames up to each one, and after reading the frames from the end
        back to it.
    """
    import torch

    features = check_features(x)
    if features.shape[1] != predictor.n_features:
        raise ValueError(
            f"the network was trained on {predictor.n_features} features, not {features.shape[1]}"
        )
    encoder = _network(predictor.weights, device)["encoder"]
    scaled = ((features - predictor.offset) / predictor.scale).astype(np.float32)
    seen = torch.as_tensor(scaled, device=_torch_device(device))
    with torch.no_grad():
        past, future = (
            encoder(frames[None])[0][0].cpu().numpy() for frames in (seen, torch.flip(seen, (0,)))
        )
    return past, future[::-1]


@needs_extra("vcp", "a network file")
def save_predictor(predictor: ContextPredictor, path: str | Path) -> None:
    """Write a network as a .safetensors file: nothing in it can run when it is loaded."""
    from safetensors.numpy import save

    arrays = dict(predictor.weights) | {"offset": predictor.offset, "scale": predictor.scale}
    arrays = {name: np.ascontiguousarray(w, dtype=np.float32) for name, w in arrays.items()}
    losses = np.asarray(predictor.losses, dtype=np.float64)
    with writing_whole(path, "wb") as file:
        file.write(save(arrays | {"losses": losses}, metadata={"format": FORMAT}))


@needs_extra("vcp", "a network file")
def load_predictor(path: str | Path) -> ContextPredictor:
    """Read a file written by `save_predictor`; raise ValueError, naming the file, for any other."""
    from safetensors import safe_open

    if not Path(path).is_file():
        raise ValueError(f"{path}: no such file; train a network and save it first")
    with reading(path, "a safetensors file"), safe_open(path, framework="numpy") as content:
        form = (content.metadata() or {}).get("format")
        weights = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    if form != FORMAT or not {"offset", "scale", "losses", *_shapes(1, 1)} <= set(weights):
        raise ValueError(
            f"{path}: a safetensors file, but not a context predictor (format {form!r})"
        )

    offset, scale, losses = (weights.pop(name) for name in ("offset", "scale", "losses"))
    predictor = ContextPredictor(weights, offset, scale, tuple(losses.ravel().tolist()))
    shapes = _shapes(predictor.n_features, predictor.n_units)
    fits = {name: w.shape for name, w in weights.items()} == shapes
    if not fits or not offset.shape == scale.shape == (predictor.n_features,):
        raise ValueError(f"{path}: the sizes of its arrays do not fit together")
    return predictor


@dataclass(eq=False, repr=False)
class VisualContextSegmenter(Baseline):
    """Cut where the context read from the past differs from the one read from the future (CES-VCP).

    Parameters
    ----------
    n_events : int or None, default=None
        None keeps the local maxima above the mean of all local maxima; a number keeps the highest
        ones.
    predictor : ContextPredictor, path or None, default=None
        A trained network, or the .safetensors file that holds one. None trains one on the sequence
        itself, unlike the published system, which has a training set of many days.
    n_units, n_epochs, batch_size : int, default=64, 20 and 32
        Size of the network, passes over all windows and windows per step, if it is trained here.
        (Published, for its training set: 1,024 units, batches of 250.)
    learning_rate : float, default=0.001
        Learning rate of RMSprop.
    order : int, default=5
        Frames on either side that a local maximum must exceed.
    missing : {"raise", "interpolate"}, default="raise"
        How to handle NaN and infinity.
    device : str, default="cpu"
        PyTorch device.
    random_state : int or None, default=0
        Seed of the training.

    Attributes
    ----------
    boundaries_, labels_ : ndarray of int
        First frame of every event but the first, and the event number of each frame.
    scores_ : ndarray of shape (n_frames,)
        Distance of the contexts around each frame.
    predictor_ : ContextPredictor
        The network used.
    """

    n_events: int | None = None
    _: KW_ONLY
    predictor: Any = None
    n_units: int = 64
    n_epochs: int = 20
    batch_size: int = 32
    learning_rate: float = 0.001
    order: int = 5
    device: str = "cpu"
    random_state: int | None = 0

    def find_boundaries(self, features: FloatArray) -> IntArray:
        """Return the first frame of every event but the first."""
        self.predictor_ = self._predictor(features)
        self.scores_ = compare_contexts(
            *predict_contexts(self.predictor_, features, device=self.device)
        )
        if np.all(features == features[0]):
            # Then the contexts differ only by how far the network has warmed up.
            self.scores_[:] = 0.0
        if self.n_events is None:
            return pick_boundaries(self.scores_, order=self.order)
        return strongest_maxima(self.scores_, n_boundaries=self.n_events - 1, order=self.order)

    def _predictor(self, features: FloatArray) -> ContextPredictor:
        if isinstance(self.predictor, ContextPredictor):
            return self.predictor
        if isinstance(self.predictor, (str, Path)):
            return load_predictor(self.predictor)
        if self.predictor is not None:
            raise ValueError(
                f"predictor={show_value(self.predictor)}; give a ContextPredictor or the path of"
                " its file"
            )
        # A short sequence has fewer frames than the published window.
        half = max(min(10, len(features) // 2), 1)
        return train_predictor(
            [features if len(features) > 1 else np.repeat(features, 2, axis=0)],
            n_units=self.n_units,
            n_past=half,
            n_future=half,
            n_epochs=self.n_epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            device=self.device,
            random_state=self.random_state,
        )
