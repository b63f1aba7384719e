// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Random delays of a simulated host.

use tidegate_model::{Duration, Random};

/// Returns any time from zero to `most`, each as often.
pub(crate) fn up_to(most: Duration, random: &mut Random) -> Duration {
    Duration::from_ns(match most.ns().checked_add(1) {
        Some(1) => 0,
        Some(bound) => random.below(bound),
        None => random.bits(),
    })
}

/// Returns a delay of up to `most`: none, all of it, or any in between, each as often. Bounds are
/// reached at the extremes, and passed between them.
pub fn delay_up_to(most: Duration, random: &mut Random) -> Duration {
    match (most.ns().checked_add(1), random.below(3)) {
        (_, 0) => Duration::ZERO,
        (_, 1) | (None, _) => most,
        (Some(bound), _) => Duration::from_ns(random.below(bound)),
    }
}
