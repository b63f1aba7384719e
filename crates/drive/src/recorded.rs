// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A drive whose batches take as long as measured batches. It draws each batch's time from the
//! quantiles of a measured profile by inverse-transform sampling, with linear interpolation between
//! the measured levels and the maximum as the last level.
//!
//! Within a batch it behaves like the pseudo-disk (`spaced.rs`). A profile has no times of mixed
//! reads and writes: their times are added, as in `BatchTable::mixed_with`.

use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::random::scale;
use tidegate_model::{Duration, Op};

use crate::spaced::{BatchTimes, Mix, SpacedDrive};

/// A drive that repeats a measured profile; see the module documentation and [`SpacedDrive`].
pub type RecordedDrive = SpacedDrive<Recording>;

impl RecordedDrive {
    /// Creates an idle drive that accepts `depth` requests and takes its times from `recording`.
    ///
    /// # Panics
    /// If `depth` is 0.
    pub fn new(depth: u32, recording: Recording, seed: u64) -> Self {
        Self::with_times(depth, recording, seed)
    }
}

/// The table has no quantiles to draw from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the table has no quantiles, only ns_max, so no times can be drawn")]
pub struct QuantilesMissing;

/// The measured times of reads, of writes, or of both.
#[derive(Debug, Clone)]
pub struct Recording {
    reads: Profile,
    writes: Profile,
}

impl Recording {
    /// Creates a recording that serves reads and writes by the same table.
    ///
    /// # Errors
    /// [`QuantilesMissing`] if the table has only maxima.
    pub fn new(table: &MeasuredTable) -> Result<Self, QuantilesMissing> {
        Self::of_both(table, table)
    }

    /// Creates a recording that serves reads and writes by one table each.
    ///
    /// # Errors
    /// [`QuantilesMissing`] if one of the tables has only maxima.
    pub fn of_both(
        reads: &MeasuredTable,
        writes: &MeasuredTable,
    ) -> Result<Self, QuantilesMissing> {
        Ok(Self { reads: Profile::new(reads)?, writes: Profile::new(writes)? })
    }

    fn profile(&self, op: Op) -> &Profile {
        match op {
            Op::Read => &self.reads,
            Op::Write => &self.writes,
        }
    }

    fn time(&self, op: Op, requests: u32, share: u64) -> Duration {
        match requests {
            0 => Duration::ZERO,
            _ => self.profile(op).time(requests, share),
        }
    }
}

impl BatchTimes for Recording {
    fn batch_max(&self) -> u32 {
        self.reads.batch_max().min(self.writes.batch_max())
    }

    fn batch_time(&self, mix: Mix, draw: u64) -> Duration {
        let share = scale(draw, SHARE_ALL + 1);
        let time = self.time(Op::Read, mix.reads, share) + self.time(Op::Write, mix.writes, share);
        // At least 1 ns: with a drive that takes no time, a closed loop would stay at one instant
        // forever.
        time.max(Duration::from_ns(1))
    }
}

/// The share of all batches (100 %) in parts per billion.
const SHARE_ALL: u64 = 1_000_000_000;

/// A quantile: `share` of the batches took at most `ns`.
#[derive(Debug, Clone, Copy)]
struct Level {
    share: u64,
    ns: u64,
}

/// The levels of one table.
///
/// # Invariants
/// - There is at least one entry; entry `i - 1` is for batches of i requests.
/// - Levels rise in share and do not fall in time; the last is `SHARE_ALL` with the longest
///   measured time.
#[derive(Debug, Clone)]
struct Profile {
    levels: Vec<Vec<Level>>,
}

impl Profile {
    fn new(table: &MeasuredTable) -> Result<Self, QuantilesMissing> {
        if table.quantiles_ns.iter().all(Vec::is_empty) {
            return Err(QuantilesMissing);
        }
        Ok(Self { levels: (0..table.ns_max.len()).map(|entry| levels(table, entry)).collect() })
    }

    fn batch_max(&self) -> u32 {
        u32::try_from(self.levels.len()).expect("as long as a batch table")
    }

    /// Returns the time that `share` of the batches of `requests` requests did not exceed,
    /// rounded up. Below the lowest measured level it returns that level's time.
    fn time(&self, requests: u32, share: u64) -> Duration {
        let levels = &self.levels[requests as usize - 1];
        let upper = levels.iter().position(|level| level.share >= share);
        let upper = upper.expect("the last level is all of them");
        let below = &levels[upper.saturating_sub(1)]; // the lowest level has none below
        let above = &levels[upper];
        Duration::from_ns(interpolate_ceil(*below, *above, share))
    }
}

fn levels(table: &MeasuredTable, entry: usize) -> Vec<Level> {
    // The quantiles were measured at random places, so the maximum must be that of random places.
    let ns_max = table.random_ns_max()[entry];
    let mut levels = Vec::new();
    let mut highest = 0;
    for (ppm, list) in MeasuredTable::LEVELS_PPM.into_iter().zip(&table.quantiles_ns) {
        let Some(&ns) = list.get(entry) else { continue };
        // A file written by others can have quantiles that fall or exceed the maximum.
        highest = ns.max(highest).min(ns_max);
        levels.push(Level { share: u64::from(ppm) * (SHARE_ALL / 1_000_000), ns: highest });
    }
    levels.push(Level { share: SHARE_ALL, ns: ns_max });
    levels
}

/// Returns the point at `share` on the line from `below` to `above`, rounded up.
fn interpolate_ceil(below: Level, above: Level, share: u64) -> u64 {
    if share <= below.share {
        return below.ns;
    }
    let rise = u128::from(above.ns - below.ns) * u128::from(share - below.share);
    let rise = rise.div_ceil(u128::from(above.share - below.share));
    below.ns + u64::try_from(rise).expect("at most the difference of two times")
}
