# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`python -m tidegate place FLEET.toml -o FOLDER`, and `python -m tidegate sweep FILE -o ROWS`."""

import argparse
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._native import TidegateError

#: The fields of a sweep file.
SWEEP_FIELDS = frozenset({"workloads", "drives", "policies", "seeds", "jobs"})


def main() -> int:
    """Runs the command and returns its exit code: 1 if the answer is no, 2 for input at fault."""
    parser = argparse.ArgumentParser(prog="tidegate", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    place = commands.add_parser("place", help="place streams on the fewest disks, all proved")
    place.add_argument("fleet", type=Path, help="the fleet file (TOML)")
    place.add_argument("-o", "--output", type=Path, required=True, help="a new folder for the plan")
    place.add_argument(
        "--margin", action="store_true", help="the largest margin, on any number of disks"
    )
    place.add_argument("--before", type=Path, help="the folder of a plan to change as little")
    place.add_argument("--failed", action="append", default=[], help="a disk that failed")
    sweep = commands.add_parser("sweep", help="simulate every combination")
    sweep.add_argument("sweep", type=Path, help="the sweep file (TOML)")
    sweep.add_argument("-o", "--output", type=Path, required=True, help="a CSV or Parquet file")
    sweep.add_argument("--store", type=Path, help="a folder that keeps each result")
    sweep.add_argument("--scheduler", help="the address of a Dask cluster that computes")
    for command in (place, sweep):
        command.add_argument(
            "--quiet", "-q", action="store_true", help="print the first line alone"
        )
    arguments = parser.parse_args()
    try:
        return _place(arguments) if arguments.command == "place" else _sweep(arguments)
    except (TidegateError, OSError, tomllib.TOMLDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _place(arguments: argparse.Namespace) -> int:
    from .placement import (
        Fleet,
        NoPlanFoundError,
        NotPlacedError,
        Plan,
        place,
        place_with_margin,
    )

    if arguments.margin and arguments.before:
        raise TidegateError("--margin makes a new plan: leave out --before, or --margin")
    fleet = Fleet.load(arguments.fleet)
    before = Plan.load(arguments.before, fleet) if arguments.before else None
    try:
        if arguments.margin:
            plan = place_with_margin(fleet, failed=arguments.failed)
        else:
            plan = place(fleet, before=before, failed=arguments.failed, progress=_say(arguments))
    except NotPlacedError as error:
        answer = "NO PLAN FOUND" if isinstance(error, NoPlanFoundError) else "NOT PLACED"
        print(f"{answer}: {error}")
        return 1
    plan.write(arguments.output)
    facts = [f"{len(plan.disks)} disks, each proved"]
    if plan.disks_min is not None:
        facts.append(f"no plan needs fewer than {plan.disks_min}")
    if before is not None:
        facts.append(f"{plan.moved_from(before)} streams have another disk than before")
    if arguments.margin:
        facts.append(f"margin {plan.margin_ppm / 10_000:g}%")
    _tell(f"PLACED: {'; '.join(facts)}", arguments)
    return 0


def _sweep(arguments: argparse.Namespace) -> int:
    from ._sweep import sweep
    from .drives import drive_beside
    from .inputs import load

    with open(arguments.sweep, "rb") as file:
        content = tomllib.load(file)
    _refuse_sweep(arguments.sweep, content)
    if not arguments.output.absolute().parent.is_dir():
        raise TidegateError(f"the folder of {arguments.output} does not exist; create it first")
    client = None
    if arguments.scheduler is not None:
        from distributed import Client

        client = Client(arguments.scheduler)
    folder = arguments.sweep.parent
    seeds = content.pop("seeds", 1)
    say = _say(arguments)
    rows = sweep(
        {name: load(folder / name) for name in content.pop("workloads")},
        drives=[drive_beside(name, folder) for name in content.pop("drives", ())],
        seeds=range(seeds) if isinstance(seeds, int) else seeds,
        client=client,
        store=arguments.store,
        progress=lambda done, of: say(f"{done} of {of} points"),
        **content,
    )
    if arguments.output.suffix == ".parquet":
        rows.to_parquet(arguments.output)
    else:
        rows.to_csv(arguments.output, index=False)
    failed = rows.drop_duplicates(["workload", "drive", "policy", "seed"]).error.notna().sum()
    _tell(f"{len(rows)} rows; {failed} points could not be simulated", arguments)
    return 0


def _refuse_sweep(file: Path, content: dict[str, Any]) -> None:
    """Refuses a sweep file with unknown fields, or with values of another kind."""

    def is_list(values: Any, of: type) -> bool:
        return isinstance(values, list) and all(type(value) is of for value in values)

    seeds, jobs = content.get("seeds", 1), content.get("jobs", 1)
    faults = [f"unknown field `{key}`" for key in sorted(content.keys() - SWEEP_FIELDS)]
    faults += [
        f"`{key}` is no list of names"
        for key in ("workloads", "drives", "policies")
        if not is_list(content.get(key, []), str)
    ]
    if not content.get("workloads"):
        faults.append("missing field `workloads`")
    if not (seeds and is_list(seeds, int)) and not (type(seeds) is int and seeds > 0):
        faults.append(f"seeds = {seeds!r} is neither a number above 0 nor a list of seeds")
    if type(jobs) is not int or jobs < 1:
        faults.append(f"jobs = {jobs!r} is not a whole number above 0")
    if faults:
        help_ = "write workloads, drives, policies, seeds (a number or a list) and jobs"
        raise TidegateError(f"{file}: {'; '.join(faults)}\n  help: {help_}")


def _tell(answer: str, arguments: argparse.Namespace) -> None:
    print(answer)
    if not arguments.quiet:
        print(f"Written: {arguments.output}")


def _say(arguments: argparse.Namespace) -> Callable[[str], None]:
    """Returns a function that shows progress on a terminal."""

    def say(text: str) -> None:
        if sys.stderr.isatty() and not arguments.quiet:
            print(f"\r{text:<60}", end="", file=sys.stderr)

    return say


if __name__ == "__main__":
    sys.exit(main())
