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
        Entry("nmmp", "ddr_cli.reducers.nmmp:NMMP", "neighborhood minmax projections (Nie et al.)"),
        Entry(
            "lfda",
            "ddr_cli.reducers.lfda:LFDA",
            "local Fisher discriminant analysis (Sugiyama)",
        ),
        Entry(
            "kernel_lfda",
            "ddr_cli.reducers.kernel_lfda:KernelLFDA",
            "local Fisher discriminant analysis in a kernel's feature space",
        ),
        Entry("lpp", "ddr_cli.reducers.lpp:LPP", "locality preserving projections (He, Niyogi)"),
        Entry("mfa", "ddr_cli.reducers.mfa:MFA", "marginal Fisher analysis (Yan et al.)"),
        Entry(
            "kernel_mfa",
            "ddr_cli.reducers.kernel_mfa:KernelMFA",
            "marginal Fisher analysis in a kernel's feature space",
        ),
        Entry(
            "discriminative_projections",
            "ddr_cli.reducers.discriminative_projections:DiscriminativeProjections",
            "discriminative projections of points and labels (Wang, Mahadevan)",
        ),
        Entry(
            "laplacian_rls",
            "ddr_cli.reducers.laplacian_rls:LaplacianRLS",
            "Laplacian regularised least squares: manifold regularisation (Belkin et al.)",
        ),
        Entry(
            "sde",
            "ddr_cli.reducers.sde:SDE",
            "semidefinite embedding, or maximum variance unfolding (Weinberger, Saul)",
        ),
        Entry(
            "ssde", "ddr_cli.reducers.ssde:SSDE", "supervised semidefinite embedding (Zhang et al.)"
        ),
        Entry(
            "slle",
            "ddr_cli.reducers.slle:SupervisedLLE",
            "supervised locally linear embedding (de Ridder et al.)",
        ),
        Entry(
            "lmnn",
            "ddr_cli.reducers.lmnn:LMNN",
            "large margin nearest neighbour metric (Weinberger, Blitzer, Saul)",
        ),
        Entry(
            "mcml",
            "ddr_cli.reducers.mcml:MCML",
            "maximally collapsing metric learning (Globerson, Roweis)",
        ),
        Entry(
            "nca",
            "ddr_cli.reducers.nca:NCA",
            "neighbourhood components analysis (Goldberger et al.)",
        ),
        Entry(
            "laplacian_eigenmaps",
            "ddr_cli.reducers.laplacian_eigenmaps:LaplacianEigenmaps",
            "Laplacian eigenmaps (Belkin, Niyogi)",
        ),
        Entry("mds", "ddr_cli.reducers.mds:MDS", "classical multidimensional scaling (Torgerson)"),
        Entry(
            "isomap",
            "ddr_cli.reducers.isomap:Isomap",
            "Isomap: scaling of geodesic distances (Tenenbaum et al.)",
        ),
        Entry("lle", "ddr_cli.reducers.lle:LLE", "locally linear embedding (Roweis, Saul)"),
        Entry(
            "kernel_pca",
            "ddr_cli.reducers.kernel_pca:KernelPCA",
            "kernel principal component analysis (Schölkopf et al.)",
        ),
    ],
    group="ddr.reducers",
)
