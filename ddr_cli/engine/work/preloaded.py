"""Libraries that the worker processes of this machine load once: they are forks of one process.

`ddr_cli.core.processes` starts that process. It imports this module, only forks, and ends with its
parent; the forks end with it.
"""

from __future__ import annotations

import gc
from importlib import import_module

from ddr_cli.core.lazy import as_if_missing, load_when_used
from ddr_cli.core.processes import end_with_parent, use_one_thread

# Almost nothing that is loaded here is garbage, and all of it stays. A search for garbage would
# cost time, and in each copy the memory that the copies share.
gc.disable()
end_with_parent()
use_one_thread()
# scikit-learn imports it, which is a third of its own loading time.
load_when_used("scipy.stats")
# Workers do not use pandas. It must be missing, not loaded when used: scikit-learn checks at each
# fit whether it is loaded, which would load it.
with as_if_missing("pandas"):
    import_module("ddr_cli.engine.work.fitting")
gc.freeze()
gc.enable()
