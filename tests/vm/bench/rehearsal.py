# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Imitates a SCSI disk for `tidegate tune --root`, because the bench's own disk has no `device/queue_depth`."""

import os
import shutil

TAGS = 64
HOST = "sys/devices/pci0000:00/ata1/host2"
FILES = {
    "queue/scheduler": "[mq-deadline] none",
    "queue/nr_requests": "64",
    "queue/nomerges": "0",
    "queue/max_sectors_kb": "1024",
    "queue/max_hw_sectors_kb": "1024",
    "queue/write_cache": "write through",
    "queue/zoned": "none",
    "queue/iosched/prio_aging_expire": "10000",
    "queue/iosched/async_depth": "48",
    "mq/0/nr_tags": str(TAGS),
}


def machine(root):
    """Creates the imitation in this directory, and returns the directory."""
    shutil.rmtree(root, ignore_errors=True)
    device = f"{HOST}/target2:0:0/2:0:0:0"
    write(root / device / "queue_depth", str(TAGS))
    for file, text in FILES.items():
        write(root / device / "block/sda" / file, text)
    link(root / device / "block/sda/device", root / device)
    link(root / "sys/class/block/sda", root / device / "block/sda")
    link(root / "sys/class/scsi_device/2:0:0:0/device", root / device)
    write(root / "sys/class/scsi_host/host2/can_queue", str(TAGS))
    return root


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def link(path, target):
    path.parent.mkdir(parents=True, exist_ok=True)
    os.symlink(os.path.relpath(target, path.parent), path)
