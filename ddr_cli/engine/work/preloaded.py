"""Libraries that the worker processes of this machine load once: they are forks of one process.

`ddr_cli.core.processes` starts that process. It imports this module, only forks, and ends with its
parent; the forks end with it.
"""

from __future__ import annotations

import gc
from importlib import import_module

from ddr_cli.core.lazy import as_if_missing, load_when_used
from ddr_cli.core.processes import end_with_parent, use_one_thread

# Garbage collection would find almost nothing here, but would cost time and make each fork copy
# memory that forks can share.
gc.disable()
end_with_parent()
use_one_thread()
# scikit-learn imports scipy.stats, and SciPy imports the other two; workers use none of them.
load_when_used("numpy.f2py", "numpy.testing", "scipy.stats")
# Workers do not use pandas. A lazy import would not help: scikit-learn checks at each fit whether
# pandas is loaded, and this check would load it.
with as_if_missing("pandas"):
    import_module("ddr_cli.engine.work.fitting")
gc.freeze()
gc.enable()
