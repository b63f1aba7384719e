#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sweeps 1,000 points on a Dask cluster of one and of two workers, and compares time and rows.

    sweep_cluster.py [POINTS]

It needs the package with its extra `sweep`. Blocks of points alternate between the clusters, so that
other load of the machine affects both alike. In a last block on two workers, one is killed. It prints
the processor time of the workers, and of this process, which runs the client and the schedulers.
"""

import os
import signal
import sys
import time

import tidegate
from distributed import Client, LocalCluster

POINTS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
BLOCKS = 10

#: Long enough that a point takes at least 0.2 s of processor time.
JOBS = 32_000


def cameras():
    tasks = [{"name": "camera", "count": 16, "period": "300ms", "size": "128KiB"}]
    return {"cameras": tidegate.workload({"drive": "maxtor-atlas-10k-v", "task": tasks})}


def used(client):
    return sum(client.run(time.process_time).values())


def block(client, seeds, progress=None):
    """Returns the rows of a block, and its wall time."""
    start = time.monotonic()
    rows = tidegate.sweep(
        cameras(), policies=["dqf"], seeds=seeds, jobs=JOBS, client=client, progress=progress
    )
    return rows, time.monotonic() - start


def timeless(rows):
    return rows.drop(columns="wall_ns")


def main():
    size = POINTS // BLOCKS
    wall, cpu, client_cpu = {1: 0.0, 2: 0.0}, {1: 0.0, 2: 0.0}, {1: 0.0, 2: 0.0}
    fastest = float("inf")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        LocalCluster(n_workers=1, **options) as one,
        LocalCluster(n_workers=2, **options) as two,
        Client(one) as first,
        Client(two) as second,
    ):
        clients = {1: first, 2: second}
        for client in clients.values():
            block(client, range(4))
        for number in range(BLOCKS):
            seeds = range(number * size, (number + 1) * size)
            rows = {}
            for workers in ((1, 2), (2, 1))[number % 2]:
                before, own = used(clients[workers]), time.process_time()
                rows[workers], seconds = block(clients[workers], seeds)
                wall[workers] += seconds
                client_cpu[workers] += time.process_time() - own
                cpu[workers] += used(clients[workers]) - before
            assert timeless(rows[1]).equals(timeless(rows[2])), "the rows differ"
            fastest = min(fastest, rows[1].wall_ns.min() / 1e9)
            print(f"{(number + 1) * size} points: {wall[1]:.1f} s and {wall[2]:.1f} s", flush=True)
        victim = next(iter(second.run(os.getpid).values()))
        killed = []

        def kill(done, of):
            if done >= of // 2 and not killed:
                killed.append(done)
                os.kill(victim, signal.SIGKILL)

        rows_of_killed, seconds = block(second, seeds, kill)
        assert killed and timeless(rows[1]).equals(timeless(rows_of_killed)), "rows were lost"
    for workers in (1, 2):
        print(
            f"workers {workers}: {wall[workers]:.1f} s; processor time {cpu[workers]:.1f} s,"
            f" and {client_cpu[workers]:.1f} s of the client and the scheduler"
        )
    print(f"ratio {wall[1] / wall[2]:.2f}; the rows are equal; shortest point {fastest:.2f} s")
    print(f"one of two workers killed after {killed[0]} of {size} points: the rows are equal")


if __name__ == "__main__":
    main()
