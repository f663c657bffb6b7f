"""The d-2d-L neural network of the CCDR paper."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ddr_cli.core.parameters import check_parameters
from ddr_cli.core.registry import registered
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.numerics.validation import validate_data

_MOMENTUM = 0.9


@dataclass(eq=False, repr=False)
@registered(
    "classifier",
    "neural_net",
    "one hidden layer of 2d units, trained by full-batch gradient steps",
    look=("green", "^"),
)
class NeuralNetClassifier(ClassifierMixin, BaseEstimator):
    """One hidden layer, trained for a fixed number of steps along the gradient of all samples.

    Parameters
    ----------
    hidden : int or "double", default="double"
        Hidden units; "double" is twice the number of features, as in the paper.
    activation : {"tanh", "logistic", "relu"}, default="tanh"
        Of the hidden units. The output is a softmax, the loss its cross-entropy.
    solver : {"gradient", "adam"}, default="gradient"
        Gradient descent with Nesterov's momentum of 0.9, or Adam; both on the whole training
        part at once.
    learning_rate : float, default=0.1
        Step length; for Adam 0.01 is a better choice.
    max_iter : int, default=2000
        Number of steps; all are made, so the cost is known beforehand.
    scale : bool, default=True
        Standardise the features first, by the training set. Without it, features far from unit
        scale saturate the hidden units and nothing is learnt.
    random_state : int or None, default=None
        Seed of the starting weights.

    Attributes
    ----------
    network_ : MLPClassifier
        The trained network.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_iter_ : int
        Number of steps made, always `max_iter`.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    The paper states the layers, "a gradient method" and the 2000 iterations, no more: activation,
    loss, step length and scaling are our choice.

    References
    ----------
    R. Raich, J. A. Costa, S. B. Damelin, A. O. Hero III, "Classification constrained
    dimensionality reduction", section V-A.
    """

    hidden: Literal["double"] | Annotated[int, Ge(1)] = "double"
    activation: Literal["tanh", "logistic", "relu"] = "tanh"
    solver: Literal["gradient", "adam"] = "gradient"
    learning_rate: Annotated[float, Gt(0)] = 0.1
    max_iter: Annotated[int, Ge(1)] = 2000
    scale: bool = True
    random_state: Annotated[int, Ge(0)] | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train the network on dense samples and their labels.

        Raises
        ------
        ValueError
            If a parameter or the data is not valid, or the weights overflow; a smaller
            `learning_rate` or ``scale=True`` then helps.
        """
        check_parameters(self)
        points, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self._scaler = StandardScaler().fit(points) if self.scale else None
        self.network_ = MLPClassifier(
            hidden_layer_sizes=(2 * points.shape[1] if self.hidden == "double" else self.hidden,),
            activation=self.activation,
            solver="sgd" if self.solver == "gradient" else "adam",
            momentum=_MOMENTUM,
            learning_rate_init=self.learning_rate,
            alpha=0.0,
            batch_size=len(points),
            shuffle=False,  # the order within a single batch only costs a copy per step
            max_iter=self.max_iter,
            n_iter_no_change=self.max_iter,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            # The number of steps is fixed on purpose.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.network_.fit(self._scaled(points), labels)
        self.classes_ = self.network_.classes_
        self.n_iter_ = self.network_.n_iter_
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the network's outputs, (n_queries, n_classes); rows sum to 1."""
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        outputs: NDArray[np.float64] = self.network_.predict_proba(self._scaled(points))
        return outputs

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label with the largest output for each query."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _scaled(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return points if self._scaler is None else self._scaler.transform(points)

    def __ddr_traits__(self) -> EvaluatorTraits:
        return EvaluatorTraits(
            grids={"learning_rate": (0.01, 0.03, 0.1, 0.3), "max_iter": (250, 500, 1000, 2000)},
        )
