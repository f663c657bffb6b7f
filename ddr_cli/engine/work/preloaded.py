"""What all worker processes of this machine load once: they are forks of one process.

`ddr_cli.engine.work.local` starts that process. It imports this module, only makes forks, and dies
with its parent, and they with it.
"""

from __future__ import annotations

import gc
from importlib import import_module

from ddr_cli.core.lazy import as_if_missing, load_when_used
from ddr_cli.engine.work.local import end_with_parent, use_one_thread

# Next to nothing of what is loaded here is garbage, and all of it stays: looking for some would
# cost time while loading, and in each copy the memory that they share.
gc.disable()
end_with_parent()
use_one_thread()
# scikit-learn imports it, and it is a third of what that takes.
load_when_used("scipy.stats")
# And pandas, of which workers are given nothing. Not when used: scikit-learn looks at each fit
# whether it is loaded, which would load it.
with as_if_missing("pandas"):
    import_module("ddr_cli.engine.work.fitting")
gc.freeze()
gc.enable()
