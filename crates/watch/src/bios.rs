// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Follows each piece of I/O (a bio) from the program's call to the completion of its last sector.
//!
//! Requests are made of bios, and the kernel merges, splits, requeues and completes requests in
//! parts. None of this matters here: a bio is complete when completions have covered all of its
//! sectors.
//!
//! ```text
//!   bio       [--------)            queued at t1
//!   bio                [--------)   queued at t2
//!   complete  [----------)          the first is served; two sectors of the second are
//!   complete              [-----)   the second is served
//! ```
//!
//! If several bios have the same sectors, a completion counts for a bio that it covers exactly, or
//! else for the oldest: the trace does not tell them apart.
//!
//! If a write must be on the medium (FUA) and the device cannot ensure that itself, the write is
//! not complete when its data is. The kernel then empties the write cache, and completes the
//! request a second time without sectors, at its first sector or just after its last one, depending
//! on the kernel.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use tidegate_model::{Duration, Time};

use crate::event::{Extent, IoClass, Operation};
use crate::extents::Sectors;
use crate::process::Process;
use crate::served::Served;

/// The maximum number of bios that are followed at the same time; beyond that, the oldest is given
/// up.
const FOLLOWED_MAX: usize = 1 << 16;
/// The maximum age of a bio. An older bio is given up, because the kernel's six attempts of 30 s
/// each end sooner.
const AGE_MAX: Duration = Duration::from_ms(300_000);

#[derive(Debug)]
struct Bio {
    extent: Extent,
    by: Process,
    class: IoClass,
    queued: Time,
    /// The sectors that are not complete.
    left: Sectors,
    /// The sectors that were not sent to the device.
    unsent: Sectors,
    /// Whether the data must be on the medium.
    is_forced: bool,
    /// The number of its requests after whose data the kernel must empty the write cache.
    flushes: u32,
    is_failed: bool,
}

/// The operation, the first sector, and a number that ascends in the order of queueing.
type Key = (Operation, u64, u64);

/// All bios that are not complete.
///
/// # Complexity
/// O(log n) for each event, plus O(log n) for each bio that shares sectors with it.
#[derive(Debug, Default)]
pub(crate) struct Bios {
    with_data: BTreeMap<Key, Bio>,
    /// The keys of the bios in `with_data` by their number, oldest first.
    by_age: BTreeMap<u64, Key>,
    /// Requests without data, in the order of queueing. Their place does not identify them.
    syncs: VecDeque<Bio>,
    next: u64,
    /// The longest bio of each operation so far, in sectors. It limits how far back `touched`
    /// searches.
    longest: BTreeMap<Operation, u64>,
}

impl Bios {
    /// Begins to follow a bio.
    pub(crate) fn queue(&mut self, at: Time, extent: Extent, by: Process, is_forced: bool) {
        let range = range(extent);
        let sectors = || Sectors::of(range.clone());
        let bio = Bio {
            extent,
            class: by.class,
            by,
            queued: at,
            left: sectors(),
            unsent: sectors(),
            is_forced,
            flushes: 0,
            is_failed: false,
        };
        if extent.op == Operation::Sync {
            self.syncs.push_back(bio);
        } else if extent.sectors > 0 {
            let longest = self.longest.entry(extent.op).or_default();
            *longest = (*longest).max(extent.sectors);
            let key = (extent.op, range.start, self.next);
            self.with_data.insert(key, bio);
            self.by_age.insert(self.next, key);
            self.next += 1;
        }
    }

    /// Records that a request was sent. Returns how many of its sectors belong to no bio.
    pub(crate) fn issue(&mut self, extent: Extent, class: Option<IoClass>, is_forced: bool) -> u64 {
        let mut sent = Sectors::of(range(extent));
        for key in self.touched(extent, |bio| &bio.unsent) {
            let bio = self.with_data.get_mut(&key).expect("a key of the map");
            if bio.unsent.cancel(&mut sent) {
                bio.class = class.unwrap_or(bio.class);
                bio.flushes += u32::from(bio.is_forced && !is_forced);
            }
        }
        sent.count()
    }

    /// Records that the kernel took a request back.
    pub(crate) fn requeue(&mut self, extent: Extent) {
        for key in self.touched(extent, |bio| &bio.left) {
            let bio = self.with_data.get_mut(&key).expect("a key of the map");
            bio.flushes = bio.flushes.saturating_sub(1); // zero unless its dispatch counted one
            bio.unsent.restore(&range(extent), &range(bio.extent));
        }
    }

    /// Records a completion and passes each bio that is now complete to `served`. Returns how many
    /// of the completed sectors belong to no bio.
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
            if bio.left.is_empty() && bio.flushes == 0 {
                served(self.remove(key).served(at));
            }
        }
        done.count()
    }

    /// Records that a bio, or a part of one, ended without a request. If several bios match, the
    /// newest that was not sent is chosen. Returns the bio if all of it has ended.
    pub(crate) fn end(&mut self, at: Time, extent: Extent) -> Option<Served> {
        if extent.op == Operation::Sync {
            let index = self.syncs.iter().rposition(|bio| bio.extent.start == extent.start)?;
            return self.syncs.remove(index).map(|bio| bio.served(at));
        }
        let range = range(extent);
        let is_exact = |key: &&Key| self.with_data[*key].unsent.is(&range);
        let touched = self.touched(extent, |bio| &bio.unsent);
        let newest = |keys: &mut dyn Iterator<Item = &Key>| keys.max_by_key(|key| key.2).copied();
        let key =
            newest(&mut touched.iter().filter(is_exact)).or_else(|| newest(&mut touched.iter()))?;
        let bio = self.with_data.get_mut(&key).expect("a key of the map");
        for of_bio in [&mut bio.left, &mut bio.unsent] {
            of_bio.cancel(&mut Sectors::of(range.clone()));
        }
        bio.left.is_empty().then(|| self.remove(key).served(at))
    }

    /// Completes the oldest write at this place that waits for a flush, or else the oldest request
    /// without data at this place.
    fn complete_sync(
        &mut self,
        at: Time,
        extent: Extent,
        is_failed: bool,
        mut served: impl FnMut(Served),
    ) {
        if let Some(key) = self.waits_for_flush(extent.start.get()) {
            let bio = self.with_data.get_mut(&key).expect("a key of the map");
            bio.is_failed |= is_failed;
            bio.flushes -= 1;
            if bio.flushes == 0 {
                served(self.remove(key).served(at));
            }
            return;
        }
        let at_place = |bio: &Bio| bio.extent.start == extent.start;
        let Some(index) = self.syncs.iter().position(at_place) else { return };
        let mut bio = self.syncs.remove(index).expect("an index of the queue");
        bio.is_failed = is_failed;
        served(bio.served(at));
    }

    /// Returns the oldest write whose data is complete, that waits for a flush, and that contains
    /// this place or ends there.
    fn waits_for_flush(&self, place: u64) -> Option<Key> {
        let longest = self.longest.get(&Operation::Write).copied().unwrap_or(0);
        let first = place.saturating_sub(longest); // as in `touched`
        let within = (Operation::Write, first, 0)..=(Operation::Write, place, u64::MAX);
        let waits = |(_, bio): &(&Key, &Bio)| {
            bio.flushes > 0 && bio.left.is_empty() && place <= bio.extent.end()
        };
        let waiting = self.with_data.range(within).filter(waits).map(|(key, _)| *key);
        waiting.min_by_key(|key| key.2)
    }

    /// Gives up all bios, because the lost events may include their completions. They count as
    /// having waited until `until`.
    pub(crate) fn give_up(&mut self, until: Time) -> Vec<Served> {
        self.by_age.clear();
        let with_data = std::mem::take(&mut self.with_data).into_values();
        let all = with_data.chain(std::mem::take(&mut self.syncs));
        all.map(|bio| bio.served(until)).collect()
    }

    /// Gives up the oldest bio if it is too old or if too many are followed.
    pub(crate) fn give_up_oldest(&mut self, at: Time) -> Option<Served> {
        let is_surplus = self.pending() > FOLLOWED_MAX;
        let is_old = |bio: &Bio| bio.age(at) > AGE_MAX;
        let oldest = self.by_age.values().next().copied();
        match oldest {
            Some(key) if is_surplus || is_old(&self.with_data[&key]) => {
                Some(self.remove(key).served(at))
            }
            _ if is_surplus || self.syncs.front().is_some_and(is_old) => {
                self.syncs.pop_front().map(|bio| bio.served(at))
            }
            _ => None,
        }
    }

    /// Returns the bios that are not complete, each with the time that it has waited until now.
    pub(crate) fn waiting(&self, at: Time) -> impl Iterator<Item = (Extent, &Process, Duration)> {
        let all = self.with_data.values().chain(&self.syncs);
        all.map(move |bio| (bio.extent, &bio.by, bio.age(at)))
    }

    /// Returns the number of bios that are not complete.
    pub(crate) fn pending(&self) -> usize {
        self.with_data.len() + self.syncs.len()
    }

    fn remove(&mut self, key: Key) -> Bio {
        self.by_age.remove(&key.2);
        self.with_data.remove(&key).expect("a key of the map")
    }

    /// Returns the bios that share sectors with an extent and whose `open` sectors are not empty:
    /// first those whose open sectors are exactly the extent, then the others; each group oldest
    /// first.
    fn touched(&self, extent: Extent, open: impl Fn(&Bio) -> &Sectors) -> Vec<Key> {
        let longest = self.longest.get(&extent.op).copied().unwrap_or(0);
        // No bio that begins before this sector reaches the extent.
        let first = extent.start.get().saturating_sub(longest);
        let range = range(extent);
        let within = (extent.op, first, 0)..(extent.op, range.end, 0);
        let shares = |bio: &Bio| !open(bio).is_empty() && range.start < bio.extent.end();
        let found = self.with_data.range(within).filter(|(_, bio)| shares(bio));
        let mut keys: Vec<_> =
            found.map(|(key, bio)| (!open(bio).is(&range), key.2, *key)).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(.., key)| key).collect()
    }
}

impl Bio {
    /// Returns the bio's age; zero if `at` is before the bio was queued.
    fn age(&self, at: Time) -> Duration {
        at.max(self.queued).since(self.queued)
    }

    fn served(self, at: Time) -> Served {
        let Self { extent, by, class, queued, is_failed, .. } = self;
        Served { extent, by, class, queued, completed: at.max(queued), is_failed }
    }
}

fn range(extent: Extent) -> Range<u64> {
    extent.start.get()..extent.end()
}
