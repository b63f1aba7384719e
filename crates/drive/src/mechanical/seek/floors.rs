// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A table below a seek curve: the least time of each group of neighbouring distances.
//!
//! ```text
//!   time |            ___---      curve
//!        |      __---'  |____
//!        |   .-'__|_____|         floor of each group
//!        |__|__/
//!        +-------------------- distance
//! ```
//! One look into a small table tells what a seek takes at least, where the curve itself is
//! bisected and interpolated.

use model::Duration;

/// So many groups at most: 8 KiB, which stay close to the processor.
const GROUPS_MAX: u32 = 1 << 11;

/// The least time of each group of distances.
///
/// # Invariants
/// - `floors[d >> shift]` is at most the time of distance `d`, for every `d` but 0.
#[derive(Debug, Clone)]
pub(super) struct Floors {
    shift: u32,
    floors: Vec<u32>,
}

impl Floors {
    /// For distances up to `stroke`; `least` says the least time, in nanoseconds, of the
    /// distances from its first to its second argument.
    pub(super) fn new(stroke: u32, least: impl Fn(u32, u32) -> u64) -> Self {
        let mut shift = 0;
        while stroke >> shift >= GROUPS_MAX {
            shift += 1;
        }
        let floor = |group: u32| {
            let (first, last) = (group << shift, (group << shift) + ((1 << shift) - 1));
            u32::try_from(least(first.max(1), last.clamp(1, stroke.max(1)))).unwrap_or(u32::MAX)
        };
        Self { shift, floors: (0..=stroke >> shift).map(floor).collect() }
    }

    /// At most the time of this distance.
    pub(super) fn floor(&self, distance: u32) -> Duration {
        if distance == 0 {
            return Duration::ZERO;
        }
        let floor = self.floors.get((distance >> self.shift) as usize);
        Duration::from_ns(floor.map_or(0, |&ns| u64::from(ns)))
    }
}
