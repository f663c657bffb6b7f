"""A small network trained by the supervised contrastive loss (Khosla et al.), by PyTorch."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from ddr_cli.core.registry import registered
from ddr_cli.reducers.registry import Traits
from ddr_cli.reducers.rivals.network import Network

_TINY = 1e-12  # shorter outputs are not scaled to length 1


@registered(
    "reducer",
    "supcon_net",
    "a small network trained by supervised contrastive learning (Khosla et al.; extra torch)",
    label="SupCon network",
    look=("sky", "D"),
)
class SupConNet(Network):
    r"""Train a network with one hidden layer that maps each class to its own direction.

    The outputs :math:`f(x) = W_2 \max(W_1 x + b_1, 0)` of samples in units of `scale_`, on the unit
    sphere as :math:`z = f / \|f\|`, minimise the mean over the samples i of a batch of

    .. math:: -\frac{1}{|P_i|} \sum_{p \in P_i}
        \ln \frac{\exp(z_i^T z_p / \tau)}{\sum_{a \ne i} \exp(z_i^T z_a / \tau)},

    where :math:`P_i` are the other samples of the class of i. The embedding is z.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the output, at most `n_hidden`. The sphere in one dimension has two
        points, 1 and -1. Default: our choice.
    n_hidden : int, default=128
        Number of units in the hidden layer. Default: our choice.
    n_epochs : int, default=50
        Number of passes over the training set. Default: our choice.
    batch_size : int, default=128
        Number of samples in a batch. Default: our choice.
    learning_rate : float, default=0.003
        Initial step length of Adam, which decreases to 0 along half a cosine. Default: our choice.
    random_state : int, RandomState or None, default=None
        Seed of the initial weights and the batches.
    temperature : float, default=0.1
        The temperature :math:`\tau`, at least 0.05. Default: as in the paper.

    Attributes
    ----------
    weights_ : tuple of ndarray
        :math:`W_1^T, b_1, W_2^T`, for the samples (x - `mean_`) / `scale_`.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    scale_ : float
        Root of the mean variance of the features, in their unit. Features of different units need
        a standardisation before; after a principal component analysis it would whiten them.
    loss_path_ : ndarray of shape (n_epochs,)
        Mean loss of the batches of each epoch.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it with many labelled samples whose classes no linear map separates.

    Avoid it with few samples, on which it overfits, and when fits with different `random_state`
    must agree.

    The paper trains on augmented images, and drops the last layer after the training. This network
    sees the samples as they are, and its last layer is the embedding.

    PyTorch trains it on one CPU thread, in single precision, with a seed. It is an optional extra:
    ``pip install 'ddrbench[torch]'``; `transform` only needs NumPy.

    References
    ----------
    .. [1] P. Khosla, P. Teterwak, C. Wang, A. Sarna, Y. Tian, P. Isola, A. Maschinot, C. Liu,
       D. Krishnan, "Supervised Contrastive Learning", NeurIPS 33, 2020: Eq. 2.
    """

    temperature: Annotated[float, Ge(0.05)] = 0.1

    def _loss(self, torch: Any, placed: Any, labels: Any) -> Any:
        same = labels[:, None] == labels
        if not (same.sum(dim=1) > 1).any():
            return None
        z = torch.nn.functional.normalize(placed, eps=_TINY)
        return supervised_contrast(torch, z, same.float(), self.temperature)

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        output = super().transform(X)
        return np.asarray(output / np.maximum(np.linalg.norm(output, axis=1), _TINY)[:, None])

    def __ddr_traits__(self) -> Traits:
        traits = super().__ddr_traits__()
        return replace(traits, grids={**traits.grids, "temperature": (0.05, 0.1, 0.2, 0.5)})


def supervised_contrast(xp: Any, z: Any, same: Any, temperature: float) -> Any:
    """Return the mean loss of unit vectors, `same` being 1 for pairs of a class and else 0.

    `xp` is NumPy or PyTorch, whose arrays these are. Samples alone in their class are left out.
    """
    others = 1 - xp.eye(len(z))
    # The largest inner product, 1, is subtracted, so that no exponential overflows.
    similarity = (z @ z.T - 1) / temperature
    log_total = xp.log((xp.exp(similarity) * others).sum(1))
    positive = same * others
    counts = positive.sum(1)
    anchors = counts > 0
    terms = (positive * (log_total[:, None] - similarity)).sum(1)
    return (terms[anchors] / counts[anchors]).mean()
