// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters of a `disksim_disk` block by name: those that the drive represents, and those
//! that it does not, with their neutral values.

use crate::section::Known;

pub(super) const SNEAKY_HITS: [&str; 3] = [
    "Allow sneaky full read hits",
    "Allow sneaky partial read hits",
    "Allow sneaky intermediate read hits",
];

/// The eight command overheads, in the order of [`Overhead`](tidegate_model::mechanics::Overhead).
pub(super) const OVERHEADS: [&str; 8] = [
    "Read hit over. after read",
    "Read hit over. after write",
    "Read miss over. after read",
    "Read miss over. after write",
    "Write hit over. after read",
    "Write hit over. after write",
    "Write miss over. after read",
    "Write miss over. after write",
];

pub(super) const PREPARATION: &str = "Data preparation overhead";
pub(super) const RECONNECT: &str = "First reselect overhead";
pub(super) const WRITE_SEEK: &str = "Minimum seek delay";
pub(super) const COMPLETIONS: [&str; 2] = ["Read completion overhead", "Write completion overhead"];

/// The parameters that the drive does not represent, with their neutral values.
pub(super) const NOT_REPRESENTED: &[(&str, &str)] = &[
    ("Print stats", "*"),
    ("Avg sectors per cylinder", "*"),
    ("Calc sector by sector", "*"),
    ("Set watermark by reqsize", "1"),
    ("Low (write) water mark", "0"),
    ("Hold bus entire read xfer", "0"),
    ("Hold bus entire write xfer", "0"),
    ("Never disconnect", "0"),
    ("Allow almost read hits", "0"),
    ("Preseeking level", "0"),
    ("Minimum read-ahead (blks)", "0"),
    ("Combine seq writes", "1"),
    ("Stop prefetch in sector", "0"),
    ("Disconnect write if seek", "0"),
    ("Write hit stop prefetch", "1"),
    ("Read directly to buffer", "1"),
    ("Immed transfer partial hit", "1"),
    ("Other reselect overhead", "0"),
    ("Read disconnect afterread", "0"),
    ("Read disconnect afterwrite", "0"),
    ("Write disconnect overhead", "0"),
    ("Extra write disconnect", "0"),
    ("Extradisc command overhead", "0"),
    ("Extradisc disconnect overhead", "0"),
    ("Extradisc inter-disconnect delay", "0"),
    ("Extradisc 2nd disconnect overhead", "0"),
    ("Extradisc seek delta", "0"),
];

pub(super) const KNOWN: Known<'_> = Known {
    represented: &[
        "Model",
        "Scheduler",
        "Max queue length",
        "Per-request overhead time",
        "Time scale for overheads",
        "Bulk sector transfer time",
        "Number of buffer segments",
        "Maximum number of write segments",
        "Segment size (in blks)",
        "Enable caching in buffer",
        "Buffer continuous read",
        "Maximum read-ahead (blks)",
        "Read-ahead on idle hit",
        "Fast write level",
        "Allow read hits on write data",
        "Allow write prebuffering",
        "Immediate buffer read",
        "Immediate buffer write",
        SNEAKY_HITS[0],
        SNEAKY_HITS[1],
        SNEAKY_HITS[2],
        OVERHEADS[0],
        OVERHEADS[1],
        OVERHEADS[2],
        OVERHEADS[3],
        OVERHEADS[4],
        OVERHEADS[5],
        OVERHEADS[6],
        OVERHEADS[7],
        COMPLETIONS[0],
        COMPLETIONS[1],
        PREPARATION,
        RECONNECT,
        WRITE_SEEK,
        "High (read) water mark",
        "Use separate write segment",
        "Read-ahead over requested",
        "Read any free blocks",
    ],
    neutral: NOT_REPRESENTED,
};

pub(super) const SCHEDULER_KNOWN: Known<'_> = Known {
    represented: &[
        "Scheduling policy",
        "Scheduling timeout scheme",
        "Timeout time/weight",
        "Scheduling priority scheme",
    ],
    neutral: &[
        ("Cylinder mapping strategy", "*"),
        ("Write initiation delay", "0"),
        ("Read initiation delay", "0"),
        ("Sequential stream scheme", "0"),
        ("Maximum concat size", "*"),
        ("Overlapping request scheme", "0"),
        ("Sequential stream diff maximum", "0"),
        ("Timeout scheduling", "*"),
        ("Priority scheduling", "*"),
    ],
};
