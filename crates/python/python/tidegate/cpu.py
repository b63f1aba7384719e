# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The processor: tasks and aperiodic servers, their proofs and simulations.

>>> from tidegate import cpu
>>> machine = cpu.processor({
...     "cpu": {"scheduling": "fixed-priority", "switch": "5us"},
...     "cpu_task": [{"name": "control", "period": "10ms", "execution": "2ms", "priority": 20}],
...     "cpu_server": [{"name": "net", "kind": "sporadic", "budget": "1ms", "period": "10ms",
...                     "priority": 30}],
...     "cpu_work": [{"name": "packets", "server": "net", "gap": "1ms", "execution": "50us"}],
... })
>>> verdict = cpu.check(machine)
>>> verdict.is_proven, verdict.tasks.response_ns_max.tolist()
(True, [3215000])
>>> run = cpu.simulate(machine, ["sporadic", "polling"], duration_ns=2_000_000_000)
>>> run.tasks.misses.sum()
np.int64(0)
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ._native import Processor, read_processor_profile, server_names
from .frames import flat, whole
from .inputs import as_file
from .results import kept

__all__ = [
    "CpuCheck",
    "CpuSimulation",
    "Demand",
    "Processor",
    "check",
    "load",
    "processor",
    "read_profile",
    "server_names",
    "simulate",
]

#: The simulated time, if none is given: a minute.
DURATION_NS_DEFAULT = 60_000_000_000


def load(path: str | os.PathLike[str]) -> Processor:
    """Returns the processor in a workload file.

    >>> load("workloads/network.workload.toml").servers
    ['net-rx']
    """
    return Processor.load(os.fspath(path))


def processor(content: Mapping[str, Any], *, name: str = "workload") -> Processor:
    """Returns a processor with the content of a workload file, as Python objects.

    The keys are those of the file (docs/reference/processor-file.md). Profiles that it names are
    beside `name`.

    >>> task = {"name": "control", "period": "10ms", "execution": "2ms", "priority": 20}
    >>> processor({"cpu": {"scheduling": "fixed-priority"}, "cpu_task": [task]}).tasks
    ['control']
    """
    return Processor.parse(as_file(content), name=name)


@dataclass(frozen=True)
class CpuCheck:
    """The verdict on a processor."""

    #: The object that `tidegate cpu check --json` prints.
    data: dict[str, Any]

    @property
    def is_proven(self) -> bool:
        """Whether every deadline is proved."""
        return bool(self.data["verdict"] == "proven")

    @property
    def answer(self) -> str:
        """The first line of the screen."""
        return str(self.data["answer"])

    @property
    def tasks(self) -> pd.DataFrame:
        """A row for each task: its bound, its deadline, and its loads at the deadline."""
        return whole(
            {"task": task["name"]} | flat(task, "name") | task["loads"]
            for task in self.data["tasks"]
        )

    @property
    def servers(self) -> pd.DataFrame:
        """A row for each server: its budget, and the bound on its response."""
        return whole({"server": it["name"]} | flat(it, "name") for it in self.data["servers"])

    @property
    def work(self) -> pd.DataFrame:
        """A row for each work of a server: the bound on its response."""
        return whole({"work": it["name"]} | flat(it, "name") for it in self.data["work"])

    @property
    def premises(self) -> pd.DataFrame:
        """A row for each premise: `code`, `subject`, `weight` and `text`."""
        return pd.DataFrame(self.data["premises"], columns=["code", "subject", "weight", "text"])

    def __repr__(self) -> str:
        return f"<CpuCheck: {self.answer}>"


@dataclass(frozen=True)
class CpuSimulation:
    """Runs of a processor, one for each kind of server."""

    #: The object that `tidegate cpu sim --json` prints.
    data: dict[str, Any]

    @property
    def tasks(self) -> pd.DataFrame:
        """A row for each run and task: jobs, misses and response times."""
        return self._rows("tasks", "task")

    @property
    def work(self) -> pd.DataFrame:
        """A row for each run and work of a server: jobs, misses and response times."""
        return self._rows("work", "work")

    @property
    def servers(self) -> pd.DataFrame:
        """A row for each run and server: what it executed, and how often it preempted."""
        return self._rows("servers", "server")

    @property
    def runs(self) -> pd.DataFrame:
        """A row for each run: its utilisation, switches, sections and stolen time."""
        return whole({"kind": run["server"]} | flat(run, "server") for run in self.data["runs"])

    def _rows(self, key: str, called: str) -> pd.DataFrame:
        return whole(
            {"kind": run["server"] or row.get("kind"), called: row["name"]}
            | flat(row, "name", "kind")
            for run in self.data["runs"]
            for row in run[key]
        )

    def __repr__(self) -> str:
        return f"<CpuSimulation: {self.data['answer']}>"


def check(processor: Processor) -> CpuCheck:
    """Proves the deadlines on a processor, or says that it cannot. A verdict is never an exception.

    >>> task = {"name": "control", "period": "10ms", "execution": "11ms", "priority": 20}
    >>> check(processor({"cpu": {"scheduling": "fixed-priority"}, "cpu_task": [task]})).is_proven
    False
    """
    return CpuCheck(json.loads(processor.check_json()))


def simulate(
    processor: Processor,
    servers: str | Iterable[str] = (),
    *,
    duration_ns: int = DURATION_NS_DEFAULT,
    seed: int = 1,
    disturb: str = "critical",
) -> CpuSimulation:
    """Simulates tasks and servers on a processor in virtual time.

    `servers` names kinds (`server_names()`), each simulated by itself in place of the file's.
    `disturb` says when threads of lower priority block and interference takes time: `critical`,
    just before a release; `random`; or `never`. Ctrl-C ends the run.

    >>> task = {"name": "control", "period": "10ms", "execution": "2ms", "priority": 20}
    >>> alone = processor({"cpu": {"scheduling": "fixed-priority"}, "cpu_task": [task]})
    >>> simulate(alone, duration_ns=10**9).tasks[["jobs", "response_ns_max"]].iloc[0].tolist()
    [100, 2000000]
    """
    kinds = [servers] if isinstance(servers, str) else list(servers)
    run = processor.simulate(kinds, duration_ns=duration_ns, seed=seed, disturb=disturb)
    return CpuSimulation(kept(*run))


@dataclass(frozen=True)
class Demand:
    """A profile of a processor: the longest time that other threads took in intervals."""

    #: Its content: `name`, `conditions`, `points`, `demand_fit` and `load_fit`.
    data: dict[str, Any]

    @property
    def points(self) -> pd.DataFrame:
        """A row for each length of an interval, and the longest time that was stolen in one."""
        return pd.DataFrame(self.data["points"], columns=["interval_ns", "stolen_ns_max"])


def read_profile(path: str | os.PathLike[str]) -> Demand:
    """Reads a profile that `tidegate cpu profile` wrote.

    >>> read_profile("workloads/example.cpu.toml").points.head(1)
       interval_ns  stolen_ns_max
    0        10000          10000
    """
    return Demand(json.loads(read_processor_profile(os.fspath(path))))
