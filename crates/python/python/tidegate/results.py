# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Proofs and simulations, with their results as objects and frames."""

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

from . import _native
from ._native import TidegateError, Workload
from .frames import flat, whole
from .policy import Policy

#: The jobs of each task in a simulation, if neither jobs nor a duration is given.
JOBS_DEFAULT = 10_000


class Check:
    """The verdict on a workload, its processor included if the file describes one.

    `data` is the whole result: the object that `tidegate check --json` prints.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        # A file that describes a processor too has an object for each part.
        self._disk: dict[str, Any] = data["disk"] if "disk" in data else data

    @property
    def is_proven(self) -> bool:
        """Whether every deadline is proved, with a grade that is good enough."""
        rank = {"strong": 0, "weak": 1}
        grade = self.data["grade"]
        return self.data["verdict"] == "proven" and rank[grade] <= rank[self.data["required"]]

    @property
    def answer(self) -> str:
        """The first line of the screen."""
        return str(self.data["answer"])

    @property
    def grade(self) -> str | None:
        """`strong` or `weak`; `None` if the workload is not proven."""
        grade: str | None = self.data["grade"]
        return grade

    @property
    def tasks(self) -> pd.DataFrame:
        """A row for each task: its bound, its deadline, and what is left between them."""
        rows = [
            {
                "task": task["name"],
                "period_ns": task["period_ns"],
                "deadline_ns": task["deadline_ns"],
                "requests": task["requests"],
                "response_ns_max": task["response_ns_max"],
                "bound_used": task["bound_used"],
                "meets_deadline": task["meets_deadline"],
            }
            for task in self._disk["tasks"]
        ]
        return whole(rows)

    @property
    def premises(self) -> pd.DataFrame:
        """A row for each premise: `code`, `subject`, `weight`, `text` and perhaps `to_do`."""
        parts = [self._disk, self.data["cpu"]] if "cpu" in self.data else [self._disk]
        rows = [premise for part in parts for premise in part["premises"]]
        return pd.DataFrame(rows, columns=["code", "subject", "weight", "text", "to_do"])

    def __repr__(self) -> str:
        return f"<Check: {self.answer}>"


class Simulation:
    """Policies side by side on a simulated drive.

    `data` is the whole result: the object that `tidegate sim --json` prints.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @property
    def tasks(self) -> pd.DataFrame:
        """A row for each policy and task: jobs, misses, response times, and the bound."""
        rows = [
            {"policy": policy["policy"], "task": task["name"]} | flat(task, "name")
            for policy in self.data["policies"]
            for task in policy.get("tasks", [])
        ]
        return whole(rows)

    @property
    def policies(self) -> pd.DataFrame:
        """A row for each policy: its verdict and its throughput."""
        rows = [
            {
                "policy": policy["policy"],
                "verdict": policy["verdict"],
                "real_time_bytes_per_s": policy["real_time"]["throughput_bytes_per_s"],
                "best_effort_bytes_per_s": policy["best_effort"]["throughput_bytes_per_s"],
                "batches": policy["batches"],
                "overruns": policy["overruns"],
                "overrun_ns_max": policy["overrun_ns_max"],
                "wall_ns": policy["wall_ns"],
            }
            for policy in self.data["policies"]
            if "verdict" in policy
        ]
        return whole(rows)

    def __repr__(self) -> str:
        verdicts = (f"{row.policy} {row.verdict}" for row in self.policies.itertuples())
        return f"<Simulation: {', '.join(verdicts)}>"


def check(
    workload: Workload,
    policy: str | None = None,
    *,
    require: str = "weak",
    explain: bool = False,
    fits: bool = True,
) -> Check:
    """Proves the deadlines of a workload, or says that it cannot. A verdict is never an exception.

    >>> from tidegate import load, workload
    >>> tasks = [{"name": "camera", "count": 90, "period": "300ms", "size": "128KiB"}]
    >>> verdict = check(workload({"drive": "maxtor-atlas-10k-v", "task": tasks}), "dqf")
    >>> verdict.is_proven
    False

    `require="strong"` makes a weak grade count as not proven; `explain` adds the steps to each
    bound to `data`. `fits=False` leaves out what would fit if the answer is no, which takes most of
    the time.
    """
    text = workload.check_json(policy, require=require, explain=explain, fits=fits)
    return Check(json.loads(text))


def simulate(
    workload: Workload,
    policies: str | Policy | Iterable[str] = (),
    *,
    jobs: int | None = None,
    duration_ns: int | None = None,
    seed: int = 0,
) -> Simulation:
    """Simulates policies side by side, by name, or one that is written in Python.

    Without policies, the workload's own policy runs. A run lasts until each task has released
    `jobs` jobs (10,000 by default), or for `duration_ns`. The same arguments give the same result
    anywhere, except for wall times. Every run is watched by the checkers of the policy's rules.

    >>> from tidegate import workload
    >>> camera = {"name": "camera", "period": "40ms", "size": "128KiB"}
    >>> run = simulate(workload({"drive": "maxtor-atlas-10k-v", "task": [camera]}), jobs=100)
    >>> run.tasks[["policy", "task", "jobs", "misses"]]
      policy    task  jobs  misses
    0    dqf  camera   100       0

    Named policies run without the interpreter's lock, so that threads use all cores; Ctrl-C ends a
    run with `KeyboardInterrupt`.
    """
    if jobs is None and duration_ns is None:
        jobs = JOBS_DEFAULT
    if isinstance(policies, type):
        raise TypeError(f"{policies.__name__} is a class; pass a policy, {policies.__name__}()")
    if isinstance(policies, Policy):
        policies.start(workload)
        name, rules = type(policies).__name__, list(policies.rules)
        result = _native.simulate_own(
            workload,
            policies,
            name=name,
            rules=rules,
            jobs=jobs,
            duration_ns=duration_ns,
            seed=seed,
        )
    else:
        names = [policies] if isinstance(policies, str) else list(policies)
        result = _native.simulate(workload, names, jobs=jobs, duration_ns=duration_ns, seed=seed)
    return Simulation(kept(*result))


def kept(text: str, defects: list[str]) -> dict[str, Any]:
    """Returns the result of a simulation in which every promise of Tidegate held.

    >>> kept('{"answer": "ALL MET"}', [])
    {'answer': 'ALL MET'}
    """
    if defects:
        raise TidegateError(
            "a promise of Tidegate did not hold; please report this: " + "; ".join(defects)
        )
    result: dict[str, Any] = json.loads(text)
    return result
