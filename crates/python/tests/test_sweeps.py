# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sweeps: what the store keeps, points that fail, and sweep files that are refused."""

import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import tidegate
from conftest import ROOT

pytest.importorskip("pyarrow")

from tidegate import _sweep  # noqa: E402

CAMERA = {"name": "camera", "period": "40ms", "size": "128KiB"}


def cameras(**more):
    return tidegate.workload({"drive": "maxtor-atlas-10k-v", "task": [CAMERA], **more})


def test_rows_from_the_store_carry_the_labels_of_this_sweep(tmp_path):
    sweep = {"jobs": 20, "store": tmp_path}
    tidegate.sweep({"before": cameras()}, **sweep)
    again = tidegate.sweep({"after": cameras(), "twice": cameras()}, **sweep)
    assert again.workload.tolist() == ["after", "twice"]
    assert len(list(tmp_path.iterdir())) == 1


class PanicException(BaseException):
    """The exception that the native half raises if it panics."""


@pytest.mark.parametrize("error", [PanicException, ZeroDivisionError, tidegate.TidegateError])
def test_a_point_that_fails_is_a_row_and_is_computed_again(error, tmp_path, monkeypatch):
    simulate = _sweep.simulate

    def failing(workload, policy, **more):
        if policy == "edf":
            raise error("no answer")
        return simulate(workload, policy, **more)

    sweep = {"policies": ["edf", "dqf"], "jobs": 20, "store": tmp_path}
    monkeypatch.setattr(_sweep, "simulate", failing)
    rows = tidegate.sweep([cameras()], **sweep)
    assert rows.error.notna().tolist() == [True, False]
    assert "no answer" in rows.error[0]
    monkeypatch.setattr(_sweep, "simulate", simulate)
    assert tidegate.sweep([cameras()], **sweep).error.isna().all()


def test_a_batch_of_no_requests_is_refused():
    with pytest.raises(tidegate.InputError, match="batch is 0"):
        tidegate.load(ROOT / "workloads" / "cameras.workload.toml", batch=0)


def test_seeds_of_numpy_are_numbers_and_others_are_refused(tmp_path):
    rows = tidegate.sweep([cameras()], seeds=np.arange(2), jobs=np.int64(20), store=tmp_path)
    assert rows.seed.tolist() == [0, 1]
    for wrong in (-1, 1 << 63, 0.5, "7"):
        with pytest.raises(tidegate.InputError, match="seed .* is no whole number"):
            tidegate.sweep([cameras()], seeds=[wrong])
    with pytest.raises(tidegate.InputError, match="jobs 0 is no whole number"):
        tidegate.sweep([cameras()], jobs=0)
    with pytest.raises(tidegate.InputError, match="write a list"):
        tidegate.sweep([cameras()], policies="dqf")


def swept(folder, content, output="rows.csv"):
    (folder / "sweep.toml").write_text('workloads = ["cameras.workload.toml"]\n' + content)
    shutil.copy(ROOT / "workloads" / "cameras.workload.toml", folder)
    words = [sys.executable, "-m", "tidegate", "sweep", folder / "sweep.toml", "-o", output]
    return subprocess.run(words, cwd=folder.parent, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("seeds = 0", "seeds = 0"),
        ('seeds = "x"', "seeds = 'x'"),
        ("seeds = [1.5]", "seeds = [1.5]"),
        ('jobs = "5"', "jobs = '5'"),
        ("jobs = -1", "jobs = -1"),
        ('policies = "dqf"', "`policies` is no list"),
        ("sedes = 3", "unknown field `sedes`"),
    ],
)
def test_a_faulty_sweep_file_is_refused_before_anything_runs(content, fault, tmp_path):
    said = swept(tmp_path, content)
    assert said.returncode == 2 and fault in said.stderr, said.stderr
    assert "Traceback" not in said.stderr


def test_the_folder_of_the_rows_must_exist(tmp_path):
    said = swept(tmp_path, "jobs = 5", tmp_path / "none" / "rows.csv")
    assert said.returncode == 2 and "create it first" in said.stderr


def test_drives_of_a_sweep_file_are_beside_it(tmp_path):
    folder = tmp_path / "sweeps"
    folder.mkdir()
    (folder / "own.drive.toml").write_text(tidegate.drive("fujitsu-max3036rc").text)
    said = swept(folder, 'drives = ["own.drive.toml"]\njobs = 5', tmp_path / "rows.csv")
    assert said.returncode == 0, said.stderr
    assert pd.read_csv(tmp_path / "rows.csv").drive.unique().tolist() == ["fujitsu-max3036rc"]
