// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Follows each piece of I/O (a bio) from the program's call to its last completed sector.
//!
//! Requests are made of bios, and the kernel merges, splits, requeues and completes them in parts.
//! None of this matters here: a bio is complete when completions have covered all of its sectors.
//!
//! ```text
//!   bio       [--------)            queued at t1
//!   bio                [--------)   queued at t2
//!   complete  [----------)          the first is served; two sectors of the second are
//!   complete              [-----)   the second is served
//! ```
//!
//! Of several bios with the same sectors, a completion counts for one that it covers exactly, and
//! otherwise for the oldest: the trace does not tell them apart.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use tidegate_model::{Duration, Time};

use crate::event::{Extent, IoClass, Operation};
use crate::extents::Sectors;
use crate::process::Process;

/// The most bios that are followed at once: beyond it, the oldest is given up.
const FOLLOWED_MAX: usize = 1 << 16;

/// A bio that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The bio.
    pub extent: Extent,
    /// The program that handed it to the kernel.
    pub by: Process,
    /// Its class: as the kernel sent it, or else as of the program's thread.
    pub class: IoClass,
    /// When the kernel had it.
    pub queued: Time,
    /// When its last sector was complete.
    pub completed: Time,
    /// Whether a part of it failed.
    pub is_failed: bool,
}

impl Served {
    /// Returns the time from queue to completion.
    pub fn response(&self) -> Duration {
        self.completed.since(self.queued)
    }
}

#[derive(Debug)]
struct Bio {
    extent: Extent,
    by: Process,
    class: IoClass,
    queued: Time,
    /// Sectors that are not complete.
    left: Sectors,
    /// Sectors that were not sent to the device.
    unsent: Sectors,
    is_failed: bool,
}

/// The operation, the first sector, and a number that rises in the order of queueing.
type Key = (Operation, u64, u64);

/// All bios that are not complete.
///
/// # Complexity
/// O(log n) for each event, and for each of the bios that its sectors touch.
#[derive(Debug, Default)]
pub(crate) struct Bios {
    with_data: BTreeMap<Key, Bio>,
    /// Requests without data in the order of queueing: their place does not identify them.
    syncs: VecDeque<Bio>,
    next: u64,
    /// The longest bio of each operation so far, in sectors: bounds the search.
    longest: BTreeMap<Operation, u64>,
    /// Bios that were given up because their completion was not seen.
    unfinished: u64,
}

impl Bios {
    /// Begins to follow a bio.
    pub(crate) fn queue(&mut self, at: Time, extent: Extent, by: Process) {
        let range = range(extent);
        let sectors = || Sectors::of(range.clone());
        let bio = Bio {
            extent,
            class: by.class,
            by,
            queued: at,
            left: sectors(),
            unsent: sectors(),
            is_failed: false,
        };
        if extent.op == Operation::Sync {
            self.syncs.push_back(bio);
        } else if extent.sectors > 0 {
            let longest = self.longest.entry(extent.op).or_default();
            *longest = (*longest).max(extent.sectors);
            self.with_data.insert((extent.op, range.start, self.next), bio);
            self.next += 1;
        }
        self.limit();
    }

    /// Records that a request was sent; returns how many of its sectors belong to no bio.
    pub(crate) fn issue(&mut self, extent: Extent, class: Option<IoClass>) -> u64 {
        let mut sent = Sectors::of(range(extent));
        for key in self.touched(extent, |bio| &bio.unsent) {
            let bio = self.with_data.get_mut(&key).expect("a key of the map");
            if bio.unsent.cancel(&mut sent) {
                bio.class = class.unwrap_or(bio.class);
            }
        }
        sent.count()
    }

    /// Records that the kernel took a request back.
    pub(crate) fn requeue(&mut self, extent: Extent) {
        for key in self.touched(extent, |bio| &bio.left) {
            let bio = self.with_data.get_mut(&key).expect("a key of the map");
            bio.unsent.restore(&range(extent), &range(bio.extent));
        }
    }

    /// Records a completion and passes each bio that is now complete to `served`. Returns how many
    /// of its sectors belong to no bio.
    pub(crate) fn complete(
        &mut self,
        at: Time,
        extent: Extent,
        is_failed: bool,
        mut served: impl FnMut(Served),
    ) -> u64 {
        if extent.op == Operation::Sync {
            self.complete_sync(at, extent, is_failed, served);
            return 0;
        }
        let mut done = Sectors::of(range(extent));
        for key in self.touched(extent, |bio| &bio.left) {
            let bio = self.with_data.get_mut(&key).expect("a key of the map");
            if !bio.left.cancel(&mut done) {
                continue;
            }
            bio.is_failed |= is_failed;
            if bio.left.is_empty() {
                let bio = self.with_data.remove(&key).expect("a key of the map");
                served(bio.served(at));
            }
        }
        done.count()
    }

    /// Completes the oldest request without data at this place. A write that ends in a flush shows
    /// an empty completion too; it matches nothing.
    fn complete_sync(
        &mut self,
        at: Time,
        extent: Extent,
        is_failed: bool,
        mut served: impl FnMut(Served),
    ) {
        let at_place = |bio: &Bio| bio.extent.start == extent.start;
        let Some(index) = self.syncs.iter().position(at_place) else { return };
        let mut bio = self.syncs.remove(index).expect("an index of the queue");
        bio.is_failed = is_failed;
        served(bio.served(at));
    }

    /// Gives up all bios: events were lost, perhaps those of their completions.
    pub(crate) fn give_up(&mut self) {
        self.unfinished += self.pending() as u64;
        self.with_data.clear();
        self.syncs.clear();
    }

    /// Returns the number of bios that are not complete.
    pub(crate) fn pending(&self) -> usize {
        self.with_data.len() + self.syncs.len()
    }

    /// Returns the number of bios that were given up.
    pub(crate) const fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// Returns the bios that share sectors with an extent and have some of `open` left: those that
    /// it covers exactly first, then the oldest.
    fn touched(&self, extent: Extent, open: impl Fn(&Bio) -> &Sectors) -> Vec<Key> {
        let longest = self.longest.get(&extent.op).copied().unwrap_or(0);
        // No bio that begins earlier reaches the extent; zero is the first sector.
        let first = extent.start.get().saturating_sub(longest);
        let range = range(extent);
        let within = (extent.op, first, 0)..(extent.op, range.end, 0);
        let found = self.with_data.range(within).filter(|(_, bio)| !open(bio).is_empty());
        let mut keys: Vec<_> =
            found.map(|(key, bio)| (!open(bio).is(&range), key.2, *key)).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(.., key)| key).collect()
    }

    /// Gives up the oldest bio if there are too many.
    fn limit(&mut self) {
        if self.pending() <= FOLLOWED_MAX {
            return;
        }
        self.unfinished += 1;
        let oldest = self.with_data.iter().min_by_key(|(key, _)| key.2).map(|(key, _)| *key);
        match oldest {
            Some(key) => drop(self.with_data.remove(&key)),
            None => drop(self.syncs.pop_front()),
        }
    }
}

impl Bio {
    fn served(self, at: Time) -> Served {
        let Self { extent, by, class, queued, is_failed, .. } = self;
        Served { extent, by, class, queued, completed: at, is_failed }
    }
}

fn range(extent: Extent) -> Range<u64> {
    extent.start.get()..extent.end()
}
