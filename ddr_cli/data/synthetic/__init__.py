"""The data sets that need no file: generated, or shipped with scikit-learn.

A generator is a function ``(*, <options>, random_state=0) -> RawData``, declared by
``@registered("generator", name, summary)``; the same options give the same arrays. Other packages
add generators in the entry-point group ``ddr.generators``.
"""

from __future__ import annotations

from ddr_cli.core.registry import Registry, components

GENERATORS = Registry("generator", components("generator", __name__), "ddr.generators")
