# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tidegate sweep` and `tidegate place` of the command line run this package."""

import os
import sys

import pandas as pd
from conftest import ROOT

SWEEP = """
workloads = ["cameras.workload.toml"]
policies = ["dqf", "edf"]
seeds = 2
jobs = 20
"""

FLEET = """
[[stream]]
name = "camera"
count = 60
period = "300ms"
size = "128KiB"

[[disk]]
name = "shelf"
drive = "maxtor-atlas-10k-v"
count = 6
"""


def here(folder):
    return {"cwd": folder, "env": os.environ | {"TIDEGATE_PYTHON": sys.executable}}


def test_a_sweep_is_written_as_rows(command, tmp_path):
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "cameras.workload.toml").symlink_to(ROOT / "workloads" / "cameras.workload.toml")
    said = command("sweep", "sweep.toml", "-o", "rows.csv", "--quiet", **here(tmp_path))
    assert (said.returncode, said.stdout) == (0, "64 rows; 0 points could not be simulated\n")
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert rows.groupby(["policy", "seed"]).size().tolist() == [16] * 4


def test_a_fleet_is_placed_changed_and_refused(command, tmp_path):
    (tmp_path / "fleet.toml").write_text(FLEET)
    said = command("place", "fleet.toml", "-o", "plan", **here(tmp_path))
    assert said.returncode == 0 and said.stdout.startswith("PLACED: 3 disks"), said
    words = ["place", "fleet.toml", "--before", "plan", "--failed", "shelf-1", "-o", "plan-2"]
    said = command(*words, "--quiet", **here(tmp_path))
    assert "24 streams have another disk" in said.stdout and "Written" not in said.stdout
    for file in (tmp_path / "plan-2").glob("*.workload.toml"):
        assert command("check", file, "--quiet").returncode == 0
    (tmp_path / "fleet.toml").write_text(FLEET.replace("count = 60", "count = 600"))
    said = command("place", "fleet.toml", "-o", "plan-3", **here(tmp_path))
    assert said.returncode == 1 and said.stdout.startswith("NOT PLACED: "), said


def test_a_folder_that_is_called_like_the_package_is_not_it(command, tmp_path):
    (tmp_path / "fleet.toml").write_text(FLEET)
    (tmp_path / "tidegate").mkdir()
    (tmp_path / "tidegate" / "__init__.py").write_text("")
    said = command("place", "fleet.toml", "-o", "plan", **here(tmp_path))
    assert said.returncode == 0 and said.stdout.startswith("PLACED: 3 disks"), said
    without = {"PYTHONPATH": str(tmp_path)}
    environment = here(tmp_path)["env"] | without
    said = command("place", "fleet.toml", "-o", "other", cwd=tmp_path, env=environment)
    assert said.returncode == 2 and "lacks tidegate" in said.stderr, said
