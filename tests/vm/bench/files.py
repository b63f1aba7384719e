# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks writers on a file system: which process sends their requests, in which class, and how long they wait.

A recorder in the real-time class writes a piece of a file in each period, beside readers of another
file, with the settings of `tune`. Each way of writing is timed.
"""

import dataclasses
import json
import re

import runs

FILE_SYSTEMS = {"ext4": "mkfs.ext4 -q -E nodiscard,lazy_itable_init=0,lazy_journal_init=0",
                "xfs": "mkfs.xfs -q -K", "btrfs": "mkfs.btrfs -q -K"}
# The ways of writing, with the names that `writer` uses. The last one keeps the file's times out of
# the journal.
HOWS = ["direct", "append", "buffered", "synced", "synced, lazytime"]
SECONDS, PERIOD_US = 8, 160_000
READERS, DEPTH = 16, 4
DISK_MB, BIG_MB, OLD_MB, FLOOD_MB = 4096, 384, 16, 256
# Files are close to each other: without the last parameter, the disk would never serve a request
# far from them.
DISK = f"keeps_data=1 size_mb={DISK_MB} age_max_ns=500000000"
# The times are longer than in runs.py, because the disk's copies of the data and the file systems
# use processor time of the guest.
HOST_NS = {"release": 5_000_000, "submit": 1_000_000, "complete": 500_000, "reply": 2_000_000}
LIMIT = "/sys/block/sda/queue/wbt_lat_usec"
OVERRUN = "/sys/module/benchscsi/parameters/overrun_ns"
BEGIN = "part "


@dataclasses.dataclass(frozen=True)
class Source:
    """A `[[task]]` or `[[best_effort]]` entry, with its unit."""

    name: str
    asks: str
    kib: int
    op: str

    @property
    def text(self):
        kind = "task" if "period" in self.asks else "best_effort"
        return (f'[[{kind}]]\nname = "{self.name}"\nunit = "{self.name}.service"\n{self.asks}\n'
                f'size = "{self.kib}KiB"\nop = "{self.op}"\n')


RECORDER = Source("recorder", f'period = "{PERIOD_US}us"', runs.TASK_KIB, "write")
MEDIA = Source("media", f"outstanding = {READERS}", runs.LOAD_KIB, "read")


def workload(sources, depth=DEPTH):
    drains = [count * runs.ACCESS_MAX_NS["seek"] for count in range(1, 65)]
    host = "".join(f'{step} = "{time}ns"\n' for step, time in HOST_NS.items())
    return (f'[policy]\nname = "mq-deadline-tuned"\n[policy.mq-deadline-tuned]\nqueue_depth = {depth}\n'
            f"taken_early = 0\n[drive]\nkind = \"pseudo\"\ndepth = {len(drains)}\nbatch_ns_max = {drains}\n"
            f"drain_ns_max = {drains}\n[host]\n{host}" + "".join(source.text for source in sources))


def prepared(name, sources):
    """Returns the lines that make a file system with two files: one to read, and one to overwrite."""
    return [
        f"insmod /benchscsi.ko {runs.mechanics(runs.Run('seek', DEPTH, 1, '1 reader'))} {DISK}",
        "while [ ! -b /dev/sda ]; do sleep 1; done",
        f"{FILE_SYSTEMS[name]} /dev/sda",
        f"mkdir -p /mnt; mount -t {name} /dev/sda /mnt",
        f"dd if=/dev/zero of=/mnt/big bs=1M count={BIG_MB} 2> /log",
        f"dd if=/dev/zero of=/mnt/old bs=1M count={OLD_MB} 2> /log; sync",
        f"cat > /run.toml <<'END'\n{workload(sources)}END",
    ]


def in_unit(unit, command):
    """Returns a command that runs `command` in a separate control group, as the service manager would."""
    group = f"/sys/fs/cgroup/{unit}.service"
    return f"mkdir -p {group}; sh -c 'echo $$ > {group}/cgroup.procs; exec {command}'"


def part(name, *lines):
    return [f"echo '{BEGIN}{name}'", *lines]


def job(name):
    """Returns the guest's script for one file system."""
    lines = [*prepared(name, [RECORDER, MEDIA]), "tidegate tune /dev/sda /run.toml --apply --quiet",
             # The count starts at 0 here, because before, the file system sent larger requests than
             # the contract's.
             f"echo 0 > {OVERRUN}"]
    for how in HOWS:
        lines += part(how, *timed(how))
    for limit in (75_000, 0):
        lines += part(f"limit {limit}", f"echo {limit} > {LIMIT}", *flooded())
    lines += part("end", "tidegate tune /dev/sda --undo --quiet", f"cat {OVERRUN}",
                  "umount /mnt", "rmmod benchscsi")
    return "\n".join(lines) + "\n"


def timed(how):
    how, _, option = how.partition(", ")
    target = "/mnt/new" if how == "append" else "/mnt/old"
    return [
        *([f"mount -o remount,{option} /mnt"] if option else []),
        f"tidegate watch /dev/sda --duration {SECONDS + 2}s --json > /watch.json & watch=$!",
        in_unit("media", f"load /mnt/big {SECONDS + 1} read:{READERS}:{runs.LOAD_KIB}") + " > /log & load=$!",
        "sleep 1",
        in_unit("recorder", f"ionice -c 1 -n 4 writer {target} {SECONDS - 1} {PERIOD_US} {runs.TASK_KIB} {how}"),
        "wait $load; wait $watch; cat /watch.json; echo; rm -f /mnt/new; sync",
        *(["mount -o remount,nolazytime /mnt"] if option else []),
    ]


def flooded():
    """Returns the lines that run a reader in the real-time class while a program fills the page cache with writes."""
    return [
        f"dd if=/dev/zero of=/mnt/flood bs=1M count={FLOOD_MB} 2> /log & flood=$!",
        f"load /mnt/big {SECONDS} task:{PERIOD_US}:0:{runs.TASK_KIB}:r",
        "wait $flood; rm /mnt/flood; sync",
    ]


def parts(text):
    pieces = re.split(rf"^{BEGIN}(.+)\n", text, flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2]))


def jobs(text):
    """Returns the start and end of each job, in ns."""
    return [(int(begin), int(end)) for begin, end in re.findall(r"^job \d+ (\d+) (\d+)$", text, re.M)]


def worst(text):
    """Returns the duration of the longest job, in ns."""
    return max(end - begin for begin, end in jobs(text))


def senders(text):
    """Returns the programs that wrote, with their classes, without the readers."""
    report = json.loads(re.search(r"^\{$.*?^\}$", text, re.M | re.S)[0])
    found = [source for source in report["sources"] if source["writes"] + source["others"]]
    return ", ".join(f"{source['name']} {source['class']} {source['writes'] + source['others']}" for source in found)


def show(machines, tidegate):
    """Prints rows for each file system; returns whether direct writes kept their bound and the disk its contract."""
    bound = tidegate.bound_of(workload([RECORDER, MEDIA]))
    series = [machine.kernel.series for machine in machines]
    columns = [*(f"{name} ms" for name in series), *(f"requests, {name}" for name in series)]
    print(f"\nbound {bound / 1e6:.2f} ms\n\n|file system|writes|" + "|".join(columns) + "|\n" + "|---" * 6 + "|",
          flush=True)
    faults, limits = [], []
    for name in FILE_SYSTEMS:
        texts = [parts(machine.boot(prologue(machine) + job(name), machine.scsi + machine.files))
                 for machine in machines]
        for how in HOWS:
            times = [worst(text[how]) for text in texts]
            cells = [name, how, *(f"{time / 1e6:.2f}" for time in times), *(senders(text[how]) for text in texts)]
            print("| " + " | ".join(cells) + " |", flush=True)
            # The other ways of writing wait for the journal. On btrfs all ways do, because it
            # writes every piece to a new place.
            if how == "synced, lazytime" and name != "btrfs" and max(times) > bound:
                faults.append(f"FAULT: {name}, {how}: {max(times)} ns, bound {bound} ns")
        faults += [f"FAULT: {name}: {text['end']}" for text in texts if "\n0\n" not in text["end"]]
        limits += [[name, f"{limit}", *(f"{worst(text[f'limit {limit}']) / 1e6:.2f}" for text in texts)]
                   for limit in (75_000, 0)]
    print("\n|file system|wbt_lat_usec|" + "|".join(columns[:2]) + "|\n" + "|---" * 4 + "|")
    print(*("| " + " | ".join(cells) + " |" for cells in limits), *faults, sep="\n", flush=True)
    return not faults


def prologue(machine):
    return machine.scsi_prologue + machine.files_prologue + "mount -t cgroup2 none /sys/fs/cgroup\n"
