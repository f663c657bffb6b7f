"""The data sets that need no file: generated, or shipped with scikit-learn.

A generator is a function ``(*, <options>, random_state=0) -> RawData``; the same options give the
same arrays. Other packages add generators in the entry-point group ``ddr.generators``.
"""

from __future__ import annotations

from ddr_cli.core.registry import Entry, Registry

_OURS = {
    "embedded": {
        "balance": "Balance Scale: the full 5^4 design, which side of the scale goes down",
        "breast_cancer": "scikit-learn's Wisconsin diagnostic breast cancer data",
        "digits": "scikit-learn's 8x8 handwritten digits",
        "iris": "Fisher's iris, as UCI or as Fisher prints it",
        "wine": "scikit-learn's wines of three cultivars",
    },
    "generated": {
        "pca_example": "two Gaussian classes apart along the minor axis only",
        "rings": "three concentric rings in two dimensions, wide noise in the others",
        "lfda_simple": "two elongated classes side by side",
        "lfda_mixed": "two clusters, each holding points of both classes",
        "lfda_multimodal": "one class in two clusters on both sides of the other",
        "swiss_roll": "a rolled sheet in 3-D, classes by arc",
        "four_class_manifold": "a rolled sheet in 3-D cut into four patches",
    },
}
GENERATORS = Registry(
    "generator",
    [
        Entry(name, f"ddr_cli.data.synthetic.{module}:{name}", summary)
        for module, summaries in _OURS.items()
        for name, summary in summaries.items()
    ],
    "ddr.generators",
)
