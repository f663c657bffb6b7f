"""Methods with dense eigenproblems use one BLAS thread wherever they are fitted."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_info, threadpool_limits

from ddr_cli.reducers import (
    LLE,
    MDS,
    SDE,
    SSDE,
    Isomap,
    KernelLFDA,
    KernelMFA,
    KernelPCA,
    SupervisedLLE,
)

X, Y = (part[::5] for part in load_iris(return_X_y=True))


def blas_threads():
    # Once loaded, faiss has a BLAS of its own, which no fit here uses.
    pools = [pool for pool in threadpool_info() if "faiss" not in pool["filepath"]]
    return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        KernelLFDA(),
        KernelMFA(),
        KernelPCA(),
        Isomap(),
        LLE(n_neighbors=8),
        MDS(),
        SDE(),
        SSDE(),
        SupervisedLLE(),
    ],
    ids=repr,
)
def test_a_fit_has_one_blas_thread_and_leaves_the_users_as_they_were(model, monkeypatch):
    if not blas_threads():
        pytest.skip("threadpoolctl knows no BLAS here")
    during = []
    check = type(model)._points_and_labels, type(model)._points

    def observed(which):
        def points(self, *given, **options):
            during.append(blas_threads())
            return which(self, *given, **options)

        return points

    monkeypatch.setattr(type(model), "_points_and_labels", observed(check[0]))
    monkeypatch.setattr(type(model), "_points", observed(check[1]))
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        clone(model).fit(X, Y)
        with pytest.raises(ValueError, match="NaN"):
            clone(model).fit(np.full_like(X, np.nan), Y)
        assert blas_threads() == before
    assert during
    assert all(threads == {1} for threads in during)
