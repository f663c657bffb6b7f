"""What the papers' methods are compared with: reducers of today's libraries, or written here.

Names are imported on first use, so that listing the methods loads no scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.reducers.rivals.forest_embedding import ForestEmbedding
    from ddr_cli.reducers.rivals.hsic_pca import HSICPCA
    from ddr_cli.reducers.rivals.kernel_approximation_lda import KernelApproximationLDA
    from ddr_cli.reducers.rivals.logistic_projection import LogisticProjection
    from ddr_cli.reducers.rivals.lol import LOL
    from ddr_cli.reducers.rivals.lsda import LSDA
    from ddr_cli.reducers.rivals.mmc import MMC
    from ddr_cli.reducers.rivals.olda import OLDA
    from ddr_cli.reducers.rivals.opentsne import OpenTSNE
    from ddr_cli.reducers.rivals.pacmap import PaCMAP
    from ddr_cli.reducers.rivals.pls_da import PLSDA
    from ddr_cli.reducers.rivals.random_projection import RandomProjection
    from ddr_cli.reducers.rivals.rda import RDA
    from ddr_cli.reducers.rivals.save import SAVE
    from ddr_cli.reducers.rivals.shrinkage_lda import ShrinkageLDA
    from ddr_cli.reducers.rivals.triplet_net import TripletNet
    from ddr_cli.reducers.rivals.umap import UMAP, SupervisedUMAP
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "forest_embedding": ["ForestEmbedding"],
            "hsic_pca": ["HSICPCA"],
            "kernel_approximation_lda": ["KernelApproximationLDA"],
            "logistic_projection": ["LogisticProjection"],
            "lol": ["LOL"],
            "lsda": ["LSDA"],
            "mmc": ["MMC"],
            "olda": ["OLDA"],
            "opentsne": ["OpenTSNE"],
            "pacmap": ["PaCMAP"],
            "pls_da": ["PLSDA"],
            "random_projection": ["RandomProjection"],
            "rda": ["RDA"],
            "save": ["SAVE"],
            "shrinkage_lda": ["ShrinkageLDA"],
            "triplet_net": ["TripletNet"],
            "umap": ["UMAP", "SupervisedUMAP"],
        },
    )

__all__ = [
    "HSICPCA",
    "LOL",
    "LSDA",
    "MMC",
    "OLDA",
    "PLSDA",
    "RDA",
    "SAVE",
    "UMAP",
    "ForestEmbedding",
    "KernelApproximationLDA",
    "LogisticProjection",
    "OpenTSNE",
    "PaCMAP",
    "RandomProjection",
    "ShrinkageLDA",
    "SupervisedUMAP",
    "TripletNet",
]
