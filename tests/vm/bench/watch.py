# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the figures of `tidegate watch` in the guest with those of the load generator and the kernel's trace.

Tasks and loads run in separate units, which are control groups here, because the guest has no service manager.
"""

import json
import re

import runs
import trace

RUNS = [runs.Run("restart", 1, 1, "32 readers", is_scsi=True, stated=(("taken_early", 0),)),
        runs.Run("restart", 4, 4, "128 readers", is_scsi=True, stated=(("taken_early", 0),)),
        runs.Run("seek", 4, 1, "32 readers", is_scsi=True, stated=(("taken_early", 0),)),
        runs.Run("seek", 1, 4, "writer", is_scsi=True, stated=(("taken_early", 0),))]
QUICK = RUNS[:1]
# A piece of the watch's work between two yields, at 2 ns for each instruction, delays the worker that dispatches.
HOST_NS = {**runs.HOST_NS, "submit": 500_000}
CGROUPS = "/sys/fs/cgroup"
COST_SECONDS = 4
BEGIN = "watch begin\n"


def prologue(machine):
    return runs.PROLOGUE + machine.scsi_prologue + f"mount -t cgroup2 none {CGROUPS}\n"


def workload(run):
    """Returns the workload file with a unit for the tasks and one for the loads."""
    text = runs.workload(run, HOST_NS).replace("[[task]]\n", '[[task]]\nunit = "task.service"\n')
    return text.replace("[[best_effort]]\n", '[[best_effort]]\nunit = "load.service"\n')


def job(run):
    """Returns the guest's script: tasks and loads during `watch`, then the same during `watch --learn`."""
    tasks = [f"task:{run.period_us}:0:{runs.TASK_KIB}:{runs.op(index)[0]}" for index in range(run.tasks)]
    loads = [f"{kind}:{count}:{runs.LOAD_KIB}" for kind, count in runs.LOADS[run.load]]
    return "\n".join([
        f"insmod /benchscsi.ko {runs.mechanics(run)}",
        "while [ ! -b /dev/sda ]; do sleep 1; done",
        f"cat > /run.toml <<'END'\n{workload(run)}END",
        "tidegate tune /dev/sda /run.toml --apply --quiet > /log; echo tune apply $?",
        "echo > $T/trace",
        "echo 1 > $T/tracing_on",
        f"tidegate watch /dev/sda /run.toml --duration {run.seconds + 4}s --json > /watch.json 2>&1 & watch=$!",
        f"tidegate watch /dev/sda --learn -o /learnt.toml --duration {run.seconds + 4}s --quiet > /learn 2>&1 &",
        "learn=$!",
        "sleep 2",
        *in_unit("load", loads, run.seconds, "> /load.txt &"),
        "load=$!",
        *in_unit("task", tasks, run.seconds, ""),
        "wait $load; wait $watch; watched=$?; wait $learn; learnt=$?",
        "echo 0 > $T/tracing_on",
        *runs.figures("benchscsi"),
        "cat $T/trace",
        f"echo '{BEGIN.strip()} exits'; echo $watched $learnt",
        *(f"echo '{BEGIN.strip()} {name}'; cat {path}; echo" for name, path in
          (("report", "/watch.json"), ("learn", "/learn"), ("learnt", "/learnt.toml"))),
        f"echo '{BEGIN.strip()} left'; echo $T/instances/*",
        f"echo '{BEGIN.strip()} end'",
        "tidegate tune /dev/sda --undo --quiet > /log",
        "rmmod benchscsi",
        "echo 'run ended'\n",
    ])


def in_unit(unit, sources, seconds, end):
    group = f"{CGROUPS}/{unit}.service"
    return [f"mkdir -p {group}",
            f"sh -c 'echo $$ > {group}/cgroup.procs; exec load /dev/sda {seconds} {' '.join(sources)}' {end}"]


def parts(text):
    """Returns the parts of the guest's output by name; `run` contains those of the load generator and the trace."""
    found = {}
    run, *rest = re.split(r"^watch begin (\w+)\n", text, flags=re.M)
    found["run"] = run
    for name, part in zip(rest[::2], rest[1::2]):
        found[name] = part
    return found


def check(run, text, bound):
    """Returns figures of a run, and the faults."""
    found = parts(text)
    try:
        report = json.loads(found["report"])
    except ValueError:
        return None, [f"watch printed: {found['report'][:600]}"]
    result = trace.result(found["run"])
    trace.measure(result, run.depth, runs.TASK_KIB * 2)
    entries = [entry for entry in report["entries"] if entry["is_task"]]
    seen = sum(entry["requests"] for entry in entries)
    longest = max((entry["response_ns_max"] or 0 for entry in entries), default=0)
    others = [entry for entry in report["entries"] if not entry["is_task"]]
    faults = []
    checks = {
        "requests of tasks": (seen, sum(map(len, result.jobs.values()))),
        "lost events": (report["lost_events"], 0),
        "requests of another class": (sum(entry["other_class"] for entry in report["entries"]), 0),
        "undeclared sources": (len(report["undeclared"]), 0),
        "overruns": (report["contracts"]["drain"]["overruns"], 0),
        "requests beyond the contract": (sum(entry["beyond"] for entry in report["entries"]), 0),
        "exits of watch and learn": (found["exits"].split(), ["0", "0"]),
        "instances left": (found["left"].count("tidegate"), 0),
        "requests on the disk at once above the depth": (max(0, report["on_device"]["in_flight_max"] - run.depth), 0),
    }
    faults += [f"{name}: {value}, not {wanted}" for name, (value, wanted) in checks.items() if value != wanted]
    faults += [f"{what} took {time} ns, at most {most} ns" for what, (time, most) in
               {"the response at the client": (result.client_max, bound), **runs.steps(result, HOST_NS)}.items() if time > most]
    # The response lies within the client's call. How much longer the call takes depends on the processor.
    if result.client_max < longest:
        faults.append(f"the longest response is {longest} ns, at the client {result.client_max} ns")
    # The trace counts from the insertion, which follows the queueing, and in us.
    if not -1_000 <= longest - result.trace_max <= runs.HOST_NS["release"]:
        faults.append(f"the longest response is {longest} ns, in the trace {result.trace_max} ns")
    period = re.search(r'^period = "(\w+)"', found["learnt"], re.M)
    if not period or period[1] != f"{run.period_us // 1_000}ms":
        faults.append(f"learnt: {found['learnt'][:1500]}{found['learn']}")
    figures = {"requests": seen + sum(entry["requests"] for entry in others), "client": result.client_max,
               "watch": longest, "trace": result.trace_max, "bound": bound, "host": result.host}
    return figures, faults


def agrees(machines, tidegate, quick):
    """Prints a row for each run, and returns whether the figures of `watch` agree with the others."""
    head = ["kernel", "disk", "depth", "tasks", "load", "requests", "bound ms", "client ms", "watch ms", "trace ms"]
    print("\n|" + "|".join(head) + "|\n" + "|---" * len(head) + "|", flush=True)
    is_equal, worst = True, dict.fromkeys(runs.HOST_NS, 0)
    for machine in machines:
        for run in QUICK if quick else RUNS:
            text = machine.boot(prologue(machine) + job(run), machine.scsi)
            bound = tidegate.bound_of(workload(run))
            figures, faults = check(run, text, bound)
            if figures:
                times = (f"{figures[name] / 1e6:.3f}" for name in ("bound", "client", "watch", "trace"))
                cells = [machine.kernel.series, run.kind, run.depth, run.tasks, run.load, figures["requests"], *times]
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
                worst = {step: max(time, figures["host"][step]) for step, time in worst.items()}
            for fault in faults:
                is_equal = False
                print(f"FAULT: {machine.kernel.series}, {run}: {fault}", flush=True)
    print(runs.host_line(worst, HOST_NS))
    return is_equal


def cost_job():
    """Returns the script that reads from a device without mechanics, bare and watched."""
    load = f"load /dev/nullb0 {COST_SECONDS} read:1:4"
    return "\n".join([
        "insmod /configfs.ko",
        "insmod /null_blk.ko nr_devices=1 queue_mode=2 irqmode=0",
        "echo none > /sys/block/nullb0/queue/scheduler",
        f"echo 'device bare'; {load}",
        f"tidegate watch /dev/nullb0 --duration {COST_SECONDS + 6}s --json > /watch.json 2>&1 & watch=$!",
        "sleep 2",
        f"echo 'device watched'; {load}",
        "cat /proc/$watch/stat",
        "wait $watch",
        "cat /watch.json\n",
    ])


def show_cost(machines):
    """Prints the processor time that a watched request costs, and returns whether it could be measured."""
    print("\n|kernel|request ns|watched ns|lost|\n|---|---|---|---|", flush=True)
    for machine in machines:
        text = machine.boot(machine.scsi_prologue + cost_job(), machine.scsi + machine.target)
        requests = [int(count) for count in re.findall(r"^source \d+ load (\d+) ", text, re.M)]
        lost = re.search(r'"lost_events": (\d+)', text)
        if len(requests) != 2 or not lost:
            print(f"FAULT: {text[-2000:]}")
            return False
        bare, watched = (COST_SECONDS * 1_000_000_000 // count for count in requests)
        print(f"| {machine.kernel.series} | {bare} | {watched} | {lost[1]} |", flush=True)
    return True
