#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the proved bounds of `mq-deadline-tuned` and of the kernel target with kernels in a virtual machine.

A Debian kernel runs under QEMU in virtual time, in front of a disk whose worst case is known
(tests/vm/disk), with the settings of `tidegate tune` or with the target of `kernel/`. A row fails if
a response exceeds its bound, if the disk breaks its contract, or if the host takes longer than the
bound allows.
"""

import argparse
import itertools
import pathlib
import shutil
import sys

import files
import guest
import order
import packages
import runs
import service
import story
import target
import target_report
import watch
from canaries import canaries
from tidegate import Tidegate


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("target", type=pathlib.Path, help="the directory with debug/tidegate, and for the cache")
    parser.add_argument("--quick", action="store_true", help="a few rows only")
    parser.add_argument("--part", choices=["stock", "target", "watch", "files", "service"], help="one part only")
    arguments = parser.parse_args()
    work = arguments.target.resolve() / "vm"
    tidegate = Tidegate(arguments.target / "debug/tidegate", work)
    try:
        machines = [guest.Machine(series, work, tidegate.program) for series in packages.PINNED]
    except packages.Unavailable as reason:
        print(f"vm: skipped: {reason}")
        return 0
    print("Kernels:", ", ".join(machine.kernel.version for machine in machines))
    checks = []
    parts = {"stock": stock, "target": kernel_target, "watch": watched, "files": on_files, "service": served}
    for part in [arguments.part] if arguments.part else parts:
        checks += parts[part](arguments, machines, tidegate)
    return 0 if all(checks) else 1


def stock(arguments, machines, tidegate):
    """Checks the kernel's own scheduler."""
    rows = runs.QUICK if arguments.quick else [*runs.TABLE, *runs.SCSI]
    checks = [table(rows, machines, tidegate), is_same_twice(machines, tidegate)]
    if not arguments.quick:
        checks.append(are_caught(machines, tidegate))
        checks.append(is_in_order(machines, tidegate, arguments.target / "debug/tidegate-vm"))
    return checks


def kernel_target(arguments, machines, tidegate):
    """Checks the target of `kernel/`."""
    program = arguments.target / "debug/tidegate-vm"
    rows = target.QUICK if arguments.quick else target.TABLE
    checks = [target_report.keeps_its_bounds(rows, machines, tidegate, program),
              target_report.tells_owners_apart(machines, tidegate, program)]
    if not arguments.quick:
        checks.append(target_report.show_peers(machines, tidegate))
        checks.append(target_report.are_caught(machines, tidegate, program))
        checks.append(target_report.is_administered(machines, program))
        checks.append(target_report.show_overhead(machines))
    return checks


def watched(arguments, machines, tidegate):
    """Checks `tidegate watch`."""
    checks = [watch.agrees(machines, tidegate, arguments.quick)]
    if not arguments.quick:
        checks.append(watch.show_cost(machines))
    return checks


def served(arguments, machines, tidegate):
    """Checks `tidegate serve` and `tidegate drive attach`."""
    if missing := [name for name in guest.SERVICE_PROGRAMS if not shutil.which(name, path=packages.PATH)]:
        print(f"vm: service skipped: {', '.join(missing)} is not installed")
        return []
    return [service.keeps_its_bounds(machines, tidegate, arguments.quick), service.attached_is_in_time(machines, tidegate)]


def on_files(arguments, machines, tidegate):
    """Checks and shows how writers on a file system are served."""
    if missing := [name for name in guest.FILE_PROGRAMS if not shutil.which(name, path=packages.PATH)]:
        print(f"vm: files skipped: {', '.join(missing)} is not installed")
        return []
    checks = [story.is_told(machines, tidegate, arguments.quick)]
    if not arguments.quick:
        checks.append(files.show(machines, tidegate))
    return checks


def table(rows, machines, tidegate):
    """Prints a row for each run, and returns whether all runs kept their bounds."""
    series = [machine.kernel.series for machine in machines]
    head = ["disk", "depth", "tasks", "load", "bound ms", *(f"{name} ms" for name in series), "sim ms", "share",
            *(f"load/s {name}" for name in series)]
    print("|" + "|".join(head) + "|\n" + "|---" * len(head) + "|", flush=True)
    worst, faults = dict.fromkeys(runs.HOST_NS, 0), []
    # One guest serves all runs with the same disk.
    for _, group in itertools.groupby(rows, key=lambda run: (run.kind, run.depth, run.is_scsi)):
        group = list(group)
        settings = [proved_settings(run, tidegate) for run in group]
        results = [machine.results(group, settings) for machine in machines]
        for run, wanted, *found in zip(group, settings, *results):
            bound = tidegate.bound(run)
            disk = f"{run.kind}, SCSI" if run.is_scsi else run.kind
            cells = [disk, run.depth, run.tasks, run.load, ms(bound), *(ms(one.client_max) for one in found),
                     ms(tidegate.simulated(run)), f"{100 * max(one.client_max for one in found) // bound} %",
                     *(f"{one.load_rate:.1f}" for one in found)]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
            for name, one in zip(series, found):
                faults += [f"{name}, {run}: {fault}" for fault in judge(one, wanted, bound, run)]
                worst = {step: max(time, one.host[step]) for step, time in worst.items()}
    print(runs.host_line(worst))
    print(*(f"FAULT: {fault}" for fault in faults), sep="\n")
    return not faults


def proved_settings(run, tidegate):
    settings, reasons = tidegate.tune(run)
    if reasons:
        raise SystemExit(f"vm: tune refuses {run}: {'; '.join(reasons)}")
    return settings


def judge(found, settings, bound, run):
    """Returns the ways in which a run exceeds its bound or breaks a premise of the bound."""
    # A plain disk has no file for its depth.
    wanted = {name: value for name, value in settings.items() if run.is_scsi or name != "device/queue_depth"}
    differing = [f"{name} is {found.settings.get(name)}, set to {value}" for name, value in wanted.items()
                 if found.settings.get(name) != str(value)]
    checks = {
        "the response": (found.client_max, bound),
        **runs.steps(found),
    }
    exceeding = [f"{what} took {ms(time)} ms, at most {ms(most)} ms" for what, (time, most) in checks.items()
                 if time > most]
    early = [f"the kernel sent {found.early_max} lower requests in a busy period, at most {run.taken_early}"
             ] if found.early_max > run.taken_early else []
    steps = ("apply", "status", "undo", "restored") if run.is_scsi else ()
    failing = [f"tune {step} exits with {found.tune.get(step)}" for step in steps if found.tune.get(step) != 0]
    return differing + failing + early + exceeding


def are_caught(machines, tidegate):
    """Prints a row for each canary; returns whether `tune` refuses all of them and all exceed their bounds."""
    head = ["canary", "`tune`", "bound ms", *(f"{machine.kernel.series} ms" for machine in machines)]
    print("\n|" + "|".join(head) + "|\n" + "|---" * len(head) + "|", flush=True)
    faults = []
    for canary in canaries(tidegate):
        reasons = tidegate.tune(canary.refused)[1] if canary.refused else ["no workload can state it"]
        settings = {**proved_settings(canary.run, tidegate), **canary.forced}
        worst = [machine.results([canary.run], [settings])[0].client_max for machine in machines]
        bound = canary.bound or tidegate.bound(canary.run)
        cells = [canary.name, reasons[0].split(":")[0] if reasons else "accepted", ms(bound), *map(ms, worst)]
        print("| " + " | ".join(cells) + " |", flush=True)
        if not reasons or min(worst) <= bound:
            faults.append(f"FAULT: not caught: {canary.name}")
    print(*faults, sep="\n")
    return not faults


def is_in_order(machines, tidegate, program):
    """Prints how many of the kernels' dispatches the model makes too; returns whether it makes all of them."""
    print("\n|kernel|disk|depth|equal dispatches|\n|---|---|---|---|", flush=True)
    is_equal = True
    for machine in machines:
        for run in order.RUNS:
            text = machine.boot(order.PROLOGUE + runs.job(run, proved_settings(run, tidegate)))
            events = order.events(text, runs.TASK_KIB * 2)
            equal, difference = order.compare(program, events, machine.kernel.series, run.depth)
            print(f"| {machine.kernel.series} | {run.kind} | {run.depth} | {equal} |", flush=True)
            if difference:
                is_equal = False
                print(f"FAULT: {difference}")
    return is_equal


def is_same_twice(machines, tidegate):
    """Returns whether two boots of the same job print the same bytes: virtual time must depend on nothing else.

    Under heavy load of the host, QEMU's threads can take turns differently; in that case a third boot decides.
    """
    run = runs.QUICK[0]
    settings = proved_settings(run, tidegate)
    for machine in machines:
        texts = {machine.text([run], [settings]) for _ in range(2)}
        if len(texts) == 2 and machine.text([run], [settings]) not in texts:
            print(f"FAULT: {machine.kernel.series}: three boots of the same job differ")
            return False
    return True


def ms(time_ns):
    return f"{time_ns / 1e6:.2f}"


if __name__ == "__main__":
    sys.exit(main())
