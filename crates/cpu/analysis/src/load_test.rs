// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The test of loads: a task meets its deadline if its own share of it and the loads of all that
//! is as urgent or more do not exceed 1.

use tidegate_model::Duration;

use super::demand::{DemandBound, Source};
use super::level::Level;
use super::ratio::Ratio;

/// What is demanded of the window from a task's release to its deadline, its own job included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    demand: Ratio,
    window: Duration,
}

impl Load {
    /// Whether it is at most 1: the task meets its deadline.
    pub fn is_met(self) -> bool {
        self.demand.is_at_most(u128::from(self.window.ns()))
    }

    /// In parts per million, rounded up: above 1,000,000 if and only if it is not met. None where
    /// there is no window, or no number for it.
    pub fn ppm(self) -> Option<u64> {
        if self.window.is_zero() {
            return None;
        }
        let ppm = self.demand.ppm_of(self.window.ns())?;
        // Rounded up twice: what is exactly met must not look as if it were not.
        Some(if self.is_met() { ppm.min(1_000_000) } else { ppm.max(1_000_001) })
    }
}

/// The load at a task's deadline; none where the test does not apply, or on overflow.
///
/// # Bound
/// `e_k / d_k + sum over i of load_i(d_k) <= 1`, the window being what jitter leaves of the
/// deadline, blocking and overruns added once.
///
/// # Source
/// Dissertation, 5.3.0.7 with 5.3.0.4 (ceil), 5.3.0.8 (refined) or 5.3.0.9 (hyperbolic); that it is
/// right although 5.3.0.5 is no bound on every window: docs/theory/processors.md section 16.
///
/// # Assumptions
/// The deadline is not beyond the period: the test looks at one job. Checked.
///
/// # Complexity
/// One evaluation for each different source.
pub fn load_test(
    level: &Level<'_>,
    own: &Source,
    deadline: Duration,
    bound: DemandBound,
) -> Option<Load> {
    if deadline > own.period {
        return None;
    }
    let window = deadline.checked_sub(own.jitter).unwrap_or_default();
    let own_demand = Ratio::whole(u128::from(own.execution.ns()));
    Some(Load { demand: level.demand(bound, window)?.add_ceil(own_demand)?, window })
}
