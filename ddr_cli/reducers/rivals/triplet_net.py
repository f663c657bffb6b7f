"""A small network trained on triplets of samples, by PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from ddr_cli.core.extras import load_library
from ddr_cli.core.registry import registered
from ddr_cli.reducers.reducer import Codes, Reducer, as_seed
from ddr_cli.reducers.registry import Traits

_MARGIN = 1.0
_CONSTANT = 1e-12  # relative size at which a feature's deviation counts as 0


@dataclass(eq=False, repr=False)
@registered(
    "reducer",
    "triplet_net",
    "a small network trained on triplets (Hoffer, Ailon; extra torch)",
    look=("dark red", "v"),
)
class TripletNet(Reducer):
    r"""Train a network with one hidden layer that embeds each class apart from the others.

    The output :math:`f(x) = W_2 \max(W_1 x + b_1, 0)` of standardised samples minimises the mean of

    .. math:: \|f(x_a) - f(x_p)\| - \|f(x_a) - f(x_n)\| + 1

    over the triplets of a batch for which this is positive: each sample is an anchor a, with one
    sample p of its class, drawn at random, and every sample n of the other classes.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the output, at most `n_hidden`. Default: ours.
    n_hidden : int, default=128
        Units of the hidden layer. Default: ours.
    n_epochs : int, default=50
        Number of passes over the training set. Default: ours.
    batch_size : int, default=128
        Samples in a batch. Default: ours.
    learning_rate : float, default=0.003
        Initial step length of Adam; it falls to 0 along half a cosine. Default: ours.
    random_state : int, RandomState or None, default=None
        Seed of the initial weights and the batches.

    Attributes
    ----------
    weights_ : tuple of ndarray
        :math:`W_1^T, b_1, W_2^T`, for standardised samples, (x - `mean_`) / `scale_`.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and standard deviation of the training samples.
    loss_path_ : ndarray of shape (n_epochs,)
        Mean loss of the batches of each epoch.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it with many labelled samples whose classes no linear map separates.

    Avoid it with few samples, on which it overfits, and when fits with different `random_state`
    must agree.

    PyTorch trains it on one CPU thread, in single precision, with a seed. It is an optional extra:
    ``pip install 'ddr[torch]'``; `transform` only needs NumPy.

    References
    ----------
    .. [1] E. Hoffer, N. Ailon, "Deep metric learning using triplet network", SIMBAD 2015, 84-92.
    .. [2] F. Schroff, D. Kalenichenko, J. Philbin, "FaceNet: A Unified Embedding for Face
       Recognition and Clustering", CVPR 2015, 815-823: the loss.
    """

    _needs_labels = True
    _takes_sparse = False
    _fitted = "weights_"

    n_components: Annotated[int, Ge(1)] = 2
    n_hidden: Annotated[int, Ge(1)] = 128
    n_epochs: Annotated[int, Ge(1)] = 50
    batch_size: Annotated[int, Ge(2)] = 128
    learning_rate: Annotated[float, Gt(0)] = 0.003
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, code = self._points_and_classes(X, y)
        if self.n_components > self.n_hidden:
            raise ValueError(
                f"n_components={self.n_components}, but the output of n_hidden={self.n_hidden} "
                "units spans at most that many dimensions. Increase n_hidden."
            )
        exact = points.astype(np.float64)
        self.mean_, deviation = exact.mean(axis=0), exact.std(axis=0)
        constant = deviation <= _CONSTANT * np.abs(exact).max(axis=0)
        self.scale_ = np.where(constant, 1.0, deviation)
        torch = load_library("torch")
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            # The global stream, from which layers draw their start, is as it was afterwards.
            with threadpool_limits(1), torch.random.fork_rng(devices=[]):
                torch.manual_seed(as_seed(self.random_state))
                self._train(torch, (exact - self.mean_) / self.scale_, code)
        finally:
            torch.set_num_threads(threads)
        return self

    def _train(self, torch: Any, points: NDArray[Any], code: Codes) -> None:
        inputs, labels = torch.tensor(points, dtype=torch.float32), torch.tensor(code)
        net = torch.nn.Sequential(
            torch.nn.Linear(inputs.shape[1], self.n_hidden),
            torch.nn.ReLU(),
            torch.nn.Linear(self.n_hidden, self.n_components, bias=False),
        )
        optimizer = torch.optim.Adam(net.parameters(), lr=self.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.n_epochs)
        self.loss_path_ = np.zeros(self.n_epochs)
        for epoch in range(self.n_epochs):
            losses = []
            for batch in torch.randperm(len(labels)).split(self.batch_size):
                same = labels[batch, None] == labels[batch]
                others = (same & ~torch.eye(len(batch), dtype=torch.bool)).float()
                anchors = (others.sum(dim=1) > 0) & ~same.all(dim=1)
                if not anchors.any():
                    continue
                optimizer.zero_grad()
                placed = net(inputs[batch])
                # Of equal points the root has no gradient.
                gaps = ((placed[anchors, None] - placed) ** 2).sum(dim=2).clamp(min=1e-12).sqrt()
                positive = gaps.gather(1, torch.multinomial(others[anchors], 1))
                excess = torch.relu(positive - gaps + _MARGIN).masked_fill(same[anchors], 0.0)
                loss = excess.sum() / (excess > 0).sum().clamp(min=1)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            schedule.step()
            self.loss_path_[epoch] = np.mean(losses) if losses else np.nan
        first, second = net[0], net[2]
        kept = (first.weight.T, first.bias, second.weight.T)
        self.weights_ = tuple(weight.detach().numpy().astype(np.float64) for weight in kept)

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        into, bias, out = self.weights_
        hidden = np.maximum((points - self.mean_) / self.scale_ @ into + bias, 0.0)
        return np.asarray(hidden @ out).astype(points.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.weights_[-1].shape[1])

    def __ddr_traits__(self) -> Traits:
        return Traits(
            library="torch",
            grids={
                "n_components": (2, 3, 5, 10, 20),
                "n_hidden": (32, 128, 512),
                "n_epochs": (20, 50, 100),
                "learning_rate": (0.001, 0.003, 0.01),
            },
            max_components=lambda *_: self.n_hidden,
        )
