#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures how long one tenant's client waits while another tenant floods its export.

The server exports a drive in memory to two tenants. `keeper` has a contract and reads 4 KiB every
45 ms. `flooder` has no contract, opens many connections and sends very many requests at once, each
of which zeroes 256 KiB. Each round starts a new server, because a server's first allocations take
time. The keeper's wait is measured at its client, from request to reply, so it includes the host
and both programs; the bound covers the service alone.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PERIOD_S = 0.045
PRIORITY = 30
QUIET_S = 3.0
AFTER_S = 4.0
ZEROED_BYTES = 256 << 10
TIMES = f"ns_max = {[2_000_000 + 100_000 * more for more in range(8)]}"
PLACES = ["random", "both_ends", "clusters", "track", "sequential", "climbed"]
FAMILIES = ", ".join(f'{{ places = "{places}", {TIMES} }}' for places in PLACES)
DRIVE = "\n".join(
    ['name = "flood"', 'kind = "pseudo"', "depth = 8", "flush_ns_max = 0"]
    + [
        f'[[batch]]\nop = "{op}"\nsize = "4KiB"\n{TIMES}\nfamilies = [{FAMILIES}]'
        for op in ("read", "write")
    ]
)
SERVE = """simulate = "flood.drive.toml"
socket = "flood.sock"
control = "flood.control"
[limits]
connections = 64
[[export]]
name = "keeper"
size = "64MiB"
contract = { period = "40ms", deadline = "40ms", size_max = "4KiB", op = "read" }
[[export]]
name = "flooder"
size = "64MiB"
best_effort = true
"""


def connected(work, export):
    handle = nbd.NBD()
    handle.connect_uri(f"nbd+unix:///{export}?socket={work / 'flood.sock'}")
    return handle


def keep(work, floods_at, until, waits):
    """Reads on time until the end; sends the longest waits before and after the flood begins.

    It has real-time priority if permitted; otherwise every figure includes the wait for a processor.
    """
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    handle = connected(work, "keeper")
    longest = [0.0, 0.0]
    due = time.monotonic()
    while due < until:
        time.sleep(max(0.0, due - time.monotonic()))
        begun = time.monotonic()
        handle.pread(4096, 0)
        wait = time.monotonic() - begun
        is_flooded = begun + wait >= floods_at
        longest[is_flooded] = max(longest[is_flooded], wait)
        due = max(due + PERIOD_S, begun + wait)
    waits.send(longest)


def flood(work, floods_at, connections, requests):
    """Sends all requests at once, then receives the replies."""
    handles = [connected(work, "flooder") for _ in range(connections)]
    time.sleep(max(0.0, floods_at - time.monotonic()))
    for handle in handles:
        for _ in range(requests):
            handle.aio_zero(ZEROED_BYTES, 0)
    for handle in handles:
        handle.poll(0)
    until = time.monotonic() + AFTER_S
    while time.monotonic() < until:
        for handle in handles:
            handle.poll(1)


@contextlib.contextmanager
def served(tidegate, work):
    """Runs a new server that is ready for clients."""
    (work / "flood.drive.toml").write_text(DRIVE)
    (work / "flood.serve.toml").write_text(SERVE)
    with (work / "log").open("w") as log:
        server = subprocess.Popen(
            [tidegate, "serve", "flood.serve.toml"],
            cwd=work,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        for _ in range(600):
            if server.poll() is not None or (work / "flood.control").exists():
                break
            time.sleep(0.1)
        if server.poll() is not None:
            sys.exit(f"flood: the server ended:\n{(work / 'log').read_text()}")
        yield server
    finally:
        server.terminate()
        server.wait()


def asked(tidegate, work, what):
    command = [tidegate, "ctl", str(work / "flood.control"), what, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def resident_mib(server):
    """Returns the largest resident size of the server so far, in MiB."""
    status = [pathlib.Path(f"/proc/{server.pid}/status").read_text()]
    lines = [line for text in status for line in text.splitlines() if line.startswith("VmHWM")]
    return max((int(line.split()[1]) for line in lines), default=0) // 1024


def measured(tidegate, connections, requests):
    """Measures one round: the longest waits before and beside the flood, ms; and the service's figures."""
    with tempfile.TemporaryDirectory() as folder, served(tidegate, pathlib.Path(folder)) as server:
        work = pathlib.Path(folder)
        floods_at = time.monotonic() + QUIET_S
        here, there = multiprocessing.Pipe()
        keeper = multiprocessing.Process(
            target=keep, args=(work, floods_at, floods_at + AFTER_S, there)
        )
        flooder = multiprocessing.Process(
            target=flood, args=(work, floods_at, connections, requests)
        )
        keeper.start()
        flooder.start()
        before, beside = here.recv()
        keeper.join()
        flooder.join()
        seen = {export["name"]: export for export in asked(tidegate, work, "statistics")["exports"]}
        return before * 1e3, beside * 1e3, seen["keeper"], resident_mib(server)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", type=pathlib.Path, help="the folder of cargo's output: target")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=20)
    parser.add_argument("--requests", type=int, default=64, help="on each connection")
    args = parser.parse_args()
    tidegate = str((args.target / "release/tidegate").resolve(strict=True))
    print(f"{args.connections} x {args.requests} requests at once; the keeper's longest wait, ms:")
    print(
        "client, before  beside the flood  at the disk  at the socket  bound  exceeded  unexplained"
        "  server, MiB"
    )
    for _ in range(args.rounds):
        before, beside, keeper, mib = measured(tidegate, args.connections, args.requests)
        names = ("response_ns_max", "socket_ns_max", "bound_ns")
        disk, socket, bound = (keeper[name] / 1e6 for name in names)
        row = f"{before:14.1f} {beside:17.1f} {disk:12.1f} {socket:14.1f} {bound:6.1f}"
        counts = f"{keeper['exceeded']:9} {keeper['unexplained']:12}"
        print(f"{row} {counts} {mib:12}", flush=True)


if __name__ == "__main__":
    try:
        import nbd
    except ImportError:
        print("flood: skipped: Python has no module nbd (Debian: apt-get install python3-libnbd)")
    else:
        main()
