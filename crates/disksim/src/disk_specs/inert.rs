// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters that DiskSim ignores because of another one, so that the drive must ignore them too.
//! docs/reference/simulated-drives.md gives the reasons.

use crate::section::{Section, is_same};

/// A parameter without effect if another one has this value.
struct Rule {
    name: &'static str,
    because: &'static str,
    value: i128,
}

const fn rule(name: &'static str, because: &'static str, value: i128) -> Rule {
    Rule { name, because, value }
}

const BY_SECTOR: &str = "Calc sector by sector";
const READ_AHEAD: &str = "Buffer continuous read";
const EXTRA: &str = "Extra write disconnect";

const RULES: [Rule; 10] = [
    // The transfer waits for each sector in order.
    rule("Immediate buffer read", BY_SECTOR, 1),
    rule("Immediate buffer write", BY_SECTOR, 1),
    // DiskSim sets them to 0 after it has read the file.
    rule("Minimum read-ahead (blks)", READ_AHEAD, 0),
    rule("Maximum read-ahead (blks)", READ_AHEAD, 0),
    // Without a watermark, its unit does not matter.
    rule("Set watermark by reqsize", "High (read) water mark", 0),
    // Times of a disconnect that does not happen.
    rule("Extradisc command overhead", EXTRA, 0),
    rule("Extradisc disconnect overhead", EXTRA, 0),
    rule("Extradisc inter-disconnect delay", EXTRA, 0),
    rule("Extradisc 2nd disconnect overhead", EXTRA, 0),
    rule("Extradisc seek delta", EXTRA, 0),
];

/// Returns whether DiskSim ignores a parameter in this block.
pub(super) fn is_inert(section: &Section, name: &str) -> bool {
    RULES.iter().any(|rule| {
        let decides = || section.scaled(rule.because, 0).ok().flatten();
        is_same(rule.name, name) && decides() == Some(rule.value)
    })
}
