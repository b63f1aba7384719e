// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the screens of `tidegate drive` stay as they are: lists, plots, imports, comparisons and
//! replays. Method: snapshots.

use crate::screens;

screens! {
    drive_list: ["tidegate drive list"];
    drive_show_built_in: [
        "tidegate drive show fujitsu-max3036rc",
        "tidegate drive show ibm-36z15",
        "tidegate drive show ibm-40k1044",
        "tidegate drive show maxtor-atlas-10k-v",
        "tidegate drive show nearline-7200",
        "tidegate drive show nvme-ssd",
        "tidegate drive show sata-ssd",
        "tidegate drive show seagate-36es2",
        "tidegate drive show seagate-st340810a",
    ];
    /// An import reports the files and values that it used, left out and did not find.
    drive_import: [
        "tidegate drive import disk -o d.drive.toml",
        "cat d.drive.toml",
        "tidegate drive show d.drive.toml",
        // One file is enough, and the user can choose the name.
        "tidegate drive import disk/d.diskspecs -o n.drive.toml --name 'my disk'",
        "tidegate drive show d.drive.toml --svg d.svg",
        "cat d.svg",
        "tidegate drive show sizes.drive.toml --svg t.svg",
        "cat t.svg",
        // The plot must go to a new file.
        "tidegate drive show d.drive.toml --svg t.svg",
    ];
    drive_import_faults: [
        "tidegate drive import disk -o d.drive.toml > said",
        "cp -R disk before && cp d.drive.toml before",
        "tidegate drive import disk -o d.drive.toml",
        "tidegate drive import disk -o disk/d.model",
        "cmp d.drive.toml before/d.drive.toml && cmp disk/d.model before/d.model",
        "tidegate drive import nowhere -o o.toml",
        "tidegate drive import /dev/zero -o o.toml",
        "tidegate drive import disk -o o.toml --name ''",
        "mv disk/d.seek seek && tidegate drive import disk -o o.toml",
        "printf '1, 1.0\\n99, soon\\n' > disk/d.seek",
        "tidegate drive import disk -o o.toml",
        "test ! -e o.toml",
    ];
    /// A data sheet gives tables for planning, and a proof from them is weak.
    drive_make: [
        "tidegate drive make --seek-track 0.5ms --seek-average 8.5ms --seek-full 18ms --rpm 7200 \
         --rate 110MB/s --write-seek-extra 1ms --size 128KiB,1MiB --name nas -o nas.drive.toml",
        "tidegate drive show nas.drive.toml",
        "printf '%s\n' 'drive = \"nas.drive.toml\"' '[[task]]' 'name = \"camera\"' 'count = 8' \
         'period = \"1s\"' 'size = \"1MiB\"' 'op = \"write\"' > nas.workload.toml",
        "tidegate check nas.workload.toml",
        // An existing file is never overwritten, and figures that contradict each other are
        // refused.
        "tidegate drive make --seek-track 0.5ms --seek-average 8.5ms --seek-full 18ms --rpm 7200 \
         --rate 110MB/s --name nas -o nas.drive.toml",
        "tidegate drive make --seek-track 0.5ms --seek-average 18ms --seek-full 8.5ms --rpm 7200 \
         --rate 110MB/s --name nas -o o.drive.toml",
        "tidegate drive make --seek-track 0.5ms --seek-average 8.5ms --seek-full 18ms --rpm 7200 \
         --rate 110MB/s --size 1000B --name nas -o o.drive.toml",
        "test ! -e o.drive.toml",
    ];
    drive_show_faults: [
        "(cat chips.head; sed -n '/^\\[ssd\\]/,$p' drives/sata-ssd.drive.toml) > s.toml",
        "tidegate drive show s.toml",
        "tidegate drive show s.toml --svg s.svg",
        "tidegate drive show nowhere",
        "test ! -e s.svg",
    ];
    drive_compare: [
        "tidegate drive compare fujitsu-max3036rc fujitsu-max3036rc",
        "tidegate drive compare fujitsu-max3036rc ibm-36z15",
        "tidegate drive compare sata-ssd nvme-ssd",
        "tidegate drive compare sata-ssd nvme-ssd --tolerance 1000%",
        "tidegate drive compare sata-ssd nowhere",
        "tidegate drive compare sata-ssd nvme-ssd --tolerance 5",
    ];
    drive_replay: [
        "tidegate drive import disk -o d.drive.toml > said",
        "tidegate drive replay d.drive.toml --trace d.trace",
        "tidegate drive replay fujitsu-max3036rc --trace d.trace --seed 3",
        "tidegate drive replay d.drive.toml --trace d.trace --json",
    ];
    drive_replay_faults: [
        "tidegate drive import disk -o d.drive.toml > said",
        "echo 'R Hit 19999 8 7000.0 1000.0' > beyond.trace",
        "tidegate drive replay d.drive.toml --trace beyond.trace",
        "sed '2s/W/X/' d.trace > broken.trace",
        "tidegate drive replay d.drive.toml --trace broken.trace",
        "echo '# nothing' > empty.trace",
        "tidegate drive replay d.drive.toml --trace empty.trace",
        "tidegate drive replay d.drive.toml --trace no.trace",
        "tidegate drive replay inline.drive.toml --trace d.trace",
    ];
    /// Errors are reported without root and without a device.
    drive_attach_faults: [
        "tidegate drive attach nonesuch",
        "tidegate drive attach nvme-ssd --name ../x",
        "tidegate drive detach nonesuch",
        "tidegate drive detach --all nonesuch",
    ];
}
