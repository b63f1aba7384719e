// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What goes wrong at the medium now and then: sectors that are read at the second turn, or
//! never, and recalibrations. Seeded; a drive without faults draws nothing.

use tidegate_model::mechanics::Faults;
use tidegate_model::{Duration, Outcome, Random};

/// What one access to the medium suffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mishap {
    /// Turns that are lost before the sectors are right.
    pub(crate) turns: u32,
    /// The head is recalibrated first.
    pub(crate) recalibration: Duration,
    /// Whether the sectors are right in the end.
    pub(crate) outcome: Outcome,
}

impl Mishap {
    /// Nothing goes wrong.
    const NONE: Self = Self { turns: 0, recalibration: Duration::ZERO, outcome: Outcome::Done };
}

/// Draws mishaps.
#[derive(Debug, Clone)]
pub(crate) struct FaultSource {
    faults: Option<Faults>,
    random: Random,
}

impl FaultSource {
    const MILLION: u64 = 1_000_000;

    /// A source of what `faults` says.
    pub(crate) fn new(faults: Option<&Faults>, seed: u64) -> Self {
        Self { faults: faults.cloned(), random: Random::new(seed, Random::DRIVE_STREAM) }
    }

    /// What the next access to the medium suffers.
    pub(crate) fn draw(&mut self) -> Mishap {
        let Some(faults) = self.faults.clone() else { return Mishap::NONE };
        let recalibrates = self.happens(faults.recalibration_ppm);
        let recalibration_ns = if recalibrates { faults.recalibration_ns } else { 0 };
        let mut turns = 0;
        while turns <= faults.retries_max && self.happens(faults.retry_ppm) {
            turns += 1;
        }
        let outcome = if turns > faults.retries_max { Outcome::Failed } else { Outcome::Done };
        let turns = turns.min(faults.retries_max);
        Mishap { turns, recalibration: Duration::from_ns(recalibration_ns), outcome }
    }

    fn happens(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.random.below(Self::MILLION) < u64::from(ppm)
    }
}
