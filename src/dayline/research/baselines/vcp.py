"""CES-VCP: the CES rule on the contexts of a network that predicts frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from dayline.arrays import FloatArray, check_device, unit_rows
from dayline.checks import (
    LARGEST_COUNT,
    MOST_STEPS,
    Missing,
    check_between,
    check_features,
    check_seed,
    show_value,
)
from dayline.decision.contexts import pick_boundaries
from dayline.files import reading, writing_whole
from dayline.research.baselines.ces import strongest_maxima
from dayline.research.baselines.segmenter import (
    Baseline,
    check_n_events,
    store_boundaries,
    take_features,
)

FORMAT = "dayline-context-predictor-1"
PARTS = ("encoder", "decoder")
MOST_UNITS = 8192
"""Largest context; beyond this, a network takes gigabytes."""
GATES = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


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
        return len(self.offset)

    @property
    def n_units(self) -> int:
        """Size of a context."""
        return int(self.weights["encoder.weight_hh_l0"].shape[1])


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
    on_epoch: Callable[[int, float], None] | None = None,
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
    on_epoch : callable, optional
        Called as on_epoch(epoch, loss) after every epoch.
    """
    _place(device)
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
    low, high = (
        np.min([s.min(axis=0) for s in used], axis=0),
        np.max([s.max(axis=0) for s in used], axis=0),
    )
    offset, scale = (low + high) / 2.0, np.where(high > low, (high - low) / 2.0, 1.0)
    generator = np.random.default_rng(random_state)
    windows = _windows([(s - offset) / scale for s in used], n_past + n_future)
    network = _network(_starting_weights(used[0].shape[1], n_units, generator), device)
    optimizer = _torch().optim.RMSprop(
        [p for part in network for p in part.parameters()], lr=learning_rate
    )
    losses = []
    for epoch in range(n_epochs):
        losses.append(_train_once(network, optimizer, windows, n_past, batch_size, generator))
        if on_epoch is not None:
            on_epoch(epoch, losses[-1])
    weights = {
        f"{name}.{gate}": getattr(part, gate).detach().cpu().numpy()
        for name, part in zip(PARTS, network, strict=True)
        for gate in GATES
    }
    return ContextPredictor(
        weights, offset.astype(np.float32), scale.astype(np.float32), tuple(losses)
    )


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
    features = check_features(x)
    if features.shape[1] != predictor.n_features:
        raise ValueError(
            f"the network was trained on {predictor.n_features} features, not {features.shape[1]}"
        )
    torch = _torch()
    encoder, _ = _network(predictor.weights, device)
    seen = torch.as_tensor(
        ((features - predictor.offset) / predictor.scale).astype(np.float32), device=_place(device)
    )
    with torch.no_grad():
        past, future = (
            encoder(frames[None])[0][0].cpu().numpy() for frames in (seen, torch.flip(seen, (0,)))
        )
    return past, future[::-1]


def save_predictor(predictor: ContextPredictor, path: str | Path) -> None:
    """Write a network as a .safetensors file: nothing in it can run when it is loaded."""
    save = _safetensors().numpy.save
    arrays = {
        name: np.ascontiguousarray(w, dtype=np.float32) for name, w in predictor.weights.items()
    }
    arrays |= {
        "offset": predictor.offset.astype(np.float32),
        "scale": predictor.scale.astype(np.float32),
    }
    losses = np.asarray(predictor.losses, dtype=np.float64)
    with writing_whole(path, "wb") as file:
        file.write(save(arrays | {"losses": losses}, metadata={"format": FORMAT}))


def load_predictor(path: str | Path) -> ContextPredictor:
    """Read a file written by `save_predictor`; raise ValueError, naming the file, for any other."""
    safetensors = _safetensors()
    if not Path(path).is_file():
        raise ValueError(f"{path}: no such file; train a network and save it first")
    with (
        reading(path, "a safetensors file"),
        safetensors.safe_open(path, framework="numpy") as content,
    ):
        form = (content.metadata() or {}).get("format")
        arrays = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    names = [f"{part}.{gate}" for part in PARTS for gate in GATES]
    if form != FORMAT or not {*names, "offset", "scale", "losses"} <= set(arrays):
        raise ValueError(
            f"{path}: a safetensors file, but not a context predictor (format {form!r})"
        )
    weights = {name: arrays[name] for name in names}
    _check_shapes(weights, len(arrays["offset"]), len(arrays["scale"]), path)
    return ContextPredictor(
        weights, arrays["offset"], arrays["scale"], tuple(arrays["losses"].tolist())
    )


def _check_shapes(
    weights: Mapping[str, Any], n_features: int, n_scales: int, path: str | Path
) -> None:
    n_units = weights["encoder.weight_hh_l0"].shape[-1]
    sizes = {"encoder": (n_features, n_units), "decoder": (n_units, n_features)}
    right = n_scales == n_features
    for part, (inputs, units) in sizes.items():
        shapes = [(4 * units, inputs), (4 * units, units), (4 * units,), (4 * units,)]
        right &= [weights[f"{part}.{gate}"].shape for gate in GATES] == shapes
    if not right:
        raise ValueError(f"{path}: the sizes of its arrays do not fit together")


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        raise ValueError(
            'context prediction needs PyTorch; install it (pip install "dayline[vcp]")'
        ) from None
    return torch


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ModuleNotFoundError:
        raise ValueError(
            'network files need safetensors; install it (pip install "dayline[vcp]")'
        ) from None
    return safetensors


def _place(device: str) -> Any:
    """Return the PyTorch device; "cpu" means PyTorch here too."""
    _torch()
    return check_device("torch" if isinstance(device, str) and device == "cpu" else device)


def _starting_weights(
    n_features: int, n_units: int, generator: np.random.Generator
) -> dict[str, FloatArray]:
    """Draw uniform weights as PyTorch does, but with NumPy: every device starts from the same."""
    weights: dict[str, FloatArray] = {}
    for part, (inputs, units) in zip(
        PARTS, ((n_features, n_units), (n_units, n_features)), strict=True
    ):
        reach = 1.0 / np.sqrt(units)
        for gate, shape in zip(
            GATES,
            ((4 * units, inputs), (4 * units, units), (4 * units,), (4 * units,)),
            strict=True,
        ):
            weights[f"{part}.{gate}"] = generator.uniform(-reach, reach, shape).astype(np.float32)
        # Forget gates start open, as in the published program, so that a context lasts.
        weights[f"{part}.bias_ih_l0"][units : 2 * units] += 1.0
    return weights


def _network(weights: Mapping[str, FloatArray], device: str) -> tuple[Any, Any]:
    """Build the two LSTMs from their weights."""
    torch = _torch()
    parts = []
    for name in PARTS:
        inputs, units = (
            weights[f"{name}.weight_ih_l0"].shape[1],
            weights[f"{name}.weight_hh_l0"].shape[1],
        )
        part = torch.nn.LSTM(inputs, units, batch_first=True)
        part.load_state_dict(
            {gate: torch.as_tensor(np.array(weights[f"{name}.{gate}"])) for gate in GATES}
        )
        parts.append(part.to(_place(device)))
    return parts[0], parts[1]


def _windows(sequences: Sequence[FloatArray], length: int) -> list[FloatArray]:
    """View all windows of each sequence, as an array of shape (n_windows, n_features, length)."""
    return [
        np.lib.stride_tricks.sliding_window_view(s.astype(np.float32), length, axis=0)
        for s in sequences
    ]


def _train_once(
    network: tuple[Any, Any],
    optimizer: Any,
    windows: Sequence[FloatArray],
    n_past: int,
    batch_size: int,
    generator: np.random.Generator,
) -> float:
    """Train on all windows once; return the mean loss."""
    torch = _torch()
    encoder, decoder = network
    device = encoder.weight_ih_l0.device
    places = [(i, j) for i, some in enumerate(windows) for j in range(len(some))]
    order = generator.permutation(len(places))
    total = 0.0
    for start in range(0, len(order), batch_size):
        chosen = [places[k] for k in order[start : start + batch_size]]
        batch = np.stack([windows[i][j].T for i, j in chosen])
        backwards = generator.random(len(batch)) < 0.5
        batch[backwards] = batch[backwards, ::-1]
        frames = torch.as_tensor(batch, device=device)
        contexts, _ = encoder(frames)
        foreseen, _ = decoder(contexts[:, n_past - 1 : -1])
        loss = torch.nn.functional.mse_loss(foreseen, frames[:, n_past:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * len(batch)
    return total / len(places)


def compare_contexts(past: FloatArray, future: FloatArray) -> FloatArray:
    """Score every frame by the distance of the context before it and the context after it.

    Parameters
    ----------
    past, future : ndarray of shape (n_frames, n_units)
        Context after reading the frames up to each one, and after reading those from the end back
        to it.

    Returns
    -------
    ndarray of shape (n_frames,)
        Cosine distance of past[t-1] and future[t+1]. The first two and the last two frames score 0.
    """
    scores = np.zeros(len(past))
    if len(past) >= 5:
        similarity = np.sum(unit_rows(past[:-2]) * unit_rows(future[2:]), axis=1)
        scores[2:-2] = np.maximum(1.0 - similarity, 0.0)[1:-1]
    return scores


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

    def __init__(
        self,
        n_events: int | None = None,
        *,
        predictor: Any = None,
        n_units: int = 64,
        n_epochs: int = 20,
        batch_size: int = 32,
        learning_rate: float = 0.001,
        order: int = 5,
        missing: Missing = "raise",
        device: str = "cpu",
        random_state: int | None = 0,
    ) -> None:
        self.n_events = n_events
        self.predictor = predictor
        self.n_units = n_units
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.order = order
        self.missing = missing
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: ARG002
        """Find the events of one sequence, X of shape (n_frames, n_features); y is ignored."""
        check_between("order", self.order, 1, whole=True)
        features = take_features(self, X, missing=self.missing)
        check_n_events(self.n_events, len(features))
        self.predictor_ = self._predictor(features)
        self.scores_ = compare_contexts(
            *predict_contexts(self.predictor_, features, device=self.device)
        )
        if np.all(features == features[0]):
            # Then the contexts differ only by how far the network has warmed up.
            self.scores_[:] = 0.0
        if self.n_events is None:
            boundaries = pick_boundaries(self.scores_, order=self.order)
        else:
            boundaries = strongest_maxima(
                self.scores_, n_boundaries=self.n_events - 1, order=self.order
            )
        return store_boundaries(self, boundaries, len(features))

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
