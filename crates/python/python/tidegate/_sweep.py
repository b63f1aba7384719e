# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Simulations of many points: workloads, drives, policies and seeds, on all cores or a cluster."""

import hashlib
import json
import operator
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ._native import Drive, InputError, TidegateError, Workload, __version__
from .drives import drive as drive_of
from .frames import whole
from .results import JOBS_DEFAULT, simulate

#: The results of a point: one for each task, or one with its `error`.
Results = list[dict[str, Any]]

#: The points that are submitted for each core of a cluster, so that no core waits for work.
POINTS_AHEAD = 4

#: The largest seed, and the largest number of jobs.
NUMBER_MAX = (1 << 63) - 1


@dataclass(frozen=True)
class Point:
    """One simulation: its coordinates in the sweep, and what is simulated."""

    workload: str
    drive: str
    policy: str
    seed: int
    jobs: int
    source: Workload
    on: Drive | None

    def key(self) -> str:
        """The hash of everything that the results depend on, and of the version."""
        drive = self.on.text if self.on else None
        point = [self.source.text, self.source.changes, drive, self.policy, self.seed, self.jobs]
        inputs = [__version__, *point]
        return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()

    def coordinates(self) -> dict[str, Any]:
        return {
            "workload": self.workload,
            "drive": self.drive,
            "policy": self.policy,
            "seed": self.seed,
            "jobs": self.jobs,
        }


def sweep(
    workloads: Mapping[str, Workload] | Iterable[Workload],
    drives: Iterable[str | Drive] = (),
    policies: Iterable[str] = (),
    seeds: Iterable[int] = (0,),
    *,
    jobs: int = JOBS_DEFAULT,
    client: Any = None,
    store: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Simulates every combination and returns a row for each task of each point.

    Without `drives`, each workload runs on its own drive; without `policies`, under its own policy.
    Points run on the cores of this machine, or on the cluster of `client`, a `distributed.Client`,
    to which drives and workloads travel as text; the rows are the same, except for wall times. A
    point that cannot be simulated is one row with its `error`.

    `store` names a folder: each result is kept there as a Parquet file under the hash of its inputs
    and the version. The same sweep later, or one that was interrupted, computes only what is
    missing. `progress` is called with the number of points that are done, and of all points. Ctrl-C
    cancels what has not started.

    >>> import tidegate
    >>> camera = {"name": "camera", "period": "40ms", "size": "128KiB"}
    >>> workload = tidegate.workload({"drive": "maxtor-atlas-10k-v", "task": [camera]})
    >>> rows = tidegate.sweep([workload], policies=["edf", "dqf"], seeds=range(3), jobs=50)
    >>> rows.groupby("policy").misses.sum().to_dict()
    {'dqf': 0, 'edf': 0}
    """
    names = list(_listed("drives", drives)), list(_listed("policies", policies))
    numbers = [_number("seed", seed, 0) for seed in seeds]
    points = list(_points(_named(workloads), *names, numbers, _number("jobs", jobs, 1)))
    folder = Path(store) if store is not None else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    done: dict[int, Results] = {}
    missing: list[int] = []
    for index, point in enumerate(points):
        kept = _path(folder, point)
        if kept is not None and kept.exists():
            done[index] = pq.read_table(kept).to_pylist()
        else:
            missing.append(index)
    if progress is not None:
        progress(len(done), len(points))
    for index, results in _computed(points, missing, client):
        done[index] = results
        # A point that failed may succeed later.
        if not any(result.get("error") for result in results):
            _keep(_path(folder, points[index]), results)
        if progress is not None:
            progress(len(done), len(points))
    return whole(
        point.coordinates() | result for index, point in enumerate(points) for result in done[index]
    )


def _listed(what: str, names: Iterable[Any]) -> Iterable[Any]:
    if isinstance(names, str):
        raise InputError(f"{what} = {names!r} is one name\n  help: write a list: [{names!r}]")
    return names


def _number(what: str, value: Any, least: int) -> int:
    """Returns a number, of Python or NumPy, that a frame and a file can hold."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not least <= number <= NUMBER_MAX:
        raise InputError(f"{what} {value!r} is no whole number from {least} to {NUMBER_MAX}")
    return number


def _named(workloads: Mapping[str, Workload] | Iterable[Workload]) -> Mapping[str, Workload]:
    if isinstance(workloads, Mapping):
        return workloads
    return {str(index): workload for index, workload in enumerate(workloads)}


def _points(
    workloads: Mapping[str, Workload],
    drives: Sequence[str | Drive],
    policies: Sequence[str],
    seeds: Sequence[int],
    jobs: int,
) -> Iterator[Point]:
    chosen: list[Drive | None] = [
        drive if isinstance(drive, Drive) else drive_of(drive) for drive in drives
    ]
    for (name, workload), seed in product(workloads.items(), seeds):
        for drive in chosen or [workload.own_drive]:
            drive_name = drive.name if drive else workload.drive
            for policy in policies or [workload.policy]:
                yield Point(name, drive_name, policy, seed, jobs, workload, drive)


def _computed(
    points: Sequence[Point], missing: Sequence[int], client: Any
) -> Iterator[tuple[int, Results]]:
    """Yields the results in the order in which they are ready."""
    if client is None:
        # The native code releases the interpreter's lock, so threads use all cores.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            futures: dict[Future[Results], int] = {
                pool.submit(run, points[index]): index for index in missing
            }
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return
    from distributed import KilledWorker
    from distributed import as_completed as as_completed_elsewhere

    left = iter(missing)
    cores = max(1, sum(client.ncores().values()))
    first = list(islice(left, POINTS_AHEAD * cores))
    at = {client.submit(run, points[index], pure=False): index for index in first}
    # Without `loop` it would use the event loop of the client that was made last.
    ready = as_completed_elsewhere(list(at), loop=client.loop)
    try:
        for future in ready:
            index = at.pop(future)
            try:
                yield index, future.result()
            except KilledWorker as error:
                yield index, [{"error": f"no worker survived it: {error}"}]
            future.release()
            if (following := next(left, None)) is not None:
                submitted = client.submit(run, points[following], pure=False)
                at[submitted] = following
                ready.add(submitted)
    finally:
        client.cancel(list(at))


def run(point: Point) -> Results:
    """Simulates one point, wherever it runs. Whatever goes wrong is its `error`."""
    try:
        workload = point.source.on(point.on, [point.policy])
        data = simulate(workload, point.policy, jobs=point.jobs, seed=point.seed).data
    except TidegateError as error:
        return [{"error": str(error)}]
    except BaseException as error:
        # A panic of the native half is no `Exception`.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        return [{"error": f"{type(error).__name__}: {error}"}]
    policy = data["policies"][0]
    shared = {
        "error": None,
        "verdict": policy["verdict"],
        "best_effort_bytes_per_s": policy["best_effort"]["throughput_bytes_per_s"],
        "overruns": policy["overruns"],
        "wall_ns": policy["wall_ns"],
    }
    tasks = policy["tasks"] or [{"name": None}]
    return [
        shared
        | {"task": task["name"]}
        | {key: value for key, value in task.items() if key != "name"}
        for task in tasks
    ]


def _path(folder: Path | None, point: Point) -> Path | None:
    return folder / f"{point.key()}.parquet" if folder is not None else None


def _keep(path: Path | None, results: Results) -> None:
    if path is None:
        return
    # A file under its final name is whole, whatever interrupts the sweep.
    part = path.with_suffix(f".{os.getpid()}.{secrets.token_hex(4)}.part")
    pq.write_table(pa.Table.from_pylist(results), part)
    part.replace(path)
