# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the kernel target with the proved bounds, and with the kernel's schedulers."""

import itertools

import overhead
import owners
import stress
import target


def keeps_its_bounds(rows, machines, tidegate, program):
    """Prints a row for each run, and returns whether all runs kept their bounds."""
    names = [machine.kernel.series for machine in machines]
    head("disk", "policy", "tasks", "load", "bound ms", *(f"{name} ms" for name in names), "share",
         *(f"load/s {name}" for name in names))
    worst, faults = dict.fromkeys(target.HOST_NS, 0), []
    for _, group in itertools.groupby(rows, key=lambda run: (run.kind, run.policy, run.deadline_ns)):
        group = list(group)
        lines = [target.table_line(program, run) for run in group]
        jobs = "".join(map(target.job, group, lines))
        for run, *found in zip(group, *(results(machine, jobs, group) for machine in machines)):
            bound = tidegate.bound_of(target.workload(run))
            row(run.kind, run.policy, run.tasks, run.load, ms(bound), *(ms(one.client_max) for one in found),
                f"{100 * max(one.client_max for one in found) // bound} %", *(f"{one.load_rate:.1f}" for one in found))
            for name, one in zip(names, found):
                faults += [f"{name}, {run}: {fault}" for fault in judge(one, bound)]
                worst = {step: max(time, one.host[step]) for step, time in worst.items()}
    print("Host:", ", ".join(f"{step} {time / 1_000:.0f} of {target.HOST_NS[step] / 1_000:.0f} us"
                             for step, time in worst.items()))
    print(*(f"FAULT: {fault}" for fault in faults), sep="\n")
    return not faults


def judge(found, bound):
    """Returns the ways in which a run exceeds its bound or breaks a premise of the bound."""
    checks = {
        "the response": (found.client_max, bound),
        "the drain beyond the disk's contract": (found.disk["overrun_ns"], 0),
        **{f"the host's {step}": (found.host[step], most) for step, most in target.HOST_NS.items()},
    }
    return [f"{what} took {ms(time)} ms, at most {ms(most)} ms" for what, (time, most) in checks.items()
            if time > most]


def show_peers(machines, tidegate):
    """Prints a row for each scheduler of the kernel. Nothing is judged, because only one scheduler has a bound."""
    names = [machine.kernel.series for machine in machines]
    print()
    head("scheduler", "depth", "load", "bound ms", *(f"{name} ms" for name in names),
         *(f"load/s {name}" for name in names))
    group = target.peers(tidegate)
    jobs = "".join(map(target.peer_job, group))
    for run, *found in zip(group, *(results(machine, jobs, group) for machine in machines)):
        row(run.name, run.depth, run.load, ms(run.bound) if run.bound else "-", *(ms(one.client_max) for one in found),
            *(f"{one.load_rate:.1f}" for one in found))
    return True


def are_caught(machines, tidegate, program):
    """Prints a row for each canary, and returns whether all of them exceed the bound of the honest run."""
    names = [machine.kernel.series for machine in machines]
    print()
    head("canary", "bound ms", *(f"{name} ms" for name in names))
    faults = []
    for name, run in target.canaries().items():
        bound = tidegate.bound_of(target.workload(run))
        job = target.job(run, target.table_line(program, run))
        worst = [results(machine, job, [run])[0].client_max for machine in machines]
        row(name, ms(bound), *map(ms, worst))
        if min(worst) <= bound:
            faults.append(f"FAULT: not caught: {name}")
    print(*faults, sep="\n")
    return not faults


def is_administered(machines, program):
    """Prints how many steps of administration succeeded, and returns whether all did."""
    return do_all_succeed(machines, stress.job(program), "under load")


def tells_owners_apart(machines, tidegate, program):
    """Prints how many steps about the owners of requests succeeded, and returns whether all did."""
    return do_all_succeed(machines, owners.job(program, tidegate.bound_of), "about owners of requests")


def do_all_succeed(machines, job, what):
    are_all = True
    print()
    for machine in machines:
        text = machine.boot(target.PROLOGUE + job, machine.target)
        faults = stress.faults(text)
        print(f"{machine.kernel.series}: {text.count(chr(10) + 'ok ')} steps {what} succeed", flush=True)
        print(*(f"FAULT: {machine.kernel.series}: {fault}" for fault in faults), sep="\n")
        are_all &= not faults
    return are_all


def show_overhead(machines):
    """Prints the time of a small request on a device without mechanics. The result is not judged."""
    names = [machine.kernel.series for machine in machines]
    found = [overhead.times_ns(machine.boot(target.MODULES + overhead.job(), machine.target)) for machine in machines]
    print()
    head("device", "readers", *(f"{name} us" for name in names), *(f"{name} / dm-linear" for name in names))
    for device, readers in found[0]:
        times = [one[device, readers] for one in found]
        linear = [one["dm-linear", readers] for one in found]
        row(device, readers, *(f"{time / 1_000:.1f}" for time in times),
            *(f"{time / base:.2f}" for time, base in zip(times, linear)))
    return True


def results(machine, jobs, group):
    return target.results(machine.boot(target.PROLOGUE + jobs, machine.target), group)


def head(*cells):
    print("|" + "|".join(cells) + "|\n" + "|---" * len(cells) + "|", flush=True)


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def ms(time_ns):
    return f"{time_ns / 1e6:.2f}"
