"""The reducers by the names that specs use; other packages add theirs as `ddr.reducers`."""

from __future__ import annotations

from ddr_cli.core.registry import Entry, Registry

REDUCERS = Registry(
    "reducer",
    [
        Entry("none", "ddr_cli.reducers.none:Identity", "no reduction: the data as they are"),
        Entry("pca", "ddr_cli.reducers.pca:PCA", "principal component analysis"),
        Entry("lda", "ddr_cli.reducers.lda:LDA", "Fisher's linear discriminant analysis"),
        Entry(
            "ccdr",
            "ddr_cli.reducers.ccdr:CCDR",
            "classification constrained dimensionality reduction (Raich et al.)",
        ),
    ],
    group="ddr.reducers",
)
