# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs `tidegate serve` in the guest, in front of the guest's disk, with the kernel's own NBD client on each export.

The load generator reads from the kernel's devices, so a response time includes the client's system call, the kernel's
block layer and NBD client, the socket, the service and the disk.
"""

import dataclasses
import json
import re

import runs

DEPTH = 8
# The period and deadline of all exports, in ns: several drains of a full disk.
PERIOD_NS = {"seek": 700 * runs.MS, "restart": 200 * runs.MS}
SECONDS = 20
# The guest's longest host times, in ns. Clients, kernel and service share one processor, and the
# service is a debug build here.
HOST_NS = {"release": 4_000_000, "submit": 1_000_000, "complete": 1_000_000, "reply": 4_000_000}
PLACES = ("random", "both_ends", "clusters", "track", "sequential", "climbed")
BEGIN = "service begin "
# The simulated drive; its reads' size and period; and a lower bound on the mean access, less than
# half a revolution.
ATTACHED, ATTACHED_KIB, ATTACHED_PERIOD_US, ATTACHED_MEAN_NS = "fujitsu-max3036rc", 128, 60_000, 2 * runs.MS


@dataclasses.dataclass(frozen=True)
class Served:
    """One workload under one policy of the service."""

    kind: str
    policy: str
    tasks: int
    load: str
    # The drive file's times as a share of the true ones. Below 1, the proof assumes a disk that is
    # faster than the real one.
    table_share: float = 1

    def __str__(self):
        return f"{self.kind}, {self.policy}, {self.tasks} exports, {self.load}"


TABLE = [Served(kind, policy, tasks, load) for kind in PERIOD_NS for policy in ("dqf", "gated-drain")
         for tasks in (1, 4) for load in ("1 reader", "32 readers")[tasks == 4:]]
QUICK = [Served("restart", "dqf", 1, "32 readers")]
CANARY = Served("restart", "dqf", 1, "32 readers", table_share=0.25)


def drive_file(served):
    """Returns the drive file: k requests together take at most k accesses, wherever they are."""
    access = int(runs.ACCESS_MAX_NS[served.kind] * served.table_share)
    times = [count * access for count in range(1, DEPTH + 1)]
    families = ", ".join(f'{{ places = "{places}", ns_max = {times} }}' for places in PLACES)
    return (f'name = "bench"\nkind = "pseudo"\ndepth = {DEPTH}\n[[batch]]\nop = "read"\n'
            f'size = "{runs.TASK_KIB}KiB"\nns_max = {times}\nfamilies = [{families}]\n'
            f'[[drain]]\nop = "read"\nsize = "{runs.TASK_KIB}KiB"\nns_max = {times}\nfamilies = [{families}]\n')


def serve_file(served):
    """Returns the serve file: an export with a contract for each task, and one for all loads."""
    period = PERIOD_NS[served.kind] // 1_000
    host = ", ".join(f'{step} = "{time}ns"' for step, time in HOST_NS.items())
    exports = "".join(
        f'[[export]]\nname = "task-{index}"\nsize = "64MiB"\nread_only = true\n'
        f'contract = {{ period = "{period}us", size_max = "{runs.TASK_KIB}KiB", op = "read" }}\n'
        for index in range(served.tasks))
    return (f'backing = "/dev/sda"\ndrive = "disk.drive.toml"\nread_only = true\nsocket = "/tmp/s.sock"\n'
            f'control = "/tmp/s.ctl"\nhost = {{ {host} }}\nlimits = {{ connections = 1 }}\n'
            f'[policy]\nname = "{served.policy}"\n{exports}'
            f'[[export]]\nname = "load"\nsize = "256MiB"\nread_only = true\nbest_effort = true\n')


def job(served):
    """Returns the guest's script: the service, its clients, and their results at the end."""
    period = PERIOD_NS[served.kind] // 1_000
    (kind, count), = runs.LOADS[served.load]
    names = [*(f"task-{index}" for index in range(served.tasks)), "load"]
    sources = [*(f"task:{period}:{period // 4}:{runs.TASK_KIB}:r" for _ in range(served.tasks)),
               f"{kind}:{count}:{runs.LOAD_KIB}"]
    return "\n".join([
        f"insmod /nbd.ko nbds_max={len(names)}",
        f"insmod /benchscsi.ko {runs.mechanics(served)}",
        "while [ ! -b /dev/sda ]; do sleep 1; done",
        "echo none > /sys/block/sda/queue/scheduler",
        f"echo {DEPTH} > /sys/block/sda/device/queue_depth",
        f"cat > /disk.drive.toml <<'END'\n{drive_file(served)}END",
        f"cat > /s.serve.toml <<'END'\n{serve_file(served)}END",
        "tidegate serve /s.serve.toml > /log 2>&1 & serve=$!",
        "for second in $(seq 20); do [ -S /tmp/s.sock ] || sleep 1; done; [ -S /tmp/s.sock ] || cat /log",
        *(f"nbd-client -unix /tmp/s.sock /dev/nbd{index} -N {name} > /nbd.log 2>&1 || cat /nbd.log /log; "
          # Without this setting, the kernel would send 256 KiB as two requests.
          f"cd /sys/block/nbd{index}/queue; echo none > scheduler; echo {runs.TASK_KIB} > max_sectors_kb; cd /"
          for index, name in enumerate(names)),
        # By then, the kernel has looked for partitions, and each contract has its tokens again.
        "sleep 2",
        *(f"load /dev/nbd{index} {SECONDS} {source} > /out.{index} & wait{index}=$!"
          for index, source in enumerate(sources)),
        *(f"wait $wait{index}" for index in range(len(names))),
        "cat /out.*",
        f"echo '{BEGIN}statistics'; tidegate ctl /tmp/s.ctl statistics --json",
        f"echo '{BEGIN}end'; echo overrun $(cat /sys/module/benchscsi/parameters/overrun_ns)",
        *(f"nbd-client -d /dev/nbd{index} > /nbd.log" for index in range(len(names))),
        "kill $serve; wait $serve; echo exit $?; cat /log",
        "echo 'run ended'\n",
    ])


def check(served, text, bound):
    """Returns the longest responses at a client and at the socket, in ns, the loads' requests, and the faults."""
    found = dict(re.findall(rf"^{BEGIN}(\w+)\n(.*?)(?=^{BEGIN}|\Z)", text, re.M | re.S))
    try:
        statistics = json.loads(found["statistics"])
        overrun, = re.findall(r"^overrun (\d+)$", found["end"], re.M)
        status, = re.findall(r"^exit (\d+)$", found["end"], re.M)
    except (KeyError, ValueError):
        return None, [text[-2000:]]
    *tasks, load = statistics["exports"]
    jobs = [int(end) - int(begin) for begin, end in re.findall(r"^job \d+ (\d+) (\d+)$", text, re.M)]
    counts = re.findall(r"^source \d+ (task|load) (\d+) ", text, re.M)
    asked = {kind: sum(int(count) for name, count in counts if name == kind) for kind in ("task", "load")}
    figures = {"client": max(jobs), "socket": max(task["socket_ns_max"] for task in tasks), "load": asked["load"]}
    checks = {
        # The kernel itself reads the start of each new device, to look for partitions.
        "requests of tasks": (asked["task"] <= sum(task["requests"] for task in tasks), True),
        "requests of loads": (asked["load"] <= load["requests"], True),
        "drain beyond the disk's contract": (int(overrun), 0),
        "exit of the service": (int(status), 0),
    }
    if served.table_share == 1:
        checks |= {
            "overruns": (statistics["drive"]["overruns"], 0),
            "responses above the bound": (sum(task["exceeded"] + task["unexplained"] for task in tasks), 0),
            "response at the client within the bound": (figures["client"] <= bound, True),
            "response at the socket within the client's": (figures["socket"] <= figures["client"], True),
        }
    return figures, [f"{name}: {value}, not {wanted}" for name, (value, wanted) in checks.items() if value != wanted]


def keeps_its_bounds(machines, tidegate, quick):
    """Prints a row for each run; returns whether each run kept its bound and the canary did not."""
    head = ["kernel", "disk", "policy", "exports", "load", "bound ms", "client ms", "socket ms", "load/s"]
    print("\n|" + "|".join(head) + "|\n" + "|---" * len(head) + "|", flush=True)
    is_kept = True
    for machine in machines:
        for served in [*(QUICK if quick else TABLE), CANARY]:
            text = machine.boot(machine.scsi_prologue + job(served), machine.scsi + machine.service)
            bound = tidegate.bound_of_exports(drive_file(served), serve_file(served))
            figures, faults = check(served, text, bound)
            if figures:
                policy = served.policy + (", wrong table" if served is CANARY else "")
                cells = [machine.kernel.series, served.kind, policy, served.tasks, served.load,
                         *(f"{time / 1e6:.2f}" for time in (bound, figures["client"], figures["socket"])),
                         f"{figures['load'] / SECONDS:.1f}"]
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
                if served is CANARY and figures["client"] <= bound:
                    faults.append("the canary kept a bound that rests on a wrong table")
            for fault in faults:
                is_kept = False
                print(f"FAULT: {machine.kernel.series}, {served}: {fault}", flush=True)
    return is_kept


def attached_workload():
    host = "".join(f'{step} = "{time}ns"\n' for step, time in HOST_NS.items())
    return (f'drive = "{ATTACHED}"\n[policy]\nname = "fifo"\n[[task]]\nname = "reader"\n'
            f'period = "{ATTACHED_PERIOD_US}us"\nsize = "{ATTACHED_KIB}KiB"\n[host]\n{host}')


def attached_job():
    """Returns the script that attaches a simulated drive, and reads from it one request at a time."""
    return "\n".join([
        # Some kernels have FUSE built in.
        "for module in fuse loop; do [ ! -f /$module.ko ] || insmod /$module.ko; done; mkdir /run",
        f"tidegate drive attach {ATTACHED} --name disk --background --quiet > /log 2>&1 || cat /log",
        # The first access takes longer in the guest, because the program is not in its caches.
        f"dd if=/dev/loop0 of=/dev/null bs={ATTACHED_KIB}k count=1 2> /log",
        f"load /dev/loop0 {SECONDS} task:{ATTACHED_PERIOD_US}:{ATTACHED_PERIOD_US}:{ATTACHED_KIB}:r",
        "tidegate drive detach disk --quiet; echo exit $?",
        "echo 'run ended'\n",
    ])


def attached_is_in_time(machines, tidegate):
    """Prints the times of single reads from an attached simulated drive; returns whether the drive allows them."""
    head = ["kernel", "drive", "requests", "bound ms", "mean ms", "client ms"]
    print("\n|" + "|".join(head) + "|\n" + "|---" * len(head) + "|", flush=True)
    bound, is_in_time = tidegate.bound_of(attached_workload()), True
    for machine in machines:
        text = machine.boot(attached_job(), machine.scsi + machine.service)
        jobs = [int(end) - int(begin) for begin, end in re.findall(r"^job \d+ (\d+) (\d+)$", text, re.M)]
        if not jobs or "\nexit 0\n" not in text:
            print(f"FAULT: {machine.kernel.series}: {text[-2000:]}", flush=True)
            return False
        times = (f"{time / 1e6:.2f}" for time in (bound, sum(jobs) / len(jobs), max(jobs)))
        print("| " + " | ".join([machine.kernel.series, ATTACHED, str(len(jobs)), *times]) + " |", flush=True)
        # The mean is at least that of this drive's accesses; a device that replied immediately
        # would not be the drive.
        if max(jobs) > bound or sum(jobs) < ATTACHED_MEAN_NS * len(jobs):
            is_in_time = False
            print(f"FAULT: {machine.kernel.series}: responses of the attached drive", flush=True)
    return is_in_time
