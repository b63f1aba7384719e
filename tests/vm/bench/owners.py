# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks which task the kernel target finds for a request, by cgroup, place and level. Each step must succeed."""

import target

TASK, LOAD = "restart", "32 readers"
GROUPS = "/sys/fs/cgroup"
ROUNDS = 60
SECTORS = 1 << 20
PLACE = 1 << 18  # the first sector of the place, which has 4,096
GROUP = r"/system.slice/a\x2db.service"


def contracts(line, *signs):
    """Returns a proved line whose task is identified by these signs."""
    head, task = line.split(f" task {target.LEVEL} ")
    return f"{head} task - {task} " + " ".join(signs)


def wrong(line):
    """Returns wrong lines, each with the message in the kernel's log."""
    group, place = f"cgroup 0 {GROUP}", f"place 0 {PLACE} 8"
    beside = f"place 0 {PLACE + 7} 8"
    return [
        (contracts(line), "a task needs a level"),
        (contracts(line, "cgroup 1 /a"), "cgroup TASK PATH"),
        (contracts(line, "cgroup 0"), "cgroup TASK PATH"),
        (contracts(line, "cgroup 0 a.service"), "a cgroup has a path"),
        (contracts(line, "cgroup 0 /a/"), "a cgroup has a path"),
        (contracts(line, group, group), "two tasks have the same cgroup"),
        (contracts(line, f"place 0 {PLACE} 0"), "a place has at least one sector"),
        (contracts(line, f"place 0 {(1 << 64) - 1} 2"), "a place has at least one sector"),
        (contracts(line, place, beside), "two places overlap"),
        (contracts(line, "place 0 8"), "place TASK FIRST COUNT"),
        (contracts(line, "place 0 -1 8"), "place TASK FIRST COUNT"),
        (line.replace(f"task {target.LEVEL}", "task 8"), "levels 0 to 7"),
        (f"{line} task {target.LEVEL} 1 1 1", "two tasks have the same level"),
        (line + "".join(f" task - 1000000 1000000 1 place {n} {n} 1" for n in range(1, 65)), "at most 64 times"),
    ]


def job(program, bound_of):
    """Returns the guest's script, which prints `ok` or `bad` for each step."""
    run = target.Target(TASK, "gated-drain", 1, LOAD)
    line, bound_us = target.table_line(program, run), bound_of(target.workload(run)) // 1_000
    return "\n".join([
        PROLOGUE,
        *refused(line),
        *by_group(contracts(line, f"cgroup 0 {GROUP}")),
        *by_place(contracts(line, f"place 0 {PLACE} 4096")),
        *by_several(contracts(line, f"cgroup 0 {GROUP}", f"place 1 {PLACE} 4096").replace(
            " cgroup", f" task {target.LEVEL} 40000000 40000000 1 cgroup", 1)),
        *keeps_its_bound(contracts(line, f"cgroup 0 {GROUP}"), bound_us),
        *vanishes_under_load(contracts(line, f"cgroup 0 {GROUP}"), contracts(line, f"place 0 {PLACE} 4096")),
        "dmesg >> /whole-log",
        "if grep -E 'WARNING|BUG|Oops|blocked for more' /whole-log; then echo 'bad log'; else echo 'ok log'; fi",
        "rmmod dm-tidegate; check unload",
        "echo 'stress ended'\n",
    ])


PROLOGUE = f"""check() {{ if [ $? = 0 ]; then echo "ok $1"; else echo "bad $1"; fi; }}
gate() {{ echo "0 {SECTORS} tidegate /dev/bench 0 $1" | dmsetup create gate --noudevsync; }}
read_64k() {{ dd if=/dev/dm-0 of=/dev/null bs=64K count=4 skip=$1 iflag=direct 2> /dev/null; }}
within() {{ sh -c "echo \\$\\$ > '{GROUPS}$1/cgroup.procs'; exec dd bs=64K count=4 ${{2:-if=/dev/dm-0 of=/dev/null iflag=direct}}" 2> /dev/null; }}
seen() {{ set -- "$1" "$2" "$3" $(dmsetup status gate); [ "${{14}} ${{41}}" = "$1 $2" ]; check "$3"; dmsetup message gate 0 reset; }}
insmod /benchdisk.ko kind=1 access_max_ns=2000000 depth=8
echo none > /sys/block/bench/queue/scheduler
mount -t cgroup2 none {GROUPS}
echo +io > {GROUPS}/cgroup.subtree_control; check 'io controller'
mkdir {GROUPS}/system.slice; echo +io > {GROUPS}/system.slice/cgroup.subtree_control
mkdir '{GROUPS}{GROUP}' '{GROUPS}{GROUP}x' {GROUPS}/other"""


def refused(line):
    """Yields the steps that try wrong lines: each creates no device, and the log gives the reason."""
    for text, reason in wrong(line):
        yield "dmesg -c >> /whole-log"
        yield f"gate '{text}' 2> /dev/null && echo 'bad: accepted'"
        yield f"dmesg | grep -q '{reason}'; check 'refused: {reason}'"
        yield "dmsetup remove gate --noudevsync 2> /dev/null"


def by_group(line):
    """Returns the steps for groups: a request belongs to the task if it comes from its group or one below it."""
    below = f"{GROUP}/sub"
    return [
        f"gate '{line}'; check 'by cgroup'",
        "read_64k 0; seen 0 4 'outside of every group'",
        f"within '{GROUP}'; seen 4 0 'in the group'",
        f"within '{GROUP}x'; seen 0 4 'in a group whose name begins like it'",
        "within /other; seen 0 4 'in another group'",
        # The submitter's group counts. A reader keeps the device open; otherwise `dd` would write
        # the data back when it closes the device.
        f"sleep 1000 < /dev/dm-0 & keep=$!; within '{GROUP}' 'if=/dev/zero of=/dev/dm-0'; sync; "
        "set -- $(dmsetup status gate); echo \"ok: ${11} real time, ${38} best effort\"; "
        "[ ${11} = 0 ] && [ ${38} -gt 0 ]; check 'written back from outside of the group'; "
        "kill $keep; wait $keep 2> /dev/null; dmsetup message gate 0 reset",
        f"mkdir '{GROUPS}{below}'",
        f"within '{below}'; seen 4 0 'below the group'",
        f"echo +io > '{GROUPS}{GROUP}/cgroup.subtree_control'; check 'io controller below'",
        f"within '{below}'; seen 4 0 'below the group, with its own controller'",
        f"echo -io > '{GROUPS}{GROUP}/cgroup.subtree_control'",
        f"rmdir '{GROUPS}{below}' '{GROUPS}{GROUP}'; mkdir '{GROUPS}{GROUP}'",
        f"within '{GROUP}'; seen 4 0 'in a group that was made again'",
        # The table that the kernel shows can be loaded again.
        "dmsetup table gate > /table; dmsetup load gate /table && dmsetup resume gate --noudevsync; check again",
        f"within '{GROUP}'; seen 4 0 'with the table that the kernel shows'",
        "dmsetup remove gate --noudevsync; check remove",
        # `attach` identifies a mapping by its uuid, and parses these answers.
        "dmsetup create gate --uuid TIDEGATE-a-1 --noudevsync < /table; check 'with a uuid'",
        "[ \"$(dmsetup info -c --noheadings -o uuid gate)\" = TIDEGATE-a-1 ]; check 'the uuid'",
        "dmsetup remove gate --noudevsync; check remove",
        "dmsetup info -c --noheadings -o uuid gate 2>&1 | grep -q 'does not exist'; check 'no mapping, no uuid'",
    ]


def by_place(line):
    """Returns the steps for places: a request belongs to the task if its first sector is in the place."""
    first = PLACE // 128
    return [
        f"gate '{line}'; check 'by place'",
        f"read_64k {first}; seen 4 0 'in the place'",
        f"read_64k {first + 28}; seen 4 0 'at its end'",
        f"read_64k {first + 32}; seen 0 4 'behind it'",
        f"read_64k {first - 2}; seen 2 2 'across its start'",
        "dmsetup remove gate --noudevsync; check remove",
    ]


def by_several(line):
    """Returns the steps for tasks with signs of different kinds in one table."""
    first = PLACE // 128
    return [
        f"gate '{line}'; check 'by several signs'",
        f"within '{GROUP}'; seen 4 0 'group'",
        f"read_64k {first}; seen 4 0 'place'",
        "load /dev/dm-0 1 task:40000:0:64:r > /log; set -- $(dmsetup status gate); [ ${11} -gt 9 ]; check level",
        "read_64k 0; dmsetup remove gate --noudevsync; check remove",
    ]


def keeps_its_bound(line, bound_us):
    """Returns the steps under load: a task that only its group identifies keeps its bound, and outside it does not."""
    task = "load /dev/dm-0 20 task:40000:40000:256:r"
    return [
        f"gate '{line}'; check 'to keep a bound'",
        f"sh -c \"echo \\$\\$ > '{GROUPS}{GROUP}/cgroup.procs'; exec {task}\" > /log & pid=$!",
        "load /dev/dm-0 20 read:32:64 > /log2; wait $pid; check 'load ends well'",
        "set -- $(dmsetup status gate)",
        f"echo \"ok: ${{11}} requests, longest ${{12}} us, bound {bound_us} us\"",
        f"[ ${{11}} -gt 200 ] && [ ${{12}} -le {bound_us} ]; check 'bound'",
        "dmsetup message gate 0 reset",
        f"{task} > /log & pid=$!; load /dev/dm-0 20 read:32:64 > /log2; wait $pid",
        "set -- $(dmsetup status gate); [ ${11} = 0 ]; check 'no contract outside of the group'",
        f"grep -q task /log && while read name index kind count longest; do [ $kind = task ] && "
        f"[ $longest -gt {bound_us}000 ] && break; done < /log; check 'and no bound'",
        "dmsetup remove gate --noudevsync; check remove",
    ]


def vanishes_under_load(by_group, by_place):
    """Returns the steps that create and remove groups, and change tables, while requests are in flight."""
    table = lambda name, line: f"echo \"0 {SECTORS} tidegate /dev/bench 0 {line}\" > /{name}"
    return [
        table("by-group", by_group), table("by-place", by_place),
        "dmsetup create gate --noudevsync /by-group; check create",
        "load /dev/dm-0 15 task:60000:20000:256:r read:16:64 write:2:64 > /log & pid=$!",
        "failures=0; next=by-place",
        f"for round in $(seq {ROUNDS}); do",
        f"  mkdir {GROUPS}/system.slice/t$round; mkdir -p '{GROUPS}{GROUP}'",
        f"  sh -c \"echo \\$\\$ > '{GROUPS}{GROUP}/cgroup.procs'; "
        "exec dd if=/dev/dm-0 of=/dev/null bs=64K count=2 iflag=direct\" 2> /dev/null || failures=1",
        f"  rmdir '{GROUPS}{GROUP}' {GROUPS}/system.slice/t$round || failures=1",
        "  dmsetup load gate /$next && dmsetup suspend gate && dmsetup resume gate --noudevsync || failures=1",
        "  case $next in by-place) next=by-group;; *) next=by-place;; esac",
        "done",
        f"[ $failures = 0 ]; check '{ROUNDS} groups and reloads under load'",
        "wait $pid; check 'load ends well'",
        "dmsetup remove gate --noudevsync; check remove",
    ]
