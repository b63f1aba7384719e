# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs a recorder that writes with fsync, a media server and a backup on ext4, before and after
`tidegate tune --install`, and prints the screens of `tidegate watch`.

The recorder runs from the first act to the second, so that it gets its class while it runs. In the
third act, a recorder overwrites a file that was made before, and the file's times stay out of the
journal, so that no write waits for the journal.
"""

import re

import files
import runs

ACT = 12
MEDIA = files.Source("media", "outstanding = 32", runs.LOAD_KIB, "read")
BACKUP = files.Source("backup", "outstanding = 1", runs.TASK_KIB, "read")
SOURCES = [files.RECORDER, MEDIA, BACKUP]
WIDTH = "COLUMNS=80"


def job():
    recorder = f"{files.PERIOD_US} {runs.TASK_KIB}"
    seconds = 3 * ACT + 12
    return "\n".join([
        *files.prepared("ext4", SOURCES),
        "cp /run.toml /house.toml",
        files.in_unit("media", f"load /mnt/big {seconds} read:32:{runs.LOAD_KIB}") + " > /media & media=$!",
        files.in_unit("backup", f"load /mnt/big {seconds} scan:1:{runs.TASK_KIB}") + " > /backup & backup=$!",
        "sleep 1",
        files.in_unit("recorder", f"writer /mnt/new {2 * ACT + 6} {recorder} append") + " > /first & first=$!",
        "sleep 1",
        *files.part("stock", *watched()),
        *files.part("install", f"{WIDTH} tidegate tune /dev/sda /house.toml --install; echo exit $?",
                    "cat /etc/udev/rules.d/* /etc/systemd/system/*/*"),
        *files.part("tuned", *watched("/house.toml")),
        "wait $first; mount -o remount,lazytime /mnt",
        files.in_unit("recorder", f"ionice -c 1 -n 4 writer /mnt/old {ACT + 2} {recorder} synced")
        + " > /second & second=$!",
        "sleep 1",
        f"tidegate watch /dev/sda --learn -o /learnt.toml --duration {ACT}s --quiet > /log & learn=$!",
        *files.part("synced", *watched("/house.toml")),
        "wait $second; wait $learn",
        *files.part("learnt", "cat /learnt.toml"),
        *files.part("status", f"{WIDTH} tidegate tune /dev/sda --status; echo exit $?"),
        *files.part("undo", f"{WIDTH} tidegate tune /dev/sda --undo; echo exit $?",
                    "for file in /etc/udev/rules.d/* /etc/systemd/system/*/*; do",
                    "[ ! -f $file ] || echo left $file; done"),
        "wait $media; wait $backup",
        *files.part("first", "cat /first"),
        *files.part("second", "cat /second"),
        *files.part("loads", "cat /media /backup"),
        *files.part("end", "umount /mnt", "rmmod benchscsi"),
    ]) + "\n"


def watched(workload=""):
    """Returns the lines that run `watch` for the length of an act, and print when the act began and ended."""
    return ["echo begin $(cat /proc/uptime)",
            f"{WIDTH} tidegate watch /dev/sda {workload} --duration {ACT}s; echo exit $?",
            "echo end $(cat /proc/uptime)"]


def is_told(machines, tidegate, is_quick):
    """Prints each kernel's acts, and the last kernel's screens; returns whether each act had the expected result."""
    bound = tidegate.bound_of(files.workload(SOURCES))
    print(f"\nbound {bound / 1e6:.2f} ms\n\n|kernel|act|pieces|longest ms|\n" + "|---" * 4 + "|", flush=True)
    faults, screens = [], {}
    for machine in machines[-1:] if is_quick else machines:
        text = machine.boot(files.prologue(machine) + job(), machine.scsi + machine.files)
        screens = files.parts(text)
        for act, writer in (("stock", "first"), ("tuned", "first"), ("synced", "second")):
            begin, end = span(screens[act])
            jobs = [job for job in files.jobs(screens[writer]) if begin <= job[0] < end]
            longest = max(last - first for first, last in jobs)
            cells = [machine.kernel.series, act, len(jobs), f"{longest / 1e6:.2f}"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
            # Only the last act satisfies all premises of the proof.
            if (longest > bound) != (act != "synced"):
                faults.append(f"{machine.kernel.series}, {act}: {longest} ns, bound {bound} ns")
        for name in ("install", "synced", "status", "undo"):
            if "\nexit 0\n" not in screens[name]:
                faults.append(f"{machine.kernel.series}: {name} fails: {screens[name]}")
        faults += re.findall(r"^left .*$", screens["undo"], re.M)
    for name in ("stock", "install", "tuned", "synced", "learnt", "status", "undo"):
        print(f"\n{name}:\n{screens[name]}")
    print(*(f"FAULT: {fault}" for fault in faults), sep="\n")
    return not faults


def span(text):
    """Returns the start and end of an act, in ns of the kernel's uptime, which the text gives in seconds."""
    return [float(re.search(rf"^{word} (\S+)", text, re.M)[1]) * 1e9 for word in ("begin", "end")]
