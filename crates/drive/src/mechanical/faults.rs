// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Occasional faults at the medium: sectors that need another turn to be read, or cannot be read,
//! and recalibrations. Faults are drawn from a seeded generator; a drive without faults draws
//! nothing.

use tidegate_model::mechanics::Faults;
use tidegate_model::{Duration, Outcome, Random};

/// The faults of one access to the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccessFault {
    /// Turns lost before the sectors are read correctly.
    pub(crate) turns: u32,
    /// The time of a recalibration before the access.
    pub(crate) recalibration: Duration,
    /// The outcome of the access after all retries.
    pub(crate) outcome: Outcome,
}

impl AccessFault {
    /// No fault.
    const NONE: Self = Self { turns: 0, recalibration: Duration::ZERO, outcome: Outcome::Done };
}

/// Draws faults from a seeded generator.
#[derive(Debug, Clone)]
pub(crate) struct FaultSource {
    faults: Option<Faults>,
    random: Random,
}

impl FaultSource {
    const MILLION: u64 = 1_000_000;

    /// Creates a source of the faults that `faults` describes.
    pub(crate) fn new(faults: Option<&Faults>, seed: u64) -> Self {
        Self { faults: faults.cloned(), random: Random::new(seed, Random::DRIVE_STREAM) }
    }

    /// Draws the faults of the next access to the medium.
    pub(crate) fn draw(&mut self) -> AccessFault {
        let Some(faults) = self.faults.clone() else { return AccessFault::NONE };
        let recalibrates = self.happens(faults.recalibration_ppm);
        let recalibration_ns = if recalibrates { faults.recalibration_ns } else { 0 };
        let mut turns = 0;
        while turns <= faults.retries_max && self.happens(faults.retry_ppm) {
            turns += 1;
        }
        let outcome = if turns > faults.retries_max { Outcome::Failed } else { Outcome::Done };
        let turns = turns.min(faults.retries_max);
        AccessFault { turns, recalibration: Duration::from_ns(recalibration_ns), outcome }
    }

    fn happens(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.random.below(Self::MILLION) < u64::from(ppm)
    }
}
