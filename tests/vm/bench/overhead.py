# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures the target's cost on a device without mechanics: bare, below dm-linear, and below the target.

Virtual time counts instructions. With one reader, a request completes during its submission. With 32 readers,
the device completes requests by a timer, so that its queue fills and the processor is the bottleneck.
"""

import re

SECONDS = 1
SECTORS = 1 << 24
# How the device completes requests, for each number of readers.
MODES = {1: "irqmode=0", 32: "irqmode=2 completion_nsec=10000"}
DEPTH = 64
TASK = "task 4 100000000 100000000 1"
POLICIES = ("dqf", "gated-drain")


def line(policy):
    """Returns a plan with every part that costs time: tokens, the elevator, and a full table."""
    times = " ".join(str(10_000 * count) for count in range(1, DEPTH + 1))
    return (f"policy {policy} order elevator tokens 1 depth {DEPTH} batch {DEPTH} fill {DEPTH} best_effort {DEPTH} "
            f"sectors 512 times {DEPTH} {times} drains {DEPTH} {times} {TASK}")


def job():
    return "insmod /configfs.ko\n" + "".join(map(steps, MODES))


def steps(readers):
    """Returns the steps for this number of readers."""
    tables = {"dm-linear": "linear /dev/nullb0 0", **{policy: f"tidegate /dev/nullb0 0 {line(policy)}"
                                                     for policy in POLICIES}}
    return "\n".join([
        f"insmod /null_blk.ko nr_devices=1 queue_mode=2 hw_queue_depth=128 {MODES[readers]}",
        "echo none > /sys/block/nullb0/queue/scheduler",
        measured("bare", "nullb0", readers),
        *(step for name, table in tables.items() for step in (
            f"echo '0 {SECTORS} {table}' | dmsetup create gate --noudevsync",
            measured(name, "dm-0", readers),
            "dmsetup remove gate --noudevsync")),
        "rmmod null_blk\n",
    ])


def measured(name, device, readers):
    return f"echo 'device {name} {readers}'; load /dev/{device} {SECONDS} read:{readers}:4"


def times_ns(text):
    """Returns the time per request by device and number of readers, in ns."""
    found = {}
    for part in text.split("device ")[1:]:
        head, _, rest = part.partition("\n")
        name, readers = head.split()
        requests = sum(int(match[1]) for match in re.finditer(r"^source \d+ load (\d+) ", rest, re.M))
        found[name, int(readers)] = SECONDS * 1_000_000_000 // requests
    return found
