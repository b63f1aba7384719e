#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tidegate beside what Linux has: one disk, one stream with deadlines, 64 reads that have none.

A simulated drive is attached as a block device (`tidegate drive attach`, root). One client reads
256 KiB each 160 ms, with I/O priority of class rt; others keep 64 random reads of 256 KiB
outstanding, as one process or as 64. In each row something else stands between them and the disk:

  none mq-deadline mq-deadline-4 kyber bfq bfq-strict    the kernel's scheduler of the device
  nbdkit-file      nbdkit's file plugin on the device (scheduler none), both clients by NBD
  qemu-throttle    two qemu-nbd on it, best effort limited to a fixed rate (--throttle)
  tidegate         tidegate serve on the same simulated drive, contract and best effort

Responses count from the release of a read (each 160 ms from the first), not from when the client
came to send it. 99.9 % is given from more than 1,000 jobs only. Raw results of fio are kept.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

PERIOD_MS = 160
SIZE_KIB = 256
OUTSTANDING = 64
SCHEDULERS = ["none", "mq-deadline", "mq-deadline-4", "kyber", "bfq", "bfq-strict"]
ROWS = SCHEDULERS + ["nbdkit-file", "qemu-throttle", "tidegate"]
NAME = "peers"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tidegate", default="target/release/tidegate", help="the binary")
    parser.add_argument("--drive", default="fujitsu-max3036rc")
    parser.add_argument("--policy", default="", help="of the row tidegate; default: serve's own")
    parser.add_argument("--seconds", type=int, default=165, help="each row; 165: over 1,000 jobs")
    parser.add_argument("--rows", default=",".join(ROWS), help="comma-separated; default: all")
    parser.add_argument("--processes", default="1,64", help="best effort as so many processes")
    parser.add_argument("--throttle", type=int, default=20_000_000, help="bytes/s, qemu-throttle")
    parser.add_argument("--output", type=pathlib.Path, help="folder for raw results, a new one")
    found = parser.parse_args()
    found.rows = found.rows.split(",")
    unknown = [row for row in found.rows if row not in ROWS]
    if unknown:
        parser.error(f"no row is called {unknown[0]}; rows: {', '.join(ROWS)}")
    found.processes = [int(count) for count in found.processes.split(",")]
    if any(OUTSTANDING % count for count in found.processes):
        parser.error(f"{OUTSTANDING} outstanding do not divide into that many processes")
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
    """The drive as a block device."""
    said = run(options.tidegate, "drive", "attach", options.drive, "--name", NAME, "--background")
    try:
        yield pathlib.Path(re.search(r"^Device\s+(\S+)", said, re.M).group(1))
    finally:
        end = run(options.tidegate, "drive", "detach", NAME, "--force")
        with open(options.output / "drive.txt", "a") as log:
            log.write(end)


@contextlib.contextmanager
def server(command, sockets, log):
    """A server, as soon as its sockets are there."""
    with open(log, "w") as output:
        child = subprocess.Popen([str(part) for part in command], stdout=output, stderr=output)
    try:
        for _ in range(200):
            if all(os.path.exists(path) for path in sockets):
                break
            if child.poll() is not None:
                sys.exit(f"peers: {command[0]} ended: {pathlib.Path(log).read_text()}")
            time.sleep(0.05)
        yield child
    finally:
        child.terminate()
        child.wait(30)


def set_scheduler(device, row):
    queue = pathlib.Path("/sys/block") / device.name / "queue"
    (queue / "scheduler").write_text({"mq-deadline-4": "mq-deadline", "bfq-strict": "bfq"}.get(row, row))
    settings = {}
    if row == "mq-deadline-4":
        settings["nr_requests"] = "4"
    if row == "bfq-strict":
        settings |= {"iosched/strict_guarantees": "1", "iosched/low_latency": "0"}
    for name, value in settings.items():
        (queue / name).write_text(value)


def client(name, place, more):
    """The command of one fio client; `place` says where it reads."""
    return [
        "fio", f"--name={name}", "--rw=randread", f"--bs={SIZE_KIB}k", "--time_based",
        "--randrepeat=1", "--group_reporting", "--output-format=json", *place, *more,
    ]  # fmt: skip


def measure(options, label, processes, stream_place, effort_place):
    """Both clients at once; what the stream and best effort saw."""
    folder = options.output / label
    folder.mkdir(parents=True)
    depth = OUTSTANDING // processes
    effort_more = [f"--numjobs={processes}", f"--iodepth={depth}", f"--runtime={options.seconds + 3}"]
    # 256 KiB each 160 ms is exactly 1600 KiB/s, which fio paces from the start, not from the last.
    rate = SIZE_KIB * 1000 // PERIOD_MS
    stream_more = [
        "--iodepth=16", f"--rate={rate}k", f"--runtime={options.seconds}", "--prioclass=1", "--prio=0",
        f"--write_lat_log={folder}/stream", "--randseed=7",
    ]  # fmt: skip
    effort = client("effort", effort_place, [*effort_more, "--randseed=11"])
    # The client's own delays are not the disk's.
    stream = ["chrt", "-f", "20", *client("stream", stream_place, stream_more)]
    (folder / "commands.txt").write_text(f"{shlex.join(effort)}\n{shlex.join(stream)}\n")
    with open(folder / "effort.json", "w") as output:
        child = subprocess.Popen(effort, stdout=output, cwd=folder)
    try:
        time.sleep(1.5)
        (folder / "stream.json").write_text(run(*stream))
        if child.wait(60):
            sys.exit(f"peers: fio failed: {folder}/effort.json")
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait(30)
    return responses(folder), effort_rate(folder)


def responses(folder):
    """Response times in ms from each release. fio logs when a read ended (ms) and how long it took
    (ns) from when it was sent; it is sent late where earlier ones filled the client's queue."""
    sent = []
    (log,) = folder.glob("stream_lat.*.log")
    for line in log.read_text().splitlines():
        ended_ms, took_ns = (int(field) for field in line.split(",")[:2])
        sent.append((ended_ms - took_ns / 1e6, took_ns / 1e6))
    sent.sort()
    first = sent[0][0]
    # The log's milliseconds are whole: less than two of them are no lateness.
    late = [at - first - index * PERIOD_MS for index, (at, _) in enumerate(sent)]
    return [took + (by if by > 2 else 0) for by, (_, took) in zip(late, sent)]


def effort_rate(folder):
    text = (folder / "effort.json").read_text()
    jobs = json.loads(text[text.index("{") :])["jobs"]
    return sum(job["read"]["bw_bytes"] for job in jobs) / 1e6


def local(device):
    return [f"--filename={device}", "--ioengine=libaio", "--direct=1"]


def by_nbd(socket, export=""):
    return ["--ioengine=nbd", f"--uri=nbd+unix:///{export}?socket={socket}"]


def on_device(options, row, processes, device, sockets):
    """A row on the attached device."""
    set_scheduler(device, row if row in SCHEDULERS else "none")
    label = f"{row}-{processes}"
    log = options.output / f"{label}.log"
    if row in SCHEDULERS:
        return measure(options, label, processes, local(device), local(device))
    if row == "nbdkit-file":
        socket = f"{sockets}/{label}"
        command = ["nbdkit", "-f", "-U", socket, "--threads", OUTSTANDING, "file", device]
        with server(command, [socket], log):
            return measure(options, label, processes, by_nbd(socket), by_nbd(socket))
    stream, effort = f"{sockets}/{label}-stream", f"{sockets}/{label}-effort"
    raw = f"driver=host_device,filename={device},locking=off,cache.direct=on,aio=native"
    nested = ",".join(f"file.{part}" for part in raw.split(","))
    group = f"throttle-group,id=effort,x-bps-total={options.throttle}"
    common = ["qemu-nbd", "--persistent", f"--shared={OUTSTANDING + 1}", "--image-opts"]
    plain = [*common, "-k", stream, raw]
    limited = [*common, "--object", group, "-k", effort, f"driver=throttle,throttle-group=effort,{nested}"]
    with server(plain, [stream], f"{log}-stream"), server(limited, [effort], log):
        return measure(options, label, processes, by_nbd(stream), by_nbd(effort))


SERVE = """\
simulate = "{drive}"
socket = "{socket}"
control = "{socket}.ctl"
{policy}
[[export]]
name = "stream"
size = "16GiB"
contract = {{ period = "{period}ms", requests = 1, size_max = "{size}KiB", op = "read" }}

[[export]]
name = "effort"
size = "16GiB"
best_effort = true
"""


def tidegate(options, processes, sockets):
    """The row served by Tidegate, and the bound of its contract in ms."""
    label = f"tidegate-{processes}"
    socket = f"{sockets}/{label}"
    file = options.output / f"{label}.toml"
    policy = f'[policy]\nname = "{options.policy}"\n' if options.policy else ""
    text = SERVE.format(
        drive=options.drive, socket=socket, period=PERIOD_MS, size=SIZE_KIB, policy=policy
    )
    file.write_text(text)
    printed = run(options.tidegate, "serve", file, "--print").splitlines()
    (options.output / f"{label}-check.txt").write_text("\n".join(printed))
    # 64 processes are 64 connections, more than are let in for two exports.
    command = [re.sub(r"^limit=\d+", "limit=100", part) for part in shlex.split(printed[-1])]
    with server(command, [socket], options.output / f"{label}.log"):
        stream, effort = by_nbd(socket, "stream"), by_nbd(socket, "effort")
        found = measure(options, label, processes, stream, effort)
        said = run(options.tidegate, "ctl", file, "statistics", "--json")
        (options.output / label / "statistics.json").write_text(said)
        return *found, bound(json.loads(said))


def bound(statistics):
    """The first bound that is named in the answer, in ms."""
    exports = statistics.get("exports", [])
    bounds = [export.get("bound_ns") for export in exports if export.get("bound_ns")]
    return bounds[0] / 1e6 if bounds else None


def quantile(times, share):
    """The least time that this share of the jobs does not exceed."""
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
    "| between | processes | jobs | worst ms | 99 % ms | 99.9 % ms | best effort MB/s | bound ms |\n"
    "|---|---|---|---|---|---|---|---|"
)


def main():
    options = arguments()
    if os.geteuid():
        sys.exit("peers: a block device is attached: run it as root")
    options.output.mkdir(parents=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("peers: stopped"))
    lines = []

    def add(*cells):
        lines.append(line(*cells))
        print(lines[-1], flush=True)

    print(HEADER, flush=True)
    with tempfile.TemporaryDirectory(prefix="peers-") as sockets:
        of_device = [row for row in options.rows if row != "tidegate"]
        if of_device:
            with attached(options) as device:
                for row in of_device:
                    for processes in options.processes:
                        found = on_device(options, row, processes, device, sockets)
                        add(row, processes, *found, None)
        if "tidegate" in options.rows:
            for processes in options.processes:
                add("tidegate", processes, *tidegate(options, processes, sockets))
    table = f"{HEADER}\n" + "\n".join(lines) + "\n"
    note = f"\n`{shlex.join(['scripts/peers.py', *sys.argv[1:]])}`, {options.drive}, Linux {os.uname().release}\n"
    (options.output / "table.md").write_text(table + note)
    print(f"raw results: {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
