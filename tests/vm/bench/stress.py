# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests administration of the kernel target: wrong lines, data, reload, removal under load. Each step must succeed."""

import target

ROUNDS = 200
HALF = 1 << 20  # sectors
# Wrong lines, made from the words of a correct one, each with the message in the kernel's log.
WRONG = [
    (lambda line: "/dev/bench", "the line begins with a device"),
    (lambda line: "/dev/bench 0 policy best", "policy dqf"),
    (lambda line: f"/dev/bench 0 {line} depth 8", "depth K, once"),
    (lambda line: f"/dev/bench 0 {line} colour 8", "unknown key in the table line"),
    (lambda line: f"/dev/bench 0 {line.replace('depth 8 ', '')}", "depth K, once"),
    (lambda line: f"/dev/bench 0 {line.replace('depth 8 ', 'depth 2 ')}", "a batch has 1 to depth requests"),
    (lambda line: f"/dev/bench 0 {line.replace('fill 4', 'fill 0')}", "best effort would never be served"),
    (lambda line: f"/dev/nothing 0 {line}", "the device cannot be opened"),
    (lambda line: f"/dev/nullb0 0 {line}", "zoned devices are not supported"),
]


def job(program):
    """Returns the guest's script, which prints `ok` or `bad` for each step."""
    lines = {policy: target.table_line(program, target.Target("restart", policy, 1, "32 readers"))
             for policy in ("dqf", "gated-drain")}
    return "\n".join([
        "check() { if [ $? = 0 ]; then echo \"ok $1\"; else echo \"bad $1\"; fi; }",
        "gate() { echo \"0 $2 tidegate $3\" | dmsetup create $1 --noudevsync; }",
        "insmod /benchdisk.ko kind=1 access_max_ns=2000000 depth=8",
        "echo none > /sys/block/bench/queue/scheduler",
        "insmod /configfs.ko; insmod /null_blk.ko nr_devices=0",
        "mount -t configfs none /sys/kernel/config",
        *null_disk("nullb0", zoned=1, zone_size=4, size=64),
        *null_disk("nullb1", memory_backed=1, cache_size=1, size=64, discard=1),
        *refused(lines["dqf"]),
        *keeps_data(lines["dqf"]),
        *reloads(lines),
        *shares(lines),
        "dmesg >> /whole-log",
        "if grep -E 'WARNING|BUG|Oops|blocked for more' /whole-log; then echo 'bad log'; else echo 'ok log'; fi",
        "echo 'stress ended'\n",
    ])


def null_disk(name, **attributes):
    folder = f"/sys/kernel/config/nullb/{name}"
    return [f"mkdir {folder}", *(f"echo {value} > {folder}/{key}" for key, value in attributes.items()),
            f"echo 1 > {folder}/power; check 'disk {name}'"]


def refused(line):
    """Yields the steps that try wrong lines: each creates no device, and the log gives the reason."""
    for wrong, reason in WRONG:
        yield "dmesg -c >> /whole-log"
        yield f"gate wrong {HALF} '{wrong(line)}' 2> /dev/null && echo 'bad: accepted'"
        yield f"dmesg | grep -q '{reason}'; check 'refused: {reason}'"
        yield "dmsetup remove wrong --noudevsync 2> /dev/null"


def keeps_data(line):
    """Returns the steps that send requests of more sectors than were proved: pieces must arrive, all at their places."""
    return [
        f"gate data 131072 '/dev/nullb1 0 {line}'; check create",
        "dd if=/dev/urandom of=/blob bs=1M count=8 2> /dev/null",
        "dd if=/blob of=/dev/dm-0 bs=1M oflag=direct conv=fsync 2> /dev/null; check write",
        "dd if=/blob of=/dev/dm-0 bs=300K seek=81 oflag=direct conv=fsync 2> /dev/null; check 'write across'",
        "dd if=/dev/nullb1 of=/back bs=1M count=8 iflag=direct 2> /dev/null; cmp /blob /back; check same",
        "dd if=/dev/dm-0 of=/back bs=300K skip=81 count=28 iflag=direct 2> /dev/null",
        "dd if=/back of=/short bs=8388608 count=1 2> /dev/null; cmp /blob /short; check 'same across'",
        # The kernel writes back, under a plug, the data that a program left in the page cache.
        "dd if=/back of=/dev/dm-0 bs=1M conv=fsync 2> /dev/null; check 'buffered write'",
        "dd if=/dev/nullb1 of=/short bs=1M count=8 iflag=direct 2> /dev/null",
        "dd if=/back of=/front bs=8388608 count=1 2> /dev/null; cmp /front /short; check 'same from the cache'",
        "blkdiscard -o 0 -l 1048576 /dev/dm-0; check discard",
        "dmsetup message data 0 reset; check message",
        "! rmmod dm-tidegate 2> /dev/null; check 'busy module stays'",
        "dmsetup remove data --noudevsync; check remove",
    ]


def reloads(lines):
    """Returns the steps that suspend, resume and change the plan under load, then remove the disk below the target."""
    load = "load /dev/dm-0 {seconds} task:60000:20000:256:r read:32:64 write:2:64 > /log"
    other = {"dqf": "gated-drain", "gated-drain": "dqf"}
    swap = " ".join(f"{policy}) next={other[policy]};;" for policy in other)
    table = lambda policy: f"echo \"0 {HALF} tidegate /dev/bench 0 {lines[policy]}\" > /table-{policy}"
    return [
        *map(table, lines),
        f"dmsetup create gate --noudevsync /table-dqf; check 'create gate'",
        load.format(seconds=20) + " & pid=$!",
        "next=gated-drain; failures=0",
        f"for round in $(seq {ROUNDS}); do",
        "  dmsetup load gate /table-$next || failures=1",
        "  dmsetup suspend gate && dmsetup resume gate --noudevsync || failures=1",
        f"  case $next in {swap} esac",
        "done",
        f"[ $failures = 0 ]; check '{ROUNDS} reloads under load'",
        "wait $pid; check 'load ends well'",
        load.format(seconds=1000) + " 2> /dev/null & pid=$!",
        "sleep 1",
        "dmsetup remove --force gate --noudevsync 2> /dev/null",
        "! wait $pid; check 'load ends with errors after a forced removal'",
        "dmsetup remove gate --noudevsync 2> /dev/null; [ ! -b /dev/dm-0 ]; check 'gone'",
    ]


def shares(lines):
    """Returns the steps that check that all targets on one disk follow one plan."""
    return [
        f"gate low {HALF} '/dev/bench 0 {lines['dqf']}'; check 'first half'",
        f"gate high {HALF} '/dev/bench {HALF} {lines['dqf']}'; check 'second half'",
        f"! gate other {HALF} '/dev/bench 0 {lines['gated-drain']}' 2> /dev/null; check 'other plan refused'",
        "dmesg | grep -q 'follows another plan'; check 'other plan explained'",
        "dmsetup remove other --noudevsync 2> /dev/null",
        "load /dev/dm-0 2 read:8:64 > /log & load /dev/dm-1 2 task:60000:20000:256:r read:8:64 > /log2; check both",
        "wait; dmsetup remove low --noudevsync; dmsetup remove high --noudevsync; check 'remove both'",
        "rmmod dm-tidegate; check unload",
    ]


def faults(text):
    """Returns the steps that failed."""
    found = [line for line in text.splitlines() if not line.startswith(("ok ", "ok: "))]
    return [line for line in found if line not in ("stress ended", "end")] + (
        [] if "stress ended" in found else ["the guest did not end its job"])
