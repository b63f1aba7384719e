# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the order in which a kernel sends requests with the model of `mq-deadline-tuned`, decision by decision.

Tracepoints record when a request is inserted, sent and completed. Probes on two functions of the scheduler
record when the kernel asks it for a request, and the tick that it then reads from the clock.
"""

import re
import subprocess

import runs

# dd_insert_requests and dd_dispatch_request are the scheduler's entries in 6.1 and 6.12.
PROLOGUE = runs.PROLOGUE + """echo 163840 > $T/buffer_size_kb
echo 'p:entry dd_insert_requests ticks=@jiffies:u64' > $T/kprobe_events
echo 'r:ask dd_dispatch_request rq=$retval:x64 ticks=@jiffies:u64' >> $T/kprobe_events
echo 1 > $T/events/kprobes/enable
"""
PROBE = re.compile(r": (entry|ask): \(.*?\) (?:rq=0x([0-9a-f]+) )?ticks=(\d+)")
EVENT = re.compile(r": block_rq_(insert|issue|complete): \S+ (\w+) (?:\d+ )?\(\) (\d+) \+ (\d+) ")
TICK_NS = 4_000_000
# A run with fewer dispatches shows too little.
EQUAL_MIN = 1_000
NAMES = {"issue": "send", "complete": "complete"}
RUNS = [runs.Run("brief", 1, 4, "mixed", stated_seconds=180), runs.Run("brief", 4, 4, "mixed"),
        runs.Run("seek", 4, 4, "mixed")]


def events(text, task_sectors):
    """Returns the events in the format of the comparison (tests/vm/src/lib.rs)."""
    lost = re.search(r"entries-in-buffer/entries-written: (\d+)/(\d+)", text)
    if not lost or lost[1] != lost[2]:
        raise ValueError("the guest's trace lost events")
    lines, identities, base, now = [], {}, None, 0
    for line in text.splitlines():
        if probe := PROBE.search(line):
            kind, request, ticks = probe.groups()
            base = base or int(ticks)
            now = (int(ticks) - base) * TICK_NS
            if kind == "ask":
                lines.append(f"ask {now} {'y' if int(request, 16) else 'n'}")
        elif event := EVENT.search(line):
            what, op, sector, sectors = event.groups()
            key = (op[0], sector, sectors)
            if what == "insert":
                identities[key] = identities.get(None, 0) + 1
                identities[None] = identities[key]
                name = "r" if int(sectors) == task_sectors else "b"
                lines.append(f"insert {now} {identities[key]} {name} {op[0]} {sector} {sectors}")
            else:
                lines.append(f"{NAMES[what]} {now} {identities[key]}")
    return lines


def compare(program, lines, series, depth):
    """Returns the number of equal dispatches, and the first difference with the lines before it, or None."""
    done = subprocess.run([program, series, str(depth)], input="\n".join(lines), capture_output=True, text=True,
                          check=False)
    if done.returncode > 1:
        raise RuntimeError(done.stderr)
    equal, *difference = done.stdout.splitlines()
    if not difference:
        is_vacuous = int(equal) < EQUAL_MIN or not all(any(re.match(f"ask .* {got}", line) for line in lines)
                                                       for got in "yn")
        return int(equal), "too few dispatches, or the probes saw nothing" if is_vacuous else None
    line = int(difference[0].split()[1].rstrip(":"))
    return int(equal), "\n".join([difference[0], *lines[max(0, line - 40):line]])
