// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Screens of `tidegate tune`, on a machine that is represented by a folder.

use crate::screens;

screens! {
    tune_shown: [
        "sh machine.sh",
        "tidegate tune sda house.toml --root machine",
        "tidegate tune sda house.toml --root machine --quiet",
        "tidegate tune sda house.toml --root machine --json",
        "cat machine/sys/class/block/sda/queue/nr_requests",
    ];
    tune_made: [
        "sh machine.sh",
        "tidegate tune sda --root machine --status",
        "tidegate tune sda house.toml --root machine --apply --quiet",
        "tidegate tune sda house.toml --root machine --install",
        "cat machine/etc/udev/rules.d/*",
        "cat machine/etc/systemd/system/*/*",
        "tidegate tune sda --root machine --status",
        "echo bfq > machine/sys/class/block/sda/queue/scheduler",
        "tidegate tune sda --root machine --status",
        "tidegate tune sda --root machine --status --json",
        // The disk can no longer be tuned, and another program is in the real-time class.
        "echo mq-deadline > machine/sys/class/block/sda/queue/scheduler",
        "echo host-managed > machine/sys/class/block/sda/queue/zoned",
        "mkdir -p machine/proc/77 && echo 8196 > machine/proc/77/io_priority",
        "echo '77 (indexer) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 77 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0' \
         > machine/proc/77/stat",
        "tidegate tune sda --root machine --status",
        "echo none > machine/sys/class/block/sda/queue/zoned && echo bfq > machine/sys/class/block/sda/queue/scheduler",
        "tidegate tune sda --root machine --undo",
        "tidegate tune sda --root machine --undo",
        "cat machine/sys/class/block/sda/queue/scheduler machine/sys/class/block/sda/queue/nr_requests",
        "find machine/etc machine/var -type f",
    ];
    /// The disk is gone, and its kernel's name is free, or another disk has it.
    tune_gone: [
        "sh machine.sh",
        "tidegate tune sda house.toml --root machine --install --quiet",
        // A link of the current directory has the name of a disk that is present.
        "ln -s house.toml sda",
        "tidegate tune sda --root machine --status --quiet",
        "mv machine/sys/class/block/sda gone && rm sda",
        // No disk is listed, so none counts as gone.
        "tidegate tune sda --root machine --undo",
        "mkdir machine/sys/class/block/sdb",
        "tidegate tune sda --root machine --status",
        "tidegate tune sda --root machine --status --json",
        "tidegate tune sda --root machine --undo",
        "find machine/etc machine/var -type f",
        "tidegate tune sda --root machine --undo --quiet",
        "tidegate tune sda --root machine --status --quiet",
        "mv gone machine/sys/class/block/sda",
        "tidegate tune sda house.toml --root machine --install --quiet",
        "echo t10.ATA OTHER S-2 > machine/sys/class/block/sda/device/wwid",
        "tidegate tune sda --root machine --undo --quiet",
        "ls machine/var/lib/tidegate/tune",
        "tidegate tune t10.ATA-TESTDISK-S-1-9bf99b53 --root machine --undo --json",
        "find machine/etc machine/var -type f",
    ];
    tune_running: [
        "sh machine.sh running",
        "tidegate tune sda house.toml --root machine",
        "tidegate tune sda house.toml --root machine --apply",
        "cat machine/proc/11/io_priority",
        "echo 0 > machine/proc/12/io_priority",
        "tidegate tune sda --root machine --status",
        "tidegate tune sda --root machine --undo",
        "cat machine/proc/11/io_priority",
    ];
    tune_on_btrfs: [
        "sh machine.sh",
        "mkdir -p machine/sys/fs/btrfs/1c-2d/devices machine/proc/self && touch machine/sys/fs/btrfs/1c-2d/devices/sda1",
        "echo '30 1 8:16 / / rw - ext4 /dev/sdb rw' > machine/proc/self/mountinfo",
        "cd machine/sys/class/block/sda && mkdir sda2 && echo 2 > sda2/partition && echo 8:2 > sda2/dev",
        "echo '31 1 8:2 / /srv rw - f2fs /dev/sda2 rw' >> machine/proc/self/mountinfo",
        "tidegate tune sda house.toml --root machine --apply",
        "tidegate tune sda --root machine --status",
        "tidegate tune sda --root machine --status --json",
    ];
    tune_refused: [
        "sh machine.sh crypt",
        "echo host-managed > machine/sys/class/block/sda/queue/zoned",
        "tidegate tune sda house.toml --root machine --apply",
        "tidegate tune dm-0 house.toml --root machine",
        "tidegate tune sdq house.toml --root machine",
        "tidegate tune sda",
        "sed 's/160ms/30ms/' house.toml > hasty.toml",
        "tidegate tune sda hasty.toml --root machine",
        "sed 's/outstanding = 32/rate = \"1MB\\/s\"/' house.toml > open.toml",
        "tidegate tune sda open.toml --root machine",
        "sed 's/media-server/recorder/' house.toml > one.toml",
        "tidegate tune sda one.toml --root machine",
        "sed 's/recorder.service/recorder/' house.toml > bare.toml",
        "tidegate check bare.toml",
    ];
}
