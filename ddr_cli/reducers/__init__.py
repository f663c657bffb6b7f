"""Dimensionality reduction methods as scikit-learn estimators.

Names are imported on first use, so that listing the methods loads no scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.reducers.baselines import PCA, Identity
    from ddr_cli.reducers.ccdr import CCDR
    from ddr_cli.reducers.discriminative_projections import DiscriminativeProjections
    from ddr_cli.reducers.isomap import Isomap
    from ddr_cli.reducers.laplacian_eigenmaps import LaplacianEigenmaps
    from ddr_cli.reducers.laplacian_rls import LaplacianRLS, LaplacianRLSRegressor
    from ddr_cli.reducers.lda import LDA
    from ddr_cli.reducers.lfda import LFDA, KernelLFDA
    from ddr_cli.reducers.lle import LLE
    from ddr_cli.reducers.lmnn import LMNN
    from ddr_cli.reducers.lpp import LPP
    from ddr_cli.reducers.mcml import MCML
    from ddr_cli.reducers.mds import MDS
    from ddr_cli.reducers.mfa import MFA, KernelMFA
    from ddr_cli.reducers.nca import NCA
    from ddr_cli.reducers.nmmp import NMMP
    from ddr_cli.reducers.registry import REDUCERS, Traits, get_traits
    from ddr_cli.reducers.rivals.random_projection import RandomProjection
    from ddr_cli.reducers.sde import SDE
    from ddr_cli.reducers.slle import SupervisedLLE
    from ddr_cli.reducers.ssde import SSDE
    from ddr_cli.reducers.wrapped import KernelPCA
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "baselines": ["PCA", "Identity"],
            "ccdr": ["CCDR"],
            "discriminative_projections": ["DiscriminativeProjections"],
            "isomap": ["Isomap"],
            "laplacian_eigenmaps": ["LaplacianEigenmaps"],
            "laplacian_rls": ["LaplacianRLS", "LaplacianRLSRegressor"],
            "lda": ["LDA"],
            "lfda": ["LFDA", "KernelLFDA"],
            "lle": ["LLE"],
            "lmnn": ["LMNN"],
            "lpp": ["LPP"],
            "mcml": ["MCML"],
            "mds": ["MDS"],
            "mfa": ["MFA", "KernelMFA"],
            "nca": ["NCA"],
            "nmmp": ["NMMP"],
            "registry": ["REDUCERS", "Traits", "get_traits"],
            "rivals.random_projection": ["RandomProjection"],
            "sde": ["SDE"],
            "slle": ["SupervisedLLE"],
            "ssde": ["SSDE"],
            "wrapped": ["KernelPCA"],
        },
    )

__all__ = [
    "CCDR",
    "LDA",
    "LFDA",
    "LLE",
    "LMNN",
    "LPP",
    "MCML",
    "MDS",
    "MFA",
    "NCA",
    "NMMP",
    "PCA",
    "REDUCERS",
    "SDE",
    "SSDE",
    "DiscriminativeProjections",
    "Identity",
    "Isomap",
    "KernelLFDA",
    "KernelMFA",
    "KernelPCA",
    "LaplacianEigenmaps",
    "LaplacianRLS",
    "LaplacianRLSRegressor",
    "RandomProjection",
    "SupervisedLLE",
    "Traits",
    "get_traits",
]
