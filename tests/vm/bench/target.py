# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs of the kernel target in the guest, compared with the kernel's own schedulers on the same disk."""

import dataclasses
import re
import subprocess

import runs
import trace

DEPTH = 8
LEVEL = 4  # the load generator's level in the real-time class
# The period and deadline of all tasks, in ns.
PERIOD_NS = {"seek": 160 * runs.MS, "restart": 40 * runs.MS}
SECONDS = 40
# The guest's longest host times, in ns; `submit` includes a run of the target's worker.
HOST_NS = {"release": 500_000, "submit": 600_000, "complete": 100_000, "reply": 600_000}
TASK_SECTORS = runs.TASK_KIB * 2
EVENT = re.compile(r" (\d+)\.(\d{6}): block_(bio_queue|rq_issue|rq_complete): (\d+,\d+) (\w+) (?:\d+ )?(?:\(\) )?"
                   r"(\d+) \+ (\d+) ")


@dataclasses.dataclass(frozen=True)
class Target:
    """One workload under one policy of the target."""

    kind: str
    policy: str
    tasks: int
    load: str
    deadline_ns: int = None  # by default the period
    # Replacements in the table line, which make a plan that is not the proved one.
    forged: tuple = ()

    @property
    def period_us(self):
        return PERIOD_NS[self.kind] // 1_000

    def __str__(self):
        return f"{self.kind}, {self.policy}, {self.tasks} tasks, {self.load}"


@dataclasses.dataclass(frozen=True)
class Peer:
    """The same workload under a scheduler of the kernel, on a disk of this depth."""

    name: str
    load: str
    depth: int
    settings: tuple
    bound: int = None
    kind: str = "seek"
    tasks: int = 1

    @property
    def period_us(self):
        return PERIOD_NS[self.kind] // 1_000


LOADS = ("1 reader", "32 readers", "128 readers")
TABLE = [Target(kind, policy, tasks, load) for kind in ("seek", "restart")
         for policy, counts in (("dqf", (1, 4)), ("adaptive-drain", (1,)), ("gated-drain", (1, 4)))
         for tasks in counts for load in LOADS]
# This deadline is as short as one request at a time can keep.
TABLE += [Target("seek", "dqf", 1, load, deadline_ns=60 * runs.MS) for load in LOADS]
QUICK = [Target("restart", policy, 1, "32 readers") for policy in ("dqf", "gated-drain")]
# There are more tags than the load has requests; requests without a tag would wait in no particular
# order.
BFQ = (("queue/scheduler", "bfq"), ("queue/nr_requests", 512), ("queue/iosched/strict_guarantees", 1),
       ("queue/iosched/low_latency", 0))


def canaries():
    """Returns the canaries by name: runs whose table line is not the proved one."""
    honest = Target("restart", "gated-drain", 1, "32 readers")
    access = runs.ACCESS_MAX_NS["restart"]
    # The plan's times include the host's time between a decision and a completion.
    host = HOST_NS["submit"] + HOST_NS["complete"]
    faster = tuple((f" {count * access + host}", f" {count * access // 2}") for count in range(DEPTH, 0, -1))
    # Each canary breaks one hypothesis of the honest run.
    return {
        "batches of 8, proved for 4": dataclasses.replace(
            honest, policy="dqf", forged=(("batch 4 fill 4", "batch 8 fill 8"),)),
        "drain times of a disk that is twice as fast": dataclasses.replace(honest, forged=faster),
        "a task at a level that the line does not name": dataclasses.replace(
            honest, forged=((f"task {LEVEL}", f"task {LEVEL + 1}"),)),
    }


def peers(tidegate):
    """Returns runs under the kernel's schedulers: `mq-deadline` as `tune` proves it, and two without a proof."""
    found = []
    for load in LOADS:
        tuned, settings = deepest(tidegate, load)
        found.append(Peer("mq-deadline, `tune`", load, tuned.depth, settings, tidegate.bound(tuned)))
        found.append(Peer("bfq, strict", load, DEPTH, BFQ))
        found.append(Peer("none", load, DEPTH, (("queue/scheduler", "none"),)))
    return found


def deepest(tidegate, load):
    """Returns the run of mq-deadline with the largest proved depth, and `tune`'s settings for it."""
    for depth in range(DEPTH, 0, -1):
        run = runs.Run("seek", depth, 1, load, stated_period_us=PERIOD_NS["seek"] // 1_000)
        settings, reasons = tidegate.tune(run)
        if tidegate.bound(run) <= PERIOD_NS["seek"] and not reasons:
            # A plain disk has no file for its depth.
            return run, tuple((name, value) for name, value in settings.items() if name != "device/queue_depth")
    raise RuntimeError("no depth is proved")


def workload(run):
    """Returns the workload file of a target's run."""
    access = runs.ACCESS_MAX_NS[run.kind]
    drains = [count * access for count in range(1, DEPTH + 1)]
    host = "".join(f'{step} = "{time}ns"\n' for step, time in HOST_NS.items())
    text = (f'[policy]\nname = "{run.policy}"\nbest_effort_order = "elevator"\n'
            f'regulators = ["tokens-per-task"]\n'
            f'[drive]\nkind = "pseudo"\ndepth = {DEPTH}\nbatch_ns_max = {drains}\ndrain_ns_max = {drains}\n'
            f"[host]\n{host}")
    return text + runs.sources(run, run.deadline_ns)


def table_line(program, run):
    """Returns the proved plan, or the plan that replaces it in a canary."""
    done = subprocess.run([program, "table", str(LEVEL)], input=workload(run), capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"no table line for {run}: {done.stderr}")
    line = done.stdout.strip()
    for right, wrong in run.forged:
        if right not in line:
            raise RuntimeError(f"{right!r} is not in {line}")
        line = line.replace(right, wrong)
    return line


MODULES = "insmod /dm-mod.ko\ninsmod /dm-tidegate.ko\ninsmod /bfq.ko\n"
PROLOGUE = MODULES + """T=/sys/kernel/tracing
echo mono > $T/trace_clock
echo 65536 > $T/buffer_size_kb
for event in bio_queue rq_issue rq_complete; do echo 1 > $T/events/block/block_$event/enable; done
"""


def job(run, line):
    """Returns the guest's script for a run of the target with this table line."""
    return "\n".join([
        f"insmod /benchdisk.ko {runs.mechanics(run)} depth={DEPTH}",
        "echo none > /sys/block/bench/queue/scheduler",
        "echo 2 > /sys/block/bench/queue/nomerges",
        f"echo \"0 $(cat /sys/block/bench/size) tidegate /dev/bench 0 {line}\" | dmsetup create gate --noudevsync",
        *measured(run, "dm-0"),
        "echo \"status $(dmsetup status gate)\"",
        "dmsetup remove gate --noudevsync",
        "rmmod benchdisk",
        "echo 'run ended'\n",
    ])


def peer_job(run):
    return "\n".join([
        f"insmod /benchdisk.ko {runs.mechanics(run)} depth={run.depth}",
        "echo 2 > /sys/block/bench/queue/nomerges",
        *(f"echo {value} > /sys/block/bench/{name}" for name, value in run.settings),
        *measured(run, "bench"),
        "rmmod benchdisk",
        "echo 'run ended'\n",
    ])


def measured(run, name):
    # Releases are one to two periods apart.
    sources = [f"task:{run.period_us}:{run.period_us}:{runs.TASK_KIB}:{runs.op(index)[0]}"
               for index in range(run.tasks)]
    sources += [f"{kind}:{count}:{runs.LOAD_KIB}" for kind, count in runs.LOADS[run.load]]
    return [
        f"echo \"device $(cat /sys/block/{name}/dev)\"",
        "echo > $T/trace",
        "echo 1 > $T/tracing_on",
        f"load /dev/{name} {SECONDS} {' '.join(sources)}",
        "echo 0 > $T/tracing_on",
        *(f'echo "disk {figure} $(cat /sys/module/benchdisk/parameters/{figure})"' for figure in
          ("served", "late_ns", "overrun_ns")),
        "cat $T/trace",
    ]


def results(text, group):
    """Returns the results of each run in the guest's output."""
    parts = text.split("run ended\n")
    if parts.pop() not in ("", "end\n"):
        raise ValueError("text after the last run")
    return [result(part) for part, _ in zip(parts, group, strict=True)]


def result(text):
    """Reads the results of a run. An insertion is a bio's arrival at the device that the load uses."""
    device = re.search(r"^device (\d+):(\d+)$", text, re.M)
    device = f"{device[1]},{device[2]}"
    status = re.search(r"^status (.*)$", text, re.M)
    other = "\n".join(line for line in text.splitlines()
                      if not EVENT.search(line) and not line.startswith(("device ", "status ")))
    found = trace.result(other)
    names = {"bio_queue": "insert", "rq_issue": "issue", "rq_complete": "complete"}
    for event in EVENT.finditer(text):
        seconds, micros, what, at, op, sector, sectors = event.groups()
        if what != "bio_queue" or at == device:
            time = (int(seconds) * 1_000_000 + int(micros)) * 1_000
            found.events.append((time, names[what], (op[0], int(sector), int(sectors))))
    trace.client_times(found, TASK_SECTORS)
    found.host["complete"] = found.disk["late_ns"]
    if status:
        # The fields after `0 SECTORS tidegate` are QUEUED IN_FLIGHT ROUNDS LONE WORKER_US ..
        found.host["submit"] = int(status[1].split()[7]) * 1_000
    return found
