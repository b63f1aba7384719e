# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Files that the command line wrote: results and request logs."""

import json
import os
from typing import Any

import pandas as pd

from . import _native
from ._native import InputError
from .drives import whole_csv
from .frames import whole
from .results import Check, Simulation

#: The columns of a request log.
LOG_COLUMNS = ("policy", "request", "source", "released_ns", "ended_ns", "outcome")


class Result:
    """A result that `check`, `sim` or `run` wrote with `--result`.

    `command` names the command, `data` is its whole result: the object that it prints with
    `--json`.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.command: str = content["command"]
        self.data: dict[str, Any] = content["report"]
        self._runs: list[dict[str, Any]] = content["runs"]

    @property
    def report(self) -> Check | Simulation:
        """The verdict of `check`, or the policies of `sim` and `run` side by side."""
        return Check(self.data) if self.command == "check" else Simulation(self.data)

    @property
    def responses(self) -> pd.DataFrame:
        """The distribution of the response times of each source under each policy. In each row,
        `jobs` responses were at most `response_ns`, and longer than that of the row before."""
        return whole(
            {
                "policy": run["policy"],
                "source": source["name"],
                "is_best_effort": source["is_best_effort"],
                "response_ns": response_ns,
                "jobs": jobs,
            }
            for run in self._runs
            for source in run["sources"]
            for response_ns, jobs in source["response_ns_steps"]
        )

    @property
    def busy_intervals(self) -> pd.DataFrame:
        """A row for each event of the longest busy interval under each policy."""
        return whole(
            {"policy": run["policy"]}
            | event
            | {"source": run["sources"][event["source"]]["name"], "batch": event.get("batch")}
            for run in self._runs
            if run["longest_busy_interval"]
            for event in run["longest_busy_interval"]["events"]
        )

    def __repr__(self) -> str:
        return f"<Result of {self.command}: {self.data.get('answer')}>"


def read_result(path: str | os.PathLike[str]) -> Result:
    """Reads a result file (docs/reference/result.md).

    >>> result = read_result("cameras.result.json")
    >>> result.command, result.report.tasks.jobs.unique().tolist()
    ('sim', [50])
    """
    return Result(json.loads(_native.read_result(os.fspath(path))))


def read_log(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Reads a log that `sim` or `run` wrote with `--log` (docs/reference/request-log.md).

    >>> requests = read_log("requests.csv")
    >>> requests[requests.source == "camera-1"].groupby("policy").size().to_dict()
    {'dqf': 50, 'edf': 50}
    """
    try:
        requests = whole_csv(path)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"cannot read the request log {os.fspath(path)}: {error}") from error
    if missing := [column for column in LOG_COLUMNS if column not in requests.columns]:
        raise InputError(
            f"{os.fspath(path)} is no request log: it has no column `{missing[0]}`\n"
            "  help: name a file that `sim` or `run` wrote with --log"
        )
    return requests
