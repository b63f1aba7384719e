# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs that break one hypothesis each: `tune` refuses them, and a guest that runs them exceeds the bound."""

import dataclasses

from runs import Run


@dataclasses.dataclass(frozen=True)
class Canary:
    """A proved run, and settings of the guest that replace those that the proof needs."""

    name: str
    run: Run
    forced: dict
    # The run whose workload states the forced setting; None if no workload can, because `tune`
    # always sets the value.
    refused: Run = None
    # The bound that must be exceeded, in ns; None for the run's own bound.
    bound: int = None


def stating(run, **changes):
    return dataclasses.replace(run, **changes)


def canaries(tidegate):
    """Returns the canaries. Where `tune` must refuse a depth, the deadline is the bound of the proved run."""
    starved = Run("restart", 4, 1, "900 readers")
    crowded = Run("restart", 1, 1, "32 readers")
    writing = Run("restart", 1, 4, "128 writers")
    found = [
        Canary("ageing as the kernel has it, 10 s, and loads that wait longer", starved,
               {"queue/iosched/prio_aging_expire": 10_000},
               stating(starved, stated=(("prio_aging_expire", '"10s"'),))),
        Canary("nr_requests 16 for 33 requests", crowded, {"queue/nr_requests": 16, "queue/iosched/async_depth": 16},
               stating(crowded, stated=(("nr_requests", 16),))),
        Canary("async_depth 4 beside 128 writers, for tasks that write", writing, {"queue/iosched/async_depth": 4}),
    ]
    for depth in (1, 4):
        proved = Run("restart", depth, 1, "32 readers")
        # `tune` assumes a SCSI disk, for which the kernel takes no request early.
        deadline = tidegate.bound(stating(proved, stated=(("taken_early", 0),)))
        deeper = stating(proved, stated=(("queue_depth", depth + 1),), deadline_ns=deadline)
        name, forced = f"depth {depth + 1}, proved for {depth}", {"device/queue_depth": depth + 1}
        found.append(Canary(name, proved, forced, deeper))
    uncounted = tidegate.bound(stating(crowded, stated=(("taken_early", 0),)))
    found.append(Canary("a bound that does not count the request taken early", crowded, {}, bound=uncounted))
    return found

