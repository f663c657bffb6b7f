"""The data sets that need no file: generated, or shipped with scikit-learn.

A generator is a function ``(*, <options>, random_state=0) -> RawData``; the same options give the
same arrays. Other packages add generators in the entry-point group ``ddr.generators``.
"""

from __future__ import annotations

from ddr_cli.core.registry import Entry, Registry

GENERATORS = Registry(
    "generator",
    [
        Entry(
            "balance",
            "ddr_cli.data.embedded:balance",
            "Balance Scale: the full 5^4 design, which side of the scale goes down",
        ),
        Entry("digits", "ddr_cli.data.embedded:digits", "scikit-learn's 8x8 handwritten digits"),
        Entry("iris", "ddr_cli.data.embedded:iris", "Fisher's iris, as UCI or as Fisher prints it"),
        Entry(
            "pca_example",
            "ddr_cli.data.synthetic_classes:pca_example",
            "two Gaussian classes apart along the minor axis only",
        ),
        Entry(
            "rings",
            "ddr_cli.data.synthetic_classes:rings",
            "three concentric rings in two dimensions, wide noise in the others",
        ),
        Entry(
            "lfda_simple",
            "ddr_cli.data.synthetic_classes:lfda_simple",
            "two elongated classes side by side",
        ),
        Entry(
            "lfda_mixed",
            "ddr_cli.data.synthetic_classes:lfda_mixed",
            "two clusters, each holding points of both classes",
        ),
        Entry(
            "lfda_multimodal",
            "ddr_cli.data.synthetic_classes:lfda_multimodal",
            "one class in two clusters on both sides of the other",
        ),
        Entry(
            "swiss_roll",
            "ddr_cli.data.synthetic_manifolds:swiss_roll",
            "a rolled sheet in 3-D, classes by arc",
        ),
        Entry(
            "four_class_manifold",
            "ddr_cli.data.synthetic_manifolds:four_class_manifold",
            "a rolled sheet in 3-D cut into four patches",
        ),
    ],
    "ddr.generators",
)
