# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Policies written in Python, for trying an idea in the simulator."""

from typing import ClassVar

from ._native import Cancel, Complete, Full, Notice, Release, Request, Wait, Workload

__all__ = ["Cancel", "Complete", "Event", "Full", "Notice", "Policy", "Release", "Request", "Wait"]

Event = Release | Complete | Cancel | Notice


class Policy:
    """A scheduling policy: it sees events and decides what the drive gets next.

    At one instant `observe` is called for all events, completions first; then `decide` is called
    until it returns no request. All requests of such a round go to the drive as one batch.

    First come, first served, one request at a time:

    >>> from collections import deque
    >>> import tidegate
    >>> class OneByOne(tidegate.Policy):
    ...     rules = ("one_at_a_time", "release_order")
    ...     def start(self, workload):
    ...         self.queue, self.is_busy = deque(), False
    ...     def observe(self, now_ns, event):
    ...         match event:
    ...             case Release(request):
    ...                 self.queue.append(request)
    ...             case Complete():
    ...                 self.is_busy = False
    ...     def decide(self, now_ns):
    ...         if self.queue and not self.is_busy:
    ...             self.is_busy = True
    ...             return self.queue.popleft()
    >>> camera = {"name": "camera", "period": "20ms", "size": "128KiB"}
    >>> cameras = tidegate.workload({"drive": "maxtor-atlas-10k-v", "task": [camera]})
    >>> tidegate.simulate(cameras, OneByOne(), jobs=100).tasks.misses.sum()
    np.int64(0)
    """

    #: The rules that the simulator checks, in addition to those of every policy (each request is
    #: served exactly once; the drive holds no more than its depth). Known rules: `work_conserving`,
    #: `one_at_a_time`, `release_order`, `due_order`, `class_order`.
    rules: ClassVar[tuple[str, ...]] = ()

    def start(self, workload: Workload) -> None:
        """Prepares for a run of this workload. Does nothing by default."""

    def observe(self, now_ns: int, event: Event) -> None:
        """Records an event. Raises `Full` for a released request for which there is no room."""
        raise NotImplementedError

    def decide(self, now_ns: int) -> Request | int | Wait | None:
        """Returns a queued request (or its `id`) to send, `Wait(until_ns)`, or `None` to wait for
        the next event."""
        raise NotImplementedError
