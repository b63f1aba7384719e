# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A pytest plugin: the examples of docstrings run in a folder with the files that they name.

`TIDEGATE` names the command-line program, which makes a result and a request log.
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def folder_of_examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    (folder / "workloads").symlink_to(ROOT / "workloads")
    files = ROOT / "crates" / "cli" / "tests" / "screens" / "files"
    for name in ("disk", "d.trace"):
        (folder / name).symlink_to(files / name)
    made = ["--result", "cameras.result.json", "--log", "requests.csv"]
    command = ["sim", "workloads/cameras.workload.toml", "--policy", "dqf,edf", "--jobs", "50"]
    subprocess.run([os.environ["TIDEGATE"], *command, *made, "--quiet"], cwd=folder, check=False)
    return folder


@pytest.fixture(autouse=True)
def _in_folder_of_examples(folder_of_examples, monkeypatch):
    monkeypatch.chdir(folder_of_examples)
