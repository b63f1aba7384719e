// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Random delays of a simulated host.

use tidegate_model::{Duration, Random};

/// Returns a time from zero to `most`, uniformly distributed.
pub(crate) fn up_to(most: Duration, random: &mut Random) -> Duration {
    Duration::from_ns(match most.ns().checked_add(1) {
        Some(1) => 0,
        Some(bound) => random.below(bound),
        None => random.bits(),
    })
}

/// Returns zero, `most`, or a random time from zero to `most`, each with a probability of one
/// third: worst cases often lie at the extremes.
pub fn delay_up_to(most: Duration, random: &mut Random) -> Duration {
    match (most.ns().checked_add(1), random.below(3)) {
        (_, 0) => Duration::ZERO,
        (_, 1) | (None, _) => most,
        (Some(bound), _) => Duration::from_ns(random.below(bound)),
    }
}
