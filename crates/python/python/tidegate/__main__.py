# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`python -m tidegate place FLEET.toml -o FOLDER`, and `python -m tidegate sweep FILE -o ROWS`."""

import argparse
import sys
import tomllib
from pathlib import Path

from ._native import TidegateError


def main() -> int:
    """Runs the command and returns its exit code: 1 if the answer is no, 2 for input at fault."""
    parser = argparse.ArgumentParser(prog="tidegate", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    place = commands.add_parser("place", help="place streams on the fewest disks, all proved")
    place.add_argument("fleet", type=Path, help="the fleet file (TOML)")
    place.add_argument("-o", "--output", type=Path, required=True, help="a new folder for the plan")
    place.add_argument("--margin", action="store_true", help="spread over all disks: most margin")
    sweep = commands.add_parser("sweep", help="simulate every combination")
    sweep.add_argument("sweep", type=Path, help="the sweep file (TOML)")
    sweep.add_argument("-o", "--output", type=Path, required=True, help="a CSV or Parquet file")
    sweep.add_argument("--store", type=Path, help="a folder that keeps each result")
    arguments = parser.parse_args()
    try:
        return _place(arguments) if arguments.command == "place" else _sweep(arguments)
    except (TidegateError, OSError, tomllib.TOMLDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _place(arguments: argparse.Namespace) -> int:
    from .placement import Fleet, PlacementError, place, place_with_margin

    fleet = Fleet.load(arguments.fleet)
    try:
        plan = place_with_margin(fleet) if arguments.margin else place(fleet, progress=_say)
    except PlacementError as error:
        print(f"NOT PLACED: {error}")
        return 1
    plan.write(arguments.output)
    print(
        f"PLACED: {len(plan.disks)} disks, each proved; no plan needs fewer than {plan.disks_min}"
        + (f"; margin {plan.margin_ppm / 10_000:g}%" if arguments.margin else "")
    )
    print(f"Written: {arguments.output}")
    return 0


def _sweep(arguments: argparse.Namespace) -> int:
    from ._sweep import sweep
    from .inputs import load

    with open(arguments.sweep, "rb") as file:
        content = tomllib.load(file)
    unknown = content.keys() - {"workloads", "drives", "policies", "seeds", "jobs"}
    if unknown or not content.get("workloads"):
        fault = f"unknown field `{min(unknown)}`" if unknown else "missing field `workloads`"
        help_ = "write workloads, drives, policies, seeds (a number or a list) and jobs"
        raise TidegateError(f"{arguments.sweep}: {fault}\n  help: {help_}")
    folder = arguments.sweep.parent
    seeds = content.pop("seeds", 1)
    rows = sweep(
        {name: load(folder / name) for name in content.pop("workloads")},
        seeds=range(seeds) if isinstance(seeds, int) else seeds,
        store=arguments.store,
        progress=lambda done, of: _say(f"{done} of {of} points"),
        **content,
    )
    if arguments.output.suffix == ".parquet":
        rows.to_parquet(arguments.output)
    else:
        rows.to_csv(arguments.output, index=False)
    failed = rows.drop_duplicates(["workload", "drive", "policy", "seed"]).error.notna().sum()
    print(f"{len(rows)} rows; {failed} points could not be simulated")
    print(f"Written: {arguments.output}")
    return 0


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:<60}", end="", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
