# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The runs: workload files, and the script that runs one of them in the guest."""

import dataclasses

MS = 1_000_000
# The parameters of the disks (see disk/mechanics.h); the longest access of one request follows, in
# ns, for each kind.
TASK_KIB, LOAD_KIB = 256, 64
TURN_NS, SEEK_MAX_NS, TRACK_KIB = 6 * MS, 9 * MS, 512
ACCESS_MAX_NS = {
    # The longest seek, a full revolution, and the transfer of the largest request.
    "seek": SEEK_MAX_NS + TURN_NS + TURN_NS * TASK_KIB // TRACK_KIB,
    "restart": 4 * MS,
    # The same as "restart", with shorter accesses, so that more requests fit into less time.
    "brief": 2 * MS,
}
MECHANICS = {"seek": 0, "restart": 1, "brief": 1}
# The guest's longest host times, in ns. The bounds include them, and every run checks them.
HOST_NS = {"release": 300_000, "submit": 300_000, "complete": 300_000, "reply": 500_000}
# The shortest period as a number of drain times, for each number of tasks; with it, no task has two
# jobs within the bound.
PERIODS = {1: 5, 4: 8}
JOBS = 150
LOADS = {
    "1 reader": [("read", 1)],
    "32 readers": [("read", 32)],
    "128 readers": [("read", 128)],
    "writer": [("write", 1)],
    # These loads are for the order of dispatch and for canaries.
    "mixed": [("read", 200), ("write", 8)],
    "900 readers": [("read", 900)],
    "128 writers": [("write", 128)],
}


@dataclasses.dataclass(frozen=True)
class Run:
    """One workload on one disk."""

    kind: str
    depth: int
    tasks: int
    load: str
    # More lines of [policy.mq-deadline-tuned]; and the deadline, by default the period.
    stated: tuple = ()
    deadline_ns: int = None
    # Whether the disk is behind the SCSI layer, where the guest's own `tidegate tune` makes the
    # settings.
    is_scsi: bool = False
    # The shortest period; by default a number of drain times from PERIODS.
    stated_period_us: int = None
    # The length of the run; by default that of JOBS jobs, between 10 s and 40 s.
    stated_seconds: int = None

    @property
    def drain_ns(self):
        return self.depth * ACCESS_MAX_NS[self.kind]

    @property
    def period_us(self):
        return self.stated_period_us or PERIODS[self.tasks] * self.drain_ns // 1_000

    @property
    def taken_early(self):
        """Returns h of the theorem: how many lower requests the kernel sends at most in a real-time busy period."""
        return dict(self.stated).get("taken_early", 1)

    @property
    def seconds(self):
        return self.stated_seconds or min(40, max(10, JOBS * self.period_us // 1_000_000 + 1))

    def __str__(self):
        return f"{self.kind}, depth {self.depth}, {self.tasks} tasks, {self.load}"


TABLE = [Run(kind, depth, tasks, load) for kind in ("seek", "restart") for depth in (1, 4, 8) for tasks in PERIODS
         for load in ("1 reader", "32 readers", "128 readers", "writer")]
SCSI = [Run("restart", depth, tasks, "128 readers", stated=(("taken_early", 0),), is_scsi=True)
        for depth in (1, 4, 8) for tasks in PERIODS]
QUICK = [Run("restart", 1, 1, "32 readers")]


def workload(run, host_ns=HOST_NS):
    """Returns the workload file. If there are four tasks, two of them write."""
    drains = [count * ACCESS_MAX_NS[run.kind] for count in range(1, 65)]
    stated = "".join(f"{key} = {value}\n" for key, value in
                     {"queue_depth": run.depth, **dict(run.stated), "taken_early": run.taken_early}.items())
    host = "".join(f'{step} = "{time}ns"\n' for step, time in host_ns.items())
    text = (f'[policy]\nname = "mq-deadline-tuned"\n[policy.mq-deadline-tuned]\n{stated}'
            f'[drive]\nkind = "pseudo"\ndepth = {len(drains)}\nbatch_ns_max = {drains}\ndrain_ns_max = {drains}\n'
            f"[host]\n{host}")
    return text + sources(run, run.deadline_ns)


def sources(run, deadline_ns=None):
    """Returns the tasks and loads of a workload file. The deadline is the period by default."""
    text = ""
    for index in range(run.tasks):
        text += (f'[[task]]\nname = "task-{index}"\nperiod = "{run.period_us}us"\nsize = "{TASK_KIB}KiB"\n'
                 f'op = "{op(index)}"\n' + (f'deadline = "{deadline_ns}ns"\n' if deadline_ns else ""))
    for index, (kind, count) in enumerate(LOADS[run.load]):
        text += (f'[[best_effort]]\nname = "load-{index}"\noutstanding = {count}\nsize = "{LOAD_KIB}KiB"\n'
                 f'op = "{kind}"\n')
    return text


def op(index):
    return "write" if index % 2 else "read"


def job(run, settings):
    """Returns the guest's script for one run with these settings, which it makes in this order."""
    script, module = (scsi_job, "benchscsi") if run.is_scsi else (plain_job, "benchdisk")
    return script(run, settings) + f"\nrmmod {module}\necho 'run ended'\n"


def plain_job(run, settings):
    attributes = dict(settings)
    depth = attributes.pop("device/queue_depth")
    return "\n".join([
        f"insmod /benchdisk.ko {mechanics(run)} depth={depth}",
        *(f"echo {value} > /sys/block/bench/{name}" for name, value in attributes.items()),
        *measured(run, attributes, "bench", "benchdisk"),
    ])


def scsi_job(run, settings):
    """Returns the script of a run in which `tidegate tune` makes the settings, checks them, and restores them."""
    values = "; ".join(f"cat /sys/block/sda/{name}" for name in settings if "iosched" not in name)
    return "\n".join([
        f"insmod /benchscsi.ko {mechanics(run)}",
        "while [ ! -b /dev/sda ]; do sleep 1; done",
        f"cat > /run.toml <<'END'\n{workload(run)}END",
        f"({values}) > /before",
        "tidegate tune /dev/sda /run.toml --apply --quiet > /log; echo tune apply $?",
        "tidegate tune /dev/sda --status --quiet > /log; echo tune status $?",
        *measured(run, settings, "sda", "benchscsi"),
        "tidegate tune /dev/sda --undo --quiet > /log; echo tune undo $?",
        f"({values}) > /after; cmp -s /before /after; echo tune restored $?",
    ])


def mechanics(run):
    return f"kind={MECHANICS[run.kind]} access_max_ns={ACCESS_MAX_NS[run.kind]}"


def measured(run, attributes, name, module):
    """Returns the lines that read the settings back, load the disk, and print the results."""
    sources = [f"task:{run.period_us}:{run.drain_ns // 1_000}:{TASK_KIB}:{op(index)[0]}" for index in range(run.tasks)]
    sources += [f"{kind}:{count}:{LOAD_KIB}" for kind, count in LOADS[run.load]]
    return [
        *(f'echo "set {attribute} $(cat /sys/block/{name}/{attribute})"' for attribute in attributes),
        "echo > $T/trace",
        "echo 1 > $T/tracing_on",
        f"load /dev/{name} {run.seconds} {' '.join(sources)}",
        "echo 0 > $T/tracing_on",
        *figures(module),
        "cat $T/trace",
    ]


def figures(module):
    """Returns the lines that print what the disk measured of itself."""
    return [f'echo "disk {figure} $(cat /sys/module/{module}/parameters/{figure})"' for figure in
            ("served", "late_ns", "overrun_ns")]


def steps(found, host_ns=HOST_NS):
    """Returns the times of the disk's contract and of the host's steps in a run, each with the longest one stated."""
    return {"the drain beyond the disk's contract": (found.disk["overrun_ns"], 0),
            **{f"the host's {step}": (found.host[step], most) for step, most in host_ns.items()}}


def host_line(worst, host_ns=HOST_NS):
    """Returns the longest times of the host's steps as a line to print."""
    return "Host: " + ", ".join(f"{step} {time / 1_000:.0f} of {host_ns[step] / 1_000:.0f} us"
                                for step, time in worst.items())


PROLOGUE = """T=/sys/kernel/tracing
echo mono > $T/trace_clock
echo 65536 > $T/buffer_size_kb
for event in insert issue complete; do echo 1 > $T/events/block/block_rq_$event/enable; done
"""
