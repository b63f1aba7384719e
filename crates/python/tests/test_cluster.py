# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sweeps on a cluster: the same rows as on one machine, also if a worker is killed."""

import os
import signal
import threading

import pytest
import tidegate

distributed = pytest.importorskip("distributed")

CAMERA = {"name": "camera", "period": "40ms", "size": "128KiB"}
SWEEP = {"policies": ["edf", "dqf"], "jobs": 20_000, "seeds": range(8)}


def cameras():
    return {"camera": tidegate.workload({"drive": "maxtor-atlas-10k-v", "task": [CAMERA]})}


def timeless(rows):
    return rows[[column for column in rows.columns if column != "wall_ns"]]


@pytest.fixture
def cluster():
    local = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**local) as cluster, distributed.Client(cluster) as client:
        yield client


def test_a_cluster_gives_the_same_rows_though_a_worker_is_killed(cluster):
    # The process of one worker, whose results and waiting points are lost.
    worker = next(iter(cluster.run(os.getpid).values()))
    killed = threading.Event()

    def kill(done, of):
        if done >= 4 and not killed.is_set():
            killed.set()
            os.kill(worker, signal.SIGKILL)

    elsewhere = tidegate.sweep(cameras(), **SWEEP, client=cluster, progress=kill)
    assert killed.is_set()
    assert worker not in cluster.run(os.getpid).values()
    here = tidegate.sweep(cameras(), **SWEEP)
    assert elsewhere.error.isna().all()
    assert timeless(here).equals(timeless(elsewhere))


def test_an_interrupted_sweep_leaves_nothing_waiting(cluster, tmp_path):
    def stop(done, of):
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tidegate.sweep(cameras(), **SWEEP, client=cluster, store=tmp_path, progress=stop)
    kept = len(list(tmp_path.glob("*.parquet")))
    assert kept >= 3
    counts = []
    tidegate.sweep(
        cameras(), **SWEEP, store=tmp_path, progress=lambda done, of: counts.append(done)
    )
    assert counts[0] == kept, "the points that were done are not computed again"
