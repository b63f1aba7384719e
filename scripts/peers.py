#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares Tidegate with Linux schedulers and NBD servers: one disk, one stream with deadlines, 64 best-effort reads.

A simulated drive is attached as a block device (`tidegate drive attach`, root). One client reads
256 KiB every 160 ms, with I/O priority of class rt; others keep 64 random reads of 256 KiB
outstanding, as one process or as 64. Each row puts a different layer between them and the disk:

  none mq-deadline kyber bfq            the kernel's scheduler of the device as it is delivered
  mq-deadline-expert bfq-expert         with the settings of EXPERT
  mq-deadline-4 bfq-strict              nr_requests = 4 alone, and strict guarantees alone
  nbdkit-file      nbdkit's file plugin on the device (scheduler none), both clients by NBD
  qemu-throttle    two qemu-nbd on it, best effort limited to a fixed rate (--throttle)
  tidegate-device  tidegate serve on the same device, without knowledge of positions
  tidegate         tidegate serve on the same simulated drive, with a contract and best effort: the
                   policy that it chooses, and a deadline as long as the period
  tidegate-adaptive-drain, tidegate-das    the same with these policies, and short deadlines

The stream is `paced_reads.py`, best effort is fio. Response times count from the release of a read,
not from the instant at which the client sends it. The 99.9 % quantile is given only for more than
1,000 jobs. Raw results are kept.
"""

import argparse
import contextlib
import datetime
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PERIOD_MS = 160
# The stream's contract is a little shorter than its period, because the client may send one request
# late and the next on time.
CONTRACT_MS = 150
# The error in predicted access times that a late host may cause.
MARGIN_MS = 3
SIZE_KIB = 256
OUTSTANDING = 64
# The settings of the queue that a row changes after its scheduler is set, in this order.
EXPERT = {
    "mq-deadline-4": {"nr_requests": "4"},
    "mq-deadline-expert": {
        "nr_requests": "512", "nomerges": "2", "iosched/prio_aging_expire": "3600000", "iosched/front_merges": "0",
    },
    "bfq-strict": {"iosched/strict_guarantees": "1", "iosched/low_latency": "0"},
    "bfq-expert": {"nr_requests": "512", "iosched/low_latency": "0", "iosched/slice_idle": "0"},
}  # fmt: skip
SCHEDULERS = ["none", "mq-deadline", "kyber", "bfq", *EXPERT]
# Policy (None: chosen by serve) and deadline. The deadline of adaptive-drain is enough for two
# requests on the disk, so that best effort continues while the stream pauses.
TIDEGATE = {
    "tidegate-device": ("adaptive-drain", 35),
    "tidegate": (None, CONTRACT_MS),
    "tidegate-adaptive-drain": ("adaptive-drain", 35),
    "tidegate-das": ("das", 24),
}
POLICY = {
    "adaptive-drain": '[policy]\nname = "adaptive-drain"\n',
    "das": f'[policy]\nname = "das"\n[policy.das]\nmargin = "{MARGIN_MS}ms"\n',
}
ROWS = [*SCHEDULERS, "nbdkit-file", "qemu-throttle", *TIDEGATE]
NAME = "peers"
PACED = str(pathlib.Path(__file__).with_name("paced_reads.py"))


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tidegate", default="target/release/tidegate", help="the binary")
    parser.add_argument("--drive", default="fujitsu-max3036rc")
    parser.add_argument("--seconds", type=int, default=165, help="length of each row; 165 gives over 1,000 jobs")
    parser.add_argument("--rows", default=",".join(ROWS), help="comma-separated; default: all")
    parser.add_argument("--processes", default="1,64", help="number of best-effort processes")
    parser.add_argument("--throttle", type=int, default=20_000_000, help="bytes/s, qemu-throttle")
    parser.add_argument("--output", type=pathlib.Path, help="new folder for raw results")
    found = parser.parse_args()
    found.rows = found.rows.split(",")
    unknown = [row for row in found.rows if row not in ROWS]
    if unknown:
        parser.error(f"unknown row {unknown[0]}; rows: {', '.join(ROWS)}")
    found.processes = [int(count) for count in found.processes.split(",")]
    if any(OUTSTANDING % count for count in found.processes):
        parser.error(f"{OUTSTANDING} outstanding requests are not a multiple of that many processes")
    found.tidegate = os.path.abspath(found.tidegate)
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    found.output = (found.output or pathlib.Path(f"peers-{stamp}")).absolute()
    return found


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"peers: {shlex.join(map(str, command))}: {done.stderr or done.stdout}")
    return done.stdout


@contextlib.contextmanager
def attached(options):
    """Attaches the drive as a block device."""
    said = run(options.tidegate, "drive", "attach", options.drive, "--name", NAME, "--background", "--json")
    try:
        yield pathlib.Path(json.loads(said)["device"])
    finally:
        end = run(options.tidegate, "drive", "detach", NAME)
        with open(options.output / "drive.txt", "a") as log:
            log.write(end)


@contextlib.contextmanager
def server(command, sockets, log):
    """Runs a server and returns when its sockets exist."""
    with open(log, "w") as output:
        child = subprocess.Popen([str(part) for part in command], stdout=output, stderr=output)
    try:
        begun = time.monotonic()
        while not all(os.path.exists(path) for path in sockets):
            if child.poll() is not None or time.monotonic() > begun + 60:
                sys.exit(f"peers: {command[0]} does not serve: {pathlib.Path(log).read_text()}")
            time.sleep(0.05)
        yield child
    finally:
        child.terminate()
        child.wait(30)


def set_scheduler(device, row):
    # Flushes the page cache: an earlier row's data there would bypass the disk.
    run("blockdev", "--flushbufs", device)
    queue = pathlib.Path("/sys/block") / device.name / "queue"
    (queue / "nomerges").write_text("0")
    (queue / "scheduler").write_text(re.sub("-(4|expert|strict)$", "", row))
    for name, value in EXPERT.get(row, {}).items():
        (queue / name).write_text(value)


def measure(options, label, processes, stream_place, effort_place, moved):
    """Runs both clients; returns the stream's response times and the best-effort throughput (MB/s).

    `moved` counts the bytes that the disk has read so far. fio's own rate is not usable: with 64
    connections its processes begin one after the other, and fio adds the rates of different times."""
    folder = options.output / label
    folder.mkdir(parents=True)
    effort = [
        "fio", "--name=effort", "--rw=randread", f"--bs={SIZE_KIB}k", "--time_based", *effort_place,
        f"--runtime={options.seconds + 300}", "--randrepeat=0", "--group_reporting",
        f"--numjobs={processes}", f"--iodepth={OUTSTANDING // processes}", "--output-format=json",
    ]  # fmt: skip
    # The client's own delays are not the disk's; its threads inherit both settings.
    stream = [
        "ionice", "-c1", "-n0", "chrt", "-f", "20", sys.executable, PACED, str(stream_place),
        f"--seconds={options.seconds}", f"--period-ms={PERIOD_MS}", f"--size-kib={SIZE_KIB}",
    ]  # fmt: skip
    (folder / "commands.txt").write_text(f"{shlex.join(effort)}\n{shlex.join(stream)}\n")
    with open(folder / "effort.json", "w") as output:
        child = subprocess.Popen(effort, stdout=output, stderr=output, cwd=folder)
    try:
        wait_until_begun(effort_place)
        before, begun = moved(), time.monotonic()
        (folder / "stream.txt").write_text(run(*stream))
        after, ended = moved(), time.monotonic()
        if child.poll() is not None:
            sys.exit(f"peers: fio ended too early: {folder}/effort.json")
    finally:
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(20)
        child.kill()
    lines = (folder / "stream.txt").read_text().splitlines()
    responses = [float(line.split()[2]) for line in lines]
    of_effort = after - before - len(responses) * (SIZE_KIB << 10)
    return responses, of_effort / (ended - begun) / 1e6


def wait_until_begun(effort_place):
    """Waits until the best-effort client has all its connections, if any, and one second more."""
    (socket,) = [part.split("socket=")[1] for part in effort_place if "socket=" in part] or [None]
    seen, since = 0, time.monotonic()
    limit = since + 120
    while socket and time.monotonic() < limit and time.monotonic() < since + 3:
        lines = pathlib.Path("/proc/net/unix").read_text().splitlines()
        count = sum(line.endswith(f" {socket}") for line in lines)
        if count != seen:
            seen, since = count, time.monotonic()
        time.sleep(0.1)
    time.sleep(1)


def read_by(device):
    """Returns the bytes read from the device, from the kernel's counters."""
    fields = (pathlib.Path("/sys/block") / device.name / "stat").read_text().split()
    return int(fields[2]) * 512


def local(device):
    return [f"--filename={device}", "--ioengine=libaio", "--direct=1"]


def by_nbd(socket, export=""):
    return ["--ioengine=nbd", f"--uri=nbd+unix:///{export}?socket={socket}"]


def on_device(options, row, processes, device, sockets):
    """Measures a row on the attached device."""
    set_scheduler(device, row if row in SCHEDULERS else "none")
    label = f"{row}-{processes}"
    moved = functools.partial(read_by, device)
    log = options.output / f"{label}.log"
    if row in SCHEDULERS:
        return measure(options, label, processes, device, local(device), moved)
    if row == "nbdkit-file":
        socket = f"{sockets}/{label}"
        command = ["nbdkit", "-f", "-U", socket, "--threads", max(4, OUTSTANDING // processes), "file", device]
        with server(command, [socket], log):
            return measure(options, label, processes, socket, by_nbd(socket), moved)
    stream, effort = f"{sockets}/{label}-stream", f"{sockets}/{label}-effort"
    raw = f"driver=host_device,filename={device},locking=off,cache.direct=on,aio=native"
    nested = ",".join(f"file.{part}" for part in raw.split(","))
    group = f"throttle-group,id=effort,x-bps-total={options.throttle}"
    common = ["qemu-nbd", "--persistent", f"--shared={OUTSTANDING + 1}", "--image-opts"]
    plain = [*common, "-k", stream, raw]
    limited = [*common, "--object", group, "-k", effort, f"driver=throttle,throttle-group=effort,{nested}"]
    with server(plain, [stream], f"{log}-stream"), server(limited, [effort], log):
        return measure(options, label, processes, stream, by_nbd(effort), moved)


SERVE = """\
{store}
socket = "{socket}"
control = "{socket}.ctl"
[limits]
connections = {connections}
{policy}
[[export]]
name = "stream"
share = "whole"
read_only = true
contract = {{ period = "{period}ms", deadline = "{deadline}ms", size_max = "{size}KiB" }}

[[export]]
name = "effort"
share = "whole"
read_only = true
best_effort = true
"""


def tidegate(row, options, processes, sockets, device=None):
    """Measures a row served by Tidegate; returns the bound of its contract in ms too."""
    label = f"{row}-{processes}"
    name, deadline = TIDEGATE[row]
    socket = f"{sockets}/{label}"
    file = options.output / f"{label}.toml"
    text = SERVE.format(
        store=f'backing = "{device}"\ndrive = "{options.drive}"' if device else f'simulate = "{options.drive}"',
        socket=socket,
        connections=processes + 1,
        period=CONTRACT_MS,
        deadline=deadline,
        size=SIZE_KIB,
        policy=POLICY.get(name, ""),
    )
    file.write_text(text)
    (options.output / f"{label}-check.txt").write_text(run(options.tidegate, "serve", file, "--print"))
    command = [options.tidegate, "serve", file]
    with server(command, [socket, f"{socket}.ctl"], options.output / f"{label}.log"):
        effort = by_nbd(socket, "effort")

        def exports():
            said = run(options.tidegate, "ctl", file, "statistics", "--json")
            return json.loads(said)["exports"]

        def moved():
            return sum(export["transferred_bytes"] for export in exports())

        found = measure(options, label, processes, f"{socket}#stream", effort, moved)
        (options.output / label / "statistics.json").write_text(json.dumps(exports(), indent=1))
        bounds = [export["bound_ns"] for export in exports() if export["bound_ns"]]
        return *found, bounds[0] / 1e6 if bounds else None


def quantile(times, share):
    """Returns the least time that this share of the jobs does not exceed."""
    ordered = sorted(times)
    return ordered[max(0, -int(-len(ordered) * share // 1) - 1)]


def line(row, processes, times, rate, limit):
    many = len(times) > 1000
    cells = [
        row, processes, len(times), f"{max(times):.1f}", f"{quantile(times, 0.99):.1f}",
        f"{quantile(times, 0.999):.1f}" if many else "", f"{rate:.1f}",
        f"{limit:.1f}" if limit else "none",
    ]  # fmt: skip
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


HEADER = (
    "| layer | processes | jobs | worst ms | 99 % ms | 99.9 % ms | best effort MB/s | bound ms |\n"
    "|---|---|---|---|---|---|---|---|"
)


def main():
    options = arguments()
    if os.geteuid():
        sys.exit("peers: only root can attach a block device; run it as root")
    needed = {"fio": "fio", "chrt": "util-linux", "ionice": "util-linux", "blockdev": "util-linux"}
    if "nbdkit-file" in options.rows:
        needed["nbdkit"] = "nbdkit"
    if "qemu-throttle" in options.rows:
        needed["qemu-nbd"] = "qemu-utils"
    missing = [package for program, package in needed.items() if not shutil.which(program)]
    if missing:
        sys.exit(f"peers: programs are missing; install {' '.join(sorted(set(missing)))}")
    options.output.mkdir(parents=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("peers: stopped"))
    lines = []

    def add(*cells):
        lines.append(line(*cells))
        print(lines[-1], flush=True)

    print(HEADER, flush=True)
    with tempfile.TemporaryDirectory(prefix="peers-") as sockets:
        in_server = [row for row in options.rows if row in TIDEGATE and row != "tidegate-device"]
        of_device = [row for row in options.rows if row not in in_server]
        if of_device:
            with attached(options) as device:
                for row in of_device:
                    for processes in options.processes:
                        if row in TIDEGATE:
                            set_scheduler(device, "none")
                            add(row, processes, *tidegate(row, options, processes, sockets, device))
                        else:
                            add(row, processes, *on_device(options, row, processes, device, sockets), None)
        for row in in_server:
            for processes in options.processes:
                add(row, processes, *tidegate(row, options, processes, sockets))
    table = f"{HEADER}\n" + "\n".join(lines) + "\n"
    note = f"\n`{shlex.join(['scripts/peers.py', *sys.argv[1:]])}`, {options.drive}, Linux {os.uname().release}\n"
    (options.output / "table.md").write_text(table + note)
    print(f"raw results: {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
