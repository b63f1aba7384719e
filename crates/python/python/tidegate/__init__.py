# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Response-time guarantees for workloads that share a disk.

>>> import tidegate
>>> cameras = tidegate.workload({
...     "drive": "maxtor-atlas-10k-v",
...     "policy": {"name": "dqf", "batch": "auto"},
...     "task": [{"name": "camera", "count": 4, "period": "300ms", "size": "128KiB"}],
... })
>>> tidegate.check(cameras).is_proven
True
>>> run = tidegate.simulate(cameras, ["dqf", "noop"], jobs=200)
>>> run.tasks.loc[run.tasks.policy == "dqf", "misses"].sum()
np.int64(0)

Every figure comes from the native code that the command line uses; the JSON reference
(docs/reference/json.md) gives the meaning of each key. Names end in their unit.
"""

from typing import Any

from . import cpu
from ._native import (
    Drive,
    InputError,
    NotApplicableError,
    PolicyError,
    TidegateError,
    Workload,
    __version__,
    drive_names,
    experiment_names,
    policy_names,
)
from .drives import Imported, Profile, Replay, drive, import_drive, profile, replay, tables
from .files import Result, read_log, read_result
from .inputs import load, workload
from .policy import Policy
from .results import Check, Simulation, check, simulate

__all__ = [
    "Check",
    "Drive",
    "Imported",
    "InputError",
    "NotApplicableError",
    "Policy",
    "PolicyError",
    "Profile",
    "Replay",
    "Result",
    "Simulation",
    "TidegateError",
    "Workload",
    "__version__",
    "check",
    "cpu",
    "drive",
    "drive_names",
    "experiment_names",
    "import_drive",
    "load",
    "place",
    "policy_names",
    "profile",
    "read_log",
    "read_result",
    "replay",
    "simulate",
    "sweep",
    "tables",
    "workload",
]


def __getattr__(name: str) -> Any:
    # Both need optional libraries (`tidegate[sweep]`, `tidegate[place]`), so they are imported only
    # when they are used.
    if name == "sweep":
        from ._sweep import sweep

        return sweep
    if name == "place":
        from .placement import place

        return place
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
