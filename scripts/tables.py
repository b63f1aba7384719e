#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes the tables of built-in drives anew, on the drives' own simulation.

    cargo build --release -p tidegate && cargo build --release -p tidegate-soundness --examples
    scripts/tables.py target/release seagate-36es2              # everything: an hour or more
    scripts/tables.py target/release --step random seagate-36es2

The steps: `random` runs the commands that the drive file names ("Made by"), `places` measures the
families of places, `climb` lets the adversary of tests/soundness search for longer batches. Comments
stay. crates/drive/tests/all/drives/fingerprints.txt says whether a drive's tables are stale.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

SCRIPTS = pathlib.Path(__file__).parent
# Samples of batches of up to 8 and of all sizes, of drains, and of starvation.
SAMPLES = {
    "nearline-7200": (6_000, 12_000, 300, 20),
    "fujitsu-max3036rc": (6_000, 16_000, 400, 20),
    "seagate-36es2": (6_000, 10_000, 300, 20),
    "seagate-st340810a": (600_000, 600_000, 600_000, 0),
    "ibm-36z15": (4_000, 1_500, 60, 20),
    "ibm-40k1044": (4_000, 1_500, 60, 20),
    "maxtor-atlas-10k-v": (4_000, 1_500, 60, 0),
    "sata-ssd": (500, 1_000, 100, 0),
    "nvme-ssd": (500, 1_000, 100, 0),
}
# Steps and seeds of the adversary.
CLIMB = ("3000", "6")


def run(command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)


def profiled(binaries, path, options, *added):
    """Runs one profile and puts what it found into the drive file."""
    with tempfile.TemporaryDirectory() as folder:
        measured = pathlib.Path(folder) / "measured.drive.toml"
        run([binaries / "tidegate", "profile", *options, "-o", measured])
        run([SCRIPTS / "add_families.py", path, measured, *added])


def random(binaries, path):
    commands = re.findall(r"tidegate profile (\S.*)", path.read_text(encoding="utf-8"))
    for command in commands:
        if "--only flush" in command or "--only prediction" in command:
            continue
        only = [] if "--only" in command else ["--only", "batch"]
        profiled(binaries, path, command.split() + only, "--random")


def places(binaries, path, name):
    text = path.read_text(encoding="utf-8")
    found = re.findall(r'^\[\[batch\]\]\nop = "(\w+)"\nsize = "(\w+)"', text, flags=re.M)
    ops, sizes = (",".join(dict.fromkeys(column)) for column in zip(*found))
    depth = re.search(r"Made by: .* --depth (\d+)", text).group(1)
    small, all_of, drains, starved = SAMPLES[name]
    kinds = ["--op", ops, "--size", sizes, "--depth"]
    profiled(binaries, path, [name, "--only", "places", *kinds, min(int(depth), 8), "--samples", small])
    profiled(binaries, path, [name, "--only", "places", *kinds, depth, "--samples", all_of, "--seed", 2])
    more = "drain-places,priority-places" if "[[priority]]" in text else "drain-places"
    profiled(binaries, path, [name, "--only", more, *kinds, depth, "--samples", drains, "--seed", 3])
    if starved:
        largest = ["--size", sizes.split(",")[-1], "--depth", depth, "--samples", starved]
        profiled(binaries, path, [name, "--only", "starvation-places", *largest])


def climb(binaries, path, name):
    with tempfile.NamedTemporaryFile("w+") as found:
        run([binaries / "examples" / "longest_batches", name, *CLIMB], stdout=found)
        run([SCRIPTS / "raise_climbed.py", path, found.name])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("drives", nargs="+", choices=SAMPLES)
    parser.add_argument("--step", choices=["random", "places", "climb"])
    arguments = parser.parse_args()
    for name in arguments.drives:
        path = SCRIPTS.parent / "drives" / f"{name}.drive.toml"
        has_heads = "\n[mechanics]\n" in path.read_text(encoding="utf-8")
        step = arguments.step
        if step in (None, "random"):
            random(arguments.binaries, path)
        if step in (None, "places"):
            places(arguments.binaries, path, name)
        if step in (None, "climb") and has_heads:
            climb(arguments.binaries, path, name)


if __name__ == "__main__":
    main()
