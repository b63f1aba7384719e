# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What several test files use."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def command():
    """Runs the command-line program that `TIDEGATE` names, and returns what it did."""
    program = os.environ.get("TIDEGATE")
    if not program:
        pytest.skip("TIDEGATE names no command-line program")

    def run(*words, **options):
        words = [program, *map(os.fspath, words)]
        return subprocess.run(words, capture_output=True, text=True, check=False, **options)

    return run
