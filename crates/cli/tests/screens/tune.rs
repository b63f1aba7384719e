// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Screens of `tidegate tune`, on a machine that is laid out in a folder.

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
        "tidegate tune sda --root machine --undo",
        "tidegate tune sda --root machine --undo",
        "cat machine/sys/class/block/sda/queue/scheduler machine/sys/class/block/sda/queue/nr_requests",
        "find machine/etc machine/var -type f",
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
