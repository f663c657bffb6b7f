"""A small network trained on triplets of samples, by PyTorch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ddr_cli.core.registry import registered
from ddr_cli.reducers.registry import Traits
from ddr_cli.reducers.rivals.network import Network

_MARGIN = 1.0


@registered(
    "reducer",
    "triplet_net",
    "a small network trained on triplets (Hoffer, Ailon; extra torch)",
    look=("dark red", "v"),
)
class TripletNet(Network):
    r"""Train a network with one hidden layer that embeds each class apart from the others.

    The output :math:`f(x) = W_2 \max(W_1 x + b_1, 0)` of samples in units of `scale_` minimises
    the mean of

    .. math:: \|f(x_a) - f(x_p)\| - \|f(x_a) - f(x_n)\| + 1

    over the triplets of a batch for which this is positive: each sample is an anchor a, with one
    sample p of its class, drawn at random, and every sample n of the other classes.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the output, at most `n_hidden`. Default: our choice.
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

    PyTorch trains it on one CPU thread, in single precision, with a seed. It is an optional extra:
    ``pip install 'ddrbench[torch]'``; `transform` only needs NumPy.

    References
    ----------
    .. [1] E. Hoffer, N. Ailon, "Deep metric learning using triplet network", SIMBAD 2015, 84-92.
    .. [2] F. Schroff, D. Kalenichenko, J. Philbin, "FaceNet: A Unified Embedding for Face
       Recognition and Clustering", CVPR 2015, 815-823: the loss.
    """

    def _loss(self, torch: Any, placed: Any, labels: Any) -> Any:
        same = labels[:, None] == labels
        others = (same & ~torch.eye(len(labels), dtype=torch.bool)).float()
        anchors = (others.sum(dim=1) > 0) & ~same.all(dim=1)
        if not anchors.any():
            return None
        # The square root has no gradient at 0, the distance of equal points.
        gaps = ((placed[anchors, None] - placed) ** 2).sum(dim=2).clamp(min=1e-12).sqrt()
        positive = gaps.gather(1, torch.multinomial(others[anchors], 1))
        excess = torch.relu(positive - gaps + _MARGIN).masked_fill(same[anchors], 0.0)
        return excess.sum() / (excess > 0).sum().clamp(min=1)

    def __ddr_traits__(self) -> Traits:
        return replace(super().__ddr_traits__(), version=2)
