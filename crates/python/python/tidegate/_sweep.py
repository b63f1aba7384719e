# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Simulations of many points: workloads, drives, policies and seeds, on all cores or a cluster."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ._native import Drive, TidegateError, Workload, __version__
from .drives import drive as drive_of
from .frames import whole
from .results import JOBS_DEFAULT, simulate

#: How many points a worker may have waiting: enough that it never runs dry.
POINTS_AHEAD = 4


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
        """The hash of everything that the result depends on, and of the version."""
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

    Without `drives` or `policies`, each workload's own count. Points run on the cores of this
    machine, or on the cluster of `client`, a `distributed.Client`, to which drives and workloads
    travel as text; the rows are the same, wall times apart. A point that cannot be simulated is one
    row with its `error`.

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
    points = list(_points(_named(workloads), list(drives), list(policies), list(seeds), jobs))
    folder = Path(store) if store is not None else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    done: dict[int, list[dict[str, Any]]] = {}
    missing: list[int] = []
    for index, point in enumerate(points):
        kept = _path(folder, point)
        if kept is not None and kept.exists():
            done[index] = pq.read_table(kept).to_pylist()
        else:
            missing.append(index)
    if progress is not None:
        progress(len(done), len(points))
    for index, rows, is_final in _computed(points, missing, client):
        done[index] = rows
        if is_final:
            _keep(_path(folder, points[index]), rows)
        if progress is not None:
            progress(len(done), len(points))
    rows = [row for index in range(len(points)) for row in done[index]]
    return whole(rows)


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
) -> Iterator[tuple[int, list[dict[str, Any]], bool]]:
    """Yields the results in the order in which they are ready, and whether they are final: a point
    that took its workers down may succeed on others."""
    if client is None:
        # The native code releases the interpreter's lock, so threads use all cores.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            futures: dict[Future[list[dict[str, Any]]], int] = {
                pool.submit(run, points[index]): index for index in missing
            }
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result(), True
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
    # Its own loop: by default that of the client that was made last.
    ready = as_completed_elsewhere(list(at), loop=client.loop)
    try:
        for future in ready:
            index = at.pop(future)
            try:
                yield index, future.result(), True
            except KilledWorker as error:
                rows = [points[index].coordinates() | {"error": f"no worker survived it: {error}"}]
                yield index, rows, False
            future.release()
            if (following := next(left, None)) is not None:
                submitted = client.submit(run, points[following], pure=False)
                at[submitted] = following
                ready.add(submitted)
    finally:
        client.cancel(list(at))


def run(point: Point) -> list[dict[str, Any]]:
    """Simulates one point, wherever it runs."""
    coordinates = point.coordinates()
    try:
        workload = point.source.on(point.on, [point.policy])
        data = simulate(workload, point.policy, jobs=point.jobs, seed=point.seed).data
    except TidegateError as error:
        return [coordinates | {"error": str(error)}]
    policy = data["policies"][0]
    shared = coordinates | {
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


def _keep(path: Path | None, rows: list[dict[str, Any]]) -> None:
    if path is None:
        return
    # A file under its final name is whole, whatever interrupts the sweep.
    part = path.with_suffix(".part")
    pq.write_table(pa.Table.from_pylist(rows), part)
    part.replace(path)
