// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The pseudo-disk: as slow as its batch table allows, in random order. It is the
//! adversary for guarantees, and it honours its table: a batch given to the idle drive and
//! joined by nothing takes b(n) exactly.
//!
//! Source: dissertation 9.3.3. Deviation: there b is equation 7.4.1.7, here any table.

use model::{BatchTable, Duration};

use crate::spaced::{BatchTimes, Mix, SpacedDrive};

/// The dissertation's pseudo-disk; see the module's text and [`SpacedDrive`].
pub type PseudoDisk = SpacedDrive<BatchTable>;

impl PseudoDisk {
    /// An idle pseudo-disk that accepts `depth` requests and serves n of them in b(n).
    ///
    /// # Panics
    /// When `depth` is 0.
    pub fn new(depth: u32, table: BatchTable, seed: u64) -> Self {
        Self::with_times(depth, table, seed)
    }
}

/// The longest time, always.
impl BatchTimes for BatchTable {
    fn batch_max(&self) -> u32 {
        Self::batch_max(self)
    }

    fn batch_time(&self, mix: Mix, _draw: u64) -> Duration {
        self.time_max(mix.total())
    }
}
