#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""UDP traffic between two hosts, bounded in time.

  udp_traffic.py flood ADDRESS PORT SECONDS [PER_SECOND]   as fast as possible, or PER_SECOND a second
  udp_traffic.py heartbeat ADDRESS PORT SECONDS            one datagram in every 10 ms, at a random phase
  udp_traffic.py sink PORT SECONDS                         holds the port, reads nothing

Prints how many datagrams were sent.
"""

import random
import socket
import sys
import time

SECONDS_MAX = 600
PERIOD = 0.01


def send(address, port, seconds, per_second):
    """Sends 64 bytes at a time; a full queue of the sender is not an error."""
    end = time.monotonic() + seconds
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect((address, port))
        sent, begin = 0, time.monotonic()
        while (now := time.monotonic()) < end:
            due = sent + 64 if per_second is None else int((now - begin) * per_second)
            for _ in range(min(due - sent, 64)):
                try:
                    out.send(b"x" * 64)
                except OSError:
                    pass
                sent += 1
        return sent


def heartbeat(address, port, seconds):
    """Gives each datagram a random phase: with one phase, all or none would meet a busy receiver."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect((address, port))
        begin, phases = time.monotonic(), random.Random(1)
        for count in range(int(seconds / PERIOD)):
            due = begin + (count + phases.random()) * PERIOD
            time.sleep(max(0, due - time.monotonic()))
            try:
                out.send(count.to_bytes(8, "big"))
            except OSError:
                pass
        return int(seconds / PERIOD)


def main():
    what, *rest = sys.argv[1:] or [""]
    if what == "flood" and len(rest) in (3, 4):
        per_second = int(rest[3]) if len(rest) == 4 else None
        print(send(rest[0], int(rest[1]), min(float(rest[2]), SECONDS_MAX), per_second))
    elif what == "heartbeat" and len(rest) == 3:
        print(heartbeat(rest[0], int(rest[1]), min(float(rest[2]), SECONDS_MAX)))
    elif what == "sink" and len(rest) == 2:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
            held.bind(("0.0.0.0", int(rest[0])))
            time.sleep(min(float(rest[1]), SECONDS_MAX))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
