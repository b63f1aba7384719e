#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads at fixed instants from a block device or an NBD export and measures each response time.

  paced_reads.py DEVICE | SOCKET[#EXPORT]  --seconds S [--period-ms 160] [--size-kib 256]

Releases are absolute: a late reply does not delay later releases. Prints a line for each read: its
release, its delay from release to sending, and its response time from the release, all in ms. The
caller sets real-time scheduling and I/O priority (`chrt -f 20`, `ionice -c1`).

fio cannot do this: with `rate` it sleeps again after each reply (3.33), and its NBD engine fails
with `io_submit_mode=offload`, which would avoid that.
"""

import argparse
import concurrent.futures
import mmap
import os
import random
import socket
import stat
import struct
import threading
import time

IN_FLIGHT_MAX = 64


class Device:
    """A block device, with direct I/O: one thread for each read in flight."""

    def __init__(self, path, size):
        self.file = os.open(path, os.O_RDONLY | os.O_DIRECT)
        self.capacity = os.lseek(self.file, 0, os.SEEK_END)
        self.size = size
        self.pool = concurrent.futures.ThreadPoolExecutor(IN_FLIGHT_MAX)
        self.local = threading.local()
        # These threads exist before the first release, so that none is created when time counts.
        barrier = threading.Barrier(IN_FLIGHT_MAX)
        list(self.pool.map(lambda _: (self.memory(), barrier.wait()), range(IN_FLIGHT_MAX)))

    def memory(self):
        if not hasattr(self.local, "memory"):
            self.local.memory = mmap.mmap(-1, self.size)
        return self.local.memory

    def read(self, offset, done):
        def work():
            if os.preadv(self.file, [self.memory()], offset) != self.size:
                raise OSError("a short read")
            done()

        return self.pool.submit(work).result

    def close(self):
        self.pool.shutdown()


class Nbd:
    """An NBD export on a unix socket, with any number of reads in flight, told apart by handle."""

    def __init__(self, place, size):
        path, _, export = place.partition("#")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.size = size
        self.capacity = self.shake_hands(export.encode())
        self.waiting = {}
        threading.Thread(target=self.receive_all, daemon=True).start()

    def take(self, count):
        data = bytearray()
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise OSError("the server closed the connection")
            data += part
        return bytes(data)

    def shake_hands(self, export):
        assert self.take(16) == b"NBDMAGICIHAVEOPT"
        self.take(2)
        # Fixed newstyle, no zeroes; then GO without information requests.
        self.socket.sendall(struct.pack(">I", 3))
        body = struct.pack(">I", len(export)) + export + struct.pack(">H", 0)
        self.socket.sendall(b"IHAVEOPT" + struct.pack(">II", 7, len(body)) + body)
        capacity = None
        while True:
            _, _, kind, length = struct.unpack(">QIII", self.take(20))
            data = self.take(length)
            if kind & 1 << 31:
                raise OSError(f"the server refuses the export: {data.decode(errors='replace')}")
            if kind == 1:
                return capacity
            if kind == 3 and data[:2] == b"\0\0":
                capacity = struct.unpack(">Q", data[2:10])[0]

    def receive_all(self):
        while True:
            try:
                magic, error, handle = struct.unpack(">IIQ", self.take(16))
            except OSError:
                return
            assert magic == 0x67446698
            if not error:
                self.take(self.size)
            done = self.waiting[handle]
            done.set(error)

    def read(self, offset, done):
        handle = len(self.waiting)
        answer = Answer(done)
        self.waiting[handle] = answer
        header = struct.pack(">IHHQQI", 0x25609513, 0, 0, handle, offset, self.size)
        self.socket.sendall(header)
        return answer.wait

    def close(self):
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, 0, 2, 0, 0, 0))
        self.socket.close()


class Answer:
    def __init__(self, done):
        self.done, self.event, self.error = done, threading.Event(), 0

    def set(self, error):
        self.done()
        self.error = error
        self.event.set()

    def wait(self):
        if not self.event.wait(60):
            raise OSError("no answer within a minute")
        if self.error:
            raise OSError(self.error, "the server could not read")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("place")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--period-ms", type=float, default=160)
    parser.add_argument("--size-kib", type=int, default=256)
    options = parser.parse_args()
    size = options.size_kib << 10
    is_device = os.path.exists(options.place) and stat.S_ISBLK(os.stat(options.place).st_mode)
    store = (Device if is_device else Nbd)(options.place, size)

    period = int(options.period_ms * 1e6)
    begun = time.monotonic_ns() + 10_000_000
    results = []
    for index in range(int(options.seconds * 1e9) // period):
        release = begun + index * period
        while (left := release - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        result = {"release": index * period, "late": time.monotonic_ns() - release}

        def done(result=result, release=release):
            result["response"] = time.monotonic_ns() - release

        offset = random.randrange(store.capacity // size) * size
        results.append((result, store.read(offset, done)))
    for result, wait in results:
        wait()
        fields = (result[name] / 1e6 for name in ("release", "late", "response"))
        print(" ".join(f"{field:.3f}" for field in fields))
    store.close()


if __name__ == "__main__":
    main()
