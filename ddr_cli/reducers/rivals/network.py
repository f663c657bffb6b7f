"""Common code of the small networks: the layers, and their training by PyTorch."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from ddr_cli.core.extras import load_library
from ddr_cli.reducers.reducer import Codes, Floats, Reducer, as_seed
from ddr_cli.reducers.registry import Traits

_CONSTANT = 1e-12  # relative size at which the samples' deviation counts as 0


@dataclass(eq=False, repr=False)
class Network(Reducer):
    """A network with one hidden layer; a subclass defines the loss."""

    _takes_sparse = False
    _fitted = "weights_"

    n_components: Annotated[int, Ge(1)] = 2
    n_hidden: Annotated[int, Ge(1)] = 128
    n_epochs: Annotated[int, Ge(1)] = 50
    batch_size: Annotated[int, Ge(2)] = 128
    learning_rate: Annotated[float, Gt(0)] = 0.003
    random_state: int | np.random.RandomState | None = None

    @abstractmethod
    def _loss(self, torch: Any, placed: Any, labels: Any) -> Any:
        """Return the loss of a batch's outputs, or None if its classes allow none."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, code = self._points_and_classes(X, y)
        if self.n_components > self.n_hidden:
            raise ValueError(
                f"n_components={self.n_components} must be at most n_hidden={self.n_hidden}."
            )
        exact = points.astype(np.float64)
        self.mean_ = exact.mean(axis=0)
        deviation = float(np.sqrt(np.mean((exact - self.mean_) ** 2)))
        is_constant = deviation <= _CONSTANT * float(np.abs(exact).max())
        self.scale_ = 1.0 if is_constant else deviation
        torch = load_library("torch")
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            # Layers draw their initial weights from PyTorch's global generator; `fork_rng` restores
            # it.
            with threadpool_limits(1), torch.random.fork_rng(devices=[]):
                torch.manual_seed(as_seed(self.random_state))
                self._train(torch, (exact - self.mean_) / self.scale_, code)
        finally:
            torch.set_num_threads(threads)
        return self

    def _train(self, torch: Any, points: Floats, code: Codes) -> None:
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
                optimizer.zero_grad()
                loss = self._loss(torch, net(inputs[batch]), labels[batch])
                if loss is None:
                    continue
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
