"""The d-2d-L neural network of the CCDR paper."""

from __future__ import annotations

import warnings
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt
from numpy.typing import NDArray
from sklearn import neural_network
from sklearn.exceptions import ConvergenceWarning

from ddr_cli.core.registry import registered
from ddr_cli.evaluation.classifier import ScaledClassifier
from ddr_cli.evaluation.evaluators import EvaluatorTraits

_MOMENTUM = 0.9


@registered(
    "classifier",
    "neural_net",
    "a network with one hidden layer, trained by full-batch gradient steps",
    look=("green", "^"),
)
class NeuralNetClassifier(ScaledClassifier):
    """A network with one hidden layer, trained by a fixed number of full-batch gradient steps.

    Parameters
    ----------
    hidden : int or "double", default="double"
        Number of hidden units; "double" is twice the number of features, as in the paper.
    activation : {"tanh", "logistic", "relu"}, default="tanh"
        Activation of the hidden units. The output is a softmax, and the loss is the cross-entropy.
    solver : {"gradient", "adam"}, default="gradient"
        Gradient descent with Nesterov's momentum of 0.9, or Adam; both use the whole training set
        in each step.
    learning_rate : float, default=0.1
        Step length. For Adam, a smaller value such as 0.01 is suitable.
    max_iter : int, default=2000
        Number of steps. There is no early stopping, so the cost is known in advance.
    scale : bool, default=True
        Standardise the features with the mean and standard deviation of the training set. Without
        standardisation, features far from unit scale saturate the hidden units, and the network
        learns nothing.
    random_state : int or None, default=None
        Seed of the starting weights.

    Attributes
    ----------
    network_ : MLPClassifier
        The trained network.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_iter_ : int
        Number of steps, always `max_iter`.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    The paper only states the layers, "a gradient method" and the 2000 iterations; activation,
    loss, step length and scaling are our choice.

    References
    ----------
    R. Raich, J. A. Costa, S. B. Damelin, A. O. Hero III, "Classification constrained
    dimensionality reduction", section V-A.
    """

    _takes_sparse = False

    hidden: Literal["double"] | Annotated[int, Ge(1)] = "double"
    activation: Literal["tanh", "logistic", "relu"] = "tanh"
    solver: Literal["gradient", "adam"] = "gradient"
    learning_rate: Annotated[float, Gt(0)] = 0.1
    max_iter: Annotated[int, Ge(1)] = 2000
    scale: bool = True
    random_state: Annotated[int, Ge(0)] | None = None

    def _classifier(self) -> neural_network.MLPClassifier:
        return neural_network.MLPClassifier(
            activation=self.activation,
            solver="sgd" if self.solver == "gradient" else "adam",
            momentum=_MOMENTUM,
            learning_rate_init=self.learning_rate,
            alpha=0.0,
            shuffle=False,  # with a single batch, shuffling would only cost a copy per step
            max_iter=self.max_iter,
            n_iter_no_change=self.max_iter,
            random_state=self.random_state,
        )

    def _fitted(self, points: Any, labels: NDArray[Any]) -> Any:
        hidden = 2 * points.shape[1] if self.hidden == "double" else self.hidden
        sizes = {"hidden_layer_sizes": (hidden,), "batch_size": len(points)}
        self.network_ = self._classifier().set_params(**sizes)
        with warnings.catch_warnings():
            # Every fit runs `max_iter` steps on purpose; scikit-learn would warn about that.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.network_.fit(points, labels)

    _traits = EvaluatorTraits(
        grids={"learning_rate": (0.01, 0.03, 0.1, 0.3), "max_iter": (250, 500, 1000, 2000)},
    )
