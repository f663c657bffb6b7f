r"""Laplacian regularised least squares: manifold regularisation with the squared loss.

M. Belkin, P. Niyogi and V. Sindhwani, "Manifold Regularization: A Geometric Framework for Learning
from Labeled and Unlabeled Examples", JMLR 7, 2006, 2399-2434.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from ddr_cli.core.parameters import check_parameters
from ddr_cli.numerics.neighbors import Neighbors
from ddr_cli.reducers.labels import UNLABELLED, encode_labels
from ddr_cli.reducers.manifold_regularized import ACCEPTED, Kernel, ManifoldRegularized
from ddr_cli.reducers.registry import Traits


class LaplacianRLS(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, ManifoldRegularized
):
    r"""Classify by functions that are near the labels and smooth over the neighbour graph.

    For each class the function f minimises

    .. math:: \sum_{i \le l} (f(x_i) - y_i)^2 + \alpha \|f\|^2
        + \mu \sum_{i<j} w_{ij} (f(x_i) - f(x_j))^2

    over the l labelled points, :math:`y_i` being 1 for points of the class and -1 for others, and
    in the last sum the neighbour graph of all points. The class of the largest f wins. `transform`
    returns the f themselves: the comparison in which the Discriminative Projections paper has
    "manifold regularization" takes them as an embedding.

    Parameters
    ----------
    mu : "auto" or float, default="auto"
        Weight :math:`\mu` of the graph. "auto" is that of `DiscriminativeProjections`: l over the
        sum of all :math:`w_{ij}`.
    alpha : float, default=1.0
        Ridge :math:`\alpha`. 0, as in the comparison, needs the linear kernel and no more
        features than points; of equally good functions the one with the smallest norm is taken.
    n_neighbors : int, default=10
        Points are connected if either is among the other's `n_neighbors` nearest.
    kernel : {"linear", "rbf", "poly", "laplacian", "cosine"} or callable, default="linear"
        The space of f. With "linear" it is :math:`f(x) = a^T x + b`.
    gamma : "scale" or float, default="scale"
        Of the kernels that have one; "scale" is 1 / (n_features times the variance of X).
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Of the polynomial kernel.
    weights : {"heat", "binary"}, default="heat"
        :math:`w_{ij} = \exp(-\|x_i - x_j\|^2 / \epsilon)`, or 1.
    epsilon : "mean" or float, default="mean"
        Width of the heat kernel in squared units of the data; "mean" is the mean squared distance
        to the `n_neighbors` nearest.
    fit_intercept : bool, default=True
        Whether f has an intercept, which nothing penalises. The papers have none.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features)
        The vectors a (linear kernel only), one per class, or one in all for two classes.
    dual_coef_ : ndarray of shape (n_samples, n_outputs)
        Weights of the training points' kernels (other kernels).
    intercept_ : ndarray of shape (n_outputs,)
        The b.
    classes_ : ndarray of shape (n_classes,)
        The class labels without -1.
    mu_ : float
        The weight used; 0 if no two points are connected.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    In the terms of the paper, whose loss is a mean: :math:`\gamma_A = \alpha / l` and
    :math:`\gamma_I = \mu n^2 / l`. With ``mu=0`` this is ridge regression of the labels.

    Linear with no more features d than points n: :math:`O(n d (k + d) + d^3)`, in the features;
    otherwise :math:`O(n^3)`, in the kernels of all points. To both :math:`O(n^2 d)` for the
    neighbours.

    References
    ----------
    .. [1] M. Belkin, P. Niyogi, V. Sindhwani, "Manifold Regularization: A Geometric Framework for
       Learning from Labeled and Unlabeled Examples", JMLR 7, 2006, 2399-2434, section 4.2.
    .. [2] C. Wang, S. Mahadevan, "Learning Locality-Preserving Discriminative Features".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y[5:50] = y[55:100] = y[105:] = -1
    >>> model = LaplacianRLS(kernel="rbf").fit(X, y)
    >>> model.predict(X[[10, 60, 120]]).tolist()
    [0, 1, 2]
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        mu: Literal["auto"] | Annotated[float, Ge(0)] = "auto",
        alpha: Annotated[float, Ge(0)] = 1.0,
        n_neighbors: Annotated[int, Ge(1)] = 10,
        kernel: Kernel = "linear",
        gamma: Literal["scale"] | Annotated[float, Gt(0)] = "scale",
        degree: Annotated[int, Ge(1)] = 3,
        coef0: float = 1.0,
        weights: Literal["binary", "heat"] = "heat",
        epsilon: Literal["mean"] | Annotated[float, Gt(0)] = "mean",
        fit_intercept: bool = True,
    ) -> None:
        self.mu = mu
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.weights = weights
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, neighbors: Neighbors | None = None
    ) -> LaplacianRLS:
        """Fit the functions.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class labels of any type; -1 for unlabelled points.
        neighbors : Neighbors, optional
            Of the rows of `X` among themselves, at least `n_neighbors` of each; spares the search.

        Returns
        -------
        LaplacianRLS
            Itself.

        Raises
        ------
        ValueError
            If a parameter is out of range, there is one class only, or there are no more than
            `n_neighbors` points.
        """
        check_parameters(self)
        points, labels = validate_data(self, X, y, **ACCEPTED)
        self.classes_, code = encode_labels(labels)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but y has one class."
            )
        labelled = code != UNLABELLED
        Y = 2 * np.eye(len(self.classes_))[code[labelled]] - 1
        # Of two classes one function is the other's negative.
        Y = Y[:, 1:] if len(self.classes_) == 2 else Y
        self._fit_outputs(points, labelled, Y, neighbors)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """Return the functions' values.

        Parameters
        ----------
        X : array or sparse of shape (n_queries, n_features)

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            Or, with two classes, of shape (n_queries,): positive for the second.
        """
        values = self._outputs(X)
        return values.ravel() if values.shape[1] == 1 else values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each point.

        Parameters
        ----------
        X : array or sparse of shape (n_queries, n_features)

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        values = self.decision_function(X)
        best = values.argmax(axis=1) if values.ndim == 2 else (values > 0).astype(np.intp)
        return np.asarray(self.classes_[best])

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the functions' values as an embedding.

        Parameters
        ----------
        X : array or sparse of shape (n_queries, n_features)

        Returns
        -------
        ndarray of shape (n_queries, n_outputs)
            One column per class; one in all for two classes.
        """
        return self._outputs(X)

    def fit_transform(
        self, X: ArrayLike, y: ArrayLike, *, neighbors: Neighbors | None = None
    ) -> NDArray[Any]:
        """Fit, and return the functions' values at the rows of `X`."""
        return self.fit(X, y, neighbors=neighbors).transform(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __ddr_traits__(self) -> Traits:
        """Return what the engine may share between fits."""
        return Traits(
            version=1,
            transductive=True,
            neighbors=True,
            grids={
                "mu": ("auto", 0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
                "alpha": (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0),
                "n_neighbors": (3, 5, 7, 10, 15, 20),
                "kernel": ("linear", "rbf", "laplacian", "cosine"),
            },
            paper='Belkin, Niyogi, Sindhwani, "Manifold Regularization", JMLR 7, 2006',
        )
