#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Records the fixtures of `crates/watch`: a page of each kernel's trace buffer, the formats, and the kernel's text.

    record.py TARGET FOLDER     TARGET has debug/tidegate and the cache; FOLDER/SERIES gets the files
"""

import pathlib
import re
import sys

import guest
import packages

EVENTS = ["block_bio_queue", "block_rq_issue", "block_rq_requeue", "block_rq_complete", "block_bio_complete"]
# The job has direct and buffered requests, one request that the kernel splits, and writes.
JOB = """insmod /benchscsi.ko kind=1 access_max_ns=2000000
while [ ! -b /dev/sda ]; do sleep 1; done
T=/sys/kernel/tracing
I=$T/instances/record
mkdir $I
echo mono > $I/trace_clock
for event in %s; do echo 1 > $I/events/block/$event/enable; done
dd if=/dev/sda of=/dev/null bs=64k count=2 2> /log
load /dev/sda 1 task:200000:0:2048:r task:250000:0:64:w > /log
echo 0 > $I/tracing_on
for event in %s; do echo "file $event"; cat $T/events/block/$event/format; done
echo "file header_page"; cat $T/events/header_page
echo "file text"; cat $I/trace
dd if=$I/per_cpu/cpu0/trace_pipe_raw of=/page bs=4096 count=1 2> /log
echo "file page"; busybox od -An -v -tx1 /page
echo "file "
""" % (" ".join(EVENTS), " ".join(EVENTS))


def main():
    target, folder = map(pathlib.Path, sys.argv[1:])
    for series in packages.PINNED:
        machine = guest.Machine(series, target.resolve() / "vm", target / "debug/tidegate")
        text = machine.boot(machine.scsi_prologue + JOB, machine.scsi)
        parts = re.split(r"^file (\w*)\n", text, flags=re.M)
        files = dict(zip(parts[1::2], parts[2::2]))
        to = folder / series
        to.mkdir(parents=True, exist_ok=True)
        (to / "page").write_bytes(bytes.fromhex(files.pop("page")))
        # Comments, and events beyond the page, are left out.
        lines = [line for line in files.pop("text").splitlines() if not line.startswith("#")]
        (to / "text").write_text("\n".join(lines[:100]) + "\n")
        for name in [*EVENTS, "header_page"]:
            (to / name).write_text(files[name])


if __name__ == "__main__":
    main()
