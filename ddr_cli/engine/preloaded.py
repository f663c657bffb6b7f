"""What is loaded once for all worker processes of this machine: they are copies of one process.

The process imports this module (see `ddr_cli.engine.local`), does nothing else but make the copies,
and dies with its parent, and they with it.
"""

from __future__ import annotations

from importlib import import_module

from ddr_cli.core.lazy import load_when_used
from ddr_cli.engine.local import end_with_parent, use_one_thread

end_with_parent()
use_one_thread()
# scikit-learn imports it, and it is a third of what that takes.
load_when_used("scipy.stats")
import_module("ddr_cli.engine.work")
