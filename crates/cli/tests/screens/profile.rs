// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the screens of `tidegate profile` stay as they are: plans, simulated drives, additions,
//! and refusals. Method: snapshots.

use crate::screens;

screens! {
    profile_plan: [
        "tidegate profile fujitsu-max3036rc --depth 4 --plan --seed 1 -o d.toml",
        "tidegate profile sata-ssd --plan --seed 1 --op read,write --size 4KiB,128KiB --allow-writes",
        "tidegate profile fujitsu-max3036rc --depth 4 --plan --seed 1 --only single --confidence 99%",
        "tidegate profile fujitsu-max3036rc --depth 4 --plan --seed 1 --only single --quick",
        "test ! -e d.toml",
    ];
    profile_simulated_disk: [
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 20 --seed 1 -o d.drive.toml",
        "sed '/^\\[mechanics/q' d.drive.toml",
        "grep '^\\[' d.drive.toml | uniq -c",
        // The samples file is removed after the measurement.
        "ls d.drive.toml*",
        "tidegate drive show d.drive.toml",
        "tidegate drive compare d.drive.toml fujitsu-max3036rc",
        "tidegate check shared.toml",
        "tidegate sim shared.toml --jobs 100",
    ];
    profile_simulated_chips: [
        "tidegate profile sata-ssd --depth 4 --samples 5 --seed 1 -o d.drive.toml \
         --op read,write --size 4KiB --allow-writes",
        "tidegate drive show d.drive.toml",
    ];
    profile_printed: [
        "tidegate profile nvme-ssd --depth 2 --samples 5 --seed 1 --only batch --model pseudo",
    ];
    /// Additions never remove costs without saying so.
    profile_added: [
        "tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 1 -o d.toml \
         --only batch,mixed --size 4KiB,128KiB",
        "sed -n '/^\\[cost/,/^$/p; /^\\[\\[cost/,/^$/p' d.toml",
        // One of the mixed kinds is measured again; the costs are kept.
        "tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 9 -o d.toml --add \
         --only batch --size 4KiB",
        "sed -n '/^\\[cost/,/^$/p; /^\\[\\[cost/,/^$/p' d.toml",
        // A third kind is added, then all kinds are mixed.
        "tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 9 -o d.toml --add \
         --only batch --size 64KiB",
        "sed -n '/^how/p; /^\\[cost/,/^$/p; /^\\[\\[cost/,/^$/p' d.toml",
        "tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 9 -o d.toml --add \
         --only batch,mixed --size 4KiB,64KiB,128KiB",
        "sed -n '/^\\[cost/,/^$/p; /^\\[\\[cost/,/^$/p' d.toml",
        "tidegate profile fujitsu-max3036rc --depth 2 --samples 1 --seed 9 -o d.toml --add \
         --only starvation",
        "tidegate profile maxtor-atlas-10k-v --depth 3 --samples 4 --seed 1 -o e.toml \
         --size 1MiB --only batch,drain-adversary",
    ];
    /// A refused service suggests this command, which adds the longest flush to the drive file.
    profile_flush: [
        "tidegate profile nearline-7200 --depth 4 --samples 12 --seed 1 -o d.toml --only batch",
        "sed '/^flush_ns_max/d' d.toml > t && mv t d.toml",
        "tidegate profile nearline-7200 --depth 4 --samples 12 --seed 1 -o d.toml --add \
         --only flush --allow-writes",
        "sed -n '/^flush/p; /^\\[fit.flush/,/^$/p' d.toml",
        "tidegate drive show d.toml | grep -A 2 ^Flush",
        "tidegate profile nearline-7200 --depth 4 --samples 12 --seed 1 -o d.toml --add \
         --only flush --allow-writes --model pseudo",
    ];
    profile_resumed: [
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 3 --seed 11 -o d.toml \
         --only batch,single,starvation --keep-samples",
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 3 --seed 22 -o d.toml --resume \
         --only batch --size 4KiB",
        "grep '^how\\|^\\[\\|^size\\|^starvation' d.toml",
        "ls d.toml* && cp d.toml before",
        "tidegate profile fujitsu-max3036rc --depth 3 --seed 1 --only batch -o d.toml --resume",
        "tidegate profile ibm-36z15 --depth 4 --seed 1 --only batch -o d.toml --resume",
        "cmp d.toml before",
        "tidegate profile fujitsu-max3036rc --depth 4 --seed 1 --only batch -o e.toml --resume",
        "echo precious > e.toml.samples",
        "tidegate profile fujitsu-max3036rc --depth 4 --seed 1 --only batch -o e.toml --resume",
        "echo '{\"measured\":\"another disk\",\"version\":1}' > e.toml.samples",
        "tidegate profile fujitsu-max3036rc --depth 4 --seed 1 --only batch -o e.toml --resume",
        "cat e.toml.samples",
        "mkfifo f.toml.samples",
        "tidegate profile fujitsu-max3036rc --depth 4 --seed 1 --only batch -o f.toml --resume",
    ];
    /// The drive file lists the options of all its rounds, even if the run that made some of them
    /// wrote no drive file. It claims no measurements that were not made.
    profile_says_how: [
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 3 --seed 11 -o d.toml \
         --only batch,rotation --keep-samples > said",
        "grep ^how d.toml && rm d.toml",
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 4 --seed 22 -o d.toml \
         --only batch,rotation --keep-samples --resume > said",
        "grep ^how d.toml && rm d.toml",
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 6 --seed 33 -o d.toml \
         --only batch,rotation --keep-samples --resume > said",
        "grep ^how d.toml && rm d.toml",
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 2 --seed 44 -o d.toml \
         --only batch --size 4KiB --resume > said",
        "grep ^how d.toml",
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 2 --seed 1 -o e.toml \
         --only batch,mixed,stripe > said",
        "grep ^how e.toml",
        // Repeated options are measured only once, because the drive file has room for the result
        // only once.
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 2 --seed 1 -o f.toml \
         --only batch --size 4KiB,4KiB --op read,read",
        "grep -c '^\\[\\[batch' f.toml",
    ];
    profiles_of_one_drive_are_alike: [
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 2000 --seed 1 -o a.toml \
         --only batch,single",
        "tidegate profile fujitsu-max3036rc --depth 4 --samples 2000 --seed 2 -o b.toml \
         --only batch,single",
        "tidegate drive compare a.toml b.toml",
        "tidegate drive compare a.toml b.toml --json",
        "tidegate drive compare a.toml ibm-36z15",
        "tidegate drive compare a.toml ibm-36z15 --json",
        "tidegate drive compare a.toml none.toml",
    ];
    /// A simulation never replaces a device's table.
    profile_of_a_device: [
        "tidegate profile measured.drive.toml --model pseudo --only batch --size 4KiB --samples 5 \
         --seed 1 -o measured.drive.toml --add",
        "ls measured* && cat measured.drive.toml",
        "tidegate profile measured.drive.toml --model pseudo --only batch --size 4KiB --samples 5 \
         --seed 1 -o s.toml",
        "cat s.toml",
        "tidegate profile measured.drive.toml --model pseudo --only batch --size 4KiB --samples 5 \
         --seed 1 -o s.toml --add",
    ];
    profile_faults: [
        "tidegate profile fujitsu-max3036rc --plan --quick --samples 5",
        "tidegate profile fujitsu-max3036rc --plan --confidence 99",
        "tidegate profile fujitsu-max3036rc --plan --confidence 100%",
        "tidegate profile fujitsu-max3036rc --plan --confidence 0%",
        "tidegate profile fujitsu-max3036rc --plan --confidence x%",
        "tidegate profile fujitsu-max3036rc --plan --only dance",
        "tidegate profile fujitsu-max3036rc --plan --only drain",
        "tidegate profile fujitsu-max3036rc --model recorded",
        "tidegate profile fujitsu-max3036rc --name ''",
        "tidegate profile fujitsu-max3036rc --name \"$(printf 'a\\nb')\"",
        "tidegate profile fujitsu-max3036rc --only batch -o \"$(printf 'a\\nb.toml')\"",
        "tidegate profile fujitsu-max3036rc --only batch -o \"$(printf 'a\\033[2Jb.toml')\"",
        "tidegate profile fujitsu-max3036rc --add",
        "tidegate profile inline.toml --only batch",
        "tidegate profile measured.drive.toml --only batch --depth 100",
        "cp measured.drive.toml measured.toml",
        "tidegate profile measured.toml --op write --allow-writes --size 4KiB --depth 1",
        "cmp measured.drive.toml measured.toml",
        "tidegate profile missing.img",
        "tidegate profile missing.img --op write",
        "tidegate profile missing.img --only flush --add -o d.toml",
        "tidegate profile missing.img --model pseudo",
        "tidegate profile .",
        "tidegate profile /dev/null",
        "touch empty.img && tidegate profile empty.img",
        "tidegate profile new.img --create 64KiB --size 1000B",
        "tidegate profile new.img --create 64KiB --size 64KiB --depth 2",
        "tidegate profile new.img --create 64KiB --size 128KiB",
        "test ! -e new.img",
    ];
    /// An existing file with the output's name is not changed. The target does not exist either,
    /// which shows that the output is refused first.
    profile_outputs: [
        "printf '\\377 precious' > bytes && printf precious > text && ls -A > before",
        "tidegate profile disk.img -o bytes",
        "tidegate profile disk.img -o bytes --add",
        "tidegate profile disk.img -o text --add",
        "tidegate profile disk.img -o .",
        "tidegate profile disk.img -o new/",
        "tidegate profile disk.img -o missing/d.toml",
        "tidegate profile disk.img -o /dev/full",
        "tidegate profile disk.img -o /dev/full --add",
        "tidegate profile disk.img -o disk.img",
        "tidegate profile disk.img -o ./disk.img",
        "tidegate profile disk.img -o none --add",
        "cat text && printf '\\377 precious' | cmp - bytes && ls -A | cmp - before",
    ];
}
