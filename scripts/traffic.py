#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Traffic between two hosts, bounded in time.

  traffic.py flood ADDRESS PORT SECONDS [PER_SECOND]   UDP, as fast as possible or PER_SECOND a second
  traffic.py ping ADDRESS SECONDS [PER_SECOND]         the same with ICMP echo requests; needs root
  traffic.py heartbeat ADDRESS PORT SECONDS            one datagram in every 10 ms, at a random phase
  traffic.py sink PORT SECONDS                         holds the port, reads nothing

Prints how many packets were sent.
"""

import random
import socket
import struct
import sys
import time

SECONDS_MAX = 600
PERIOD = 0.01


def send(out, packet, seconds, per_second):
    """Sends on a connected socket; a full queue of the sender is not an error."""
    sent, begin = 0, time.monotonic()
    while (now := time.monotonic()) < begin + seconds:
        due = sent + 64 if per_second is None else int((now - begin) * per_second)
        for _ in range(min(due - sent, 64)):
            try:
                out.send(packet)
            except OSError:
                pass
            sent += 1
    return sent


def flood(address, port, seconds, per_second):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect((address, port))
        return send(out, b"x" * 64, seconds, per_second)


def ping(address, seconds, per_second):
    """Sends echo requests. The replies are not read: they fill the socket's buffer, and the rest is dropped."""
    request = bytearray(struct.pack("!BBHHH", 8, 0, 0, 1, 1) + b"x" * 56)
    words = sum(struct.unpack("!32H", request))
    words = (words & 0xFFFF) + (words >> 16)
    request[2:4] = struct.pack("!H", ~(words + (words >> 16)) & 0xFFFF)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as out:
        out.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 0)
        out.connect((address, 0))
        return send(out, bytes(request), seconds, per_second)


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


def rate(words):
    return int(words[0]) if words else None


def main():
    what, *rest = sys.argv[1:] or [""]
    if what == "flood" and len(rest) in (3, 4):
        print(flood(rest[0], int(rest[1]), min(float(rest[2]), SECONDS_MAX), rate(rest[3:])))
    elif what == "ping" and len(rest) in (2, 3):
        print(ping(rest[0], min(float(rest[1]), SECONDS_MAX), rate(rest[2:])))
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
