// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The load test: a task meets its deadline if its own load and the loads of everything at least
//! as urgent sum to at most 1.

use tidegate_model::Duration;

use super::demand::{DemandBound, Source};
use super::level::Level;
use super::ratio::Ratio;

/// The load of a task at its deadline: the demand, its own job included, in the window up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    demand: Ratio,
    window: Duration,
}

impl Load {
    /// Returns whether the demand fits into the window, so that the task meets its deadline.
    pub fn is_met(self) -> bool {
        self.demand.is_at_most(u128::from(self.window.ns()))
    }

    /// Returns the load in parts per million, rounded up, so it exceeds 1,000,000 if and only if
    /// the test fails. `None` for an empty window, or if a `u64` cannot represent the load.
    pub fn ppm(self) -> Option<u64> {
        if self.window.is_zero() {
            return None;
        }
        let ppm = self.demand.ppm_of(self.window.ns())?;
        // The load was rounded up twice: a load that is met exactly must not look exceeded.
        Some(if self.is_met() { ppm.min(1_000_000) } else { ppm.max(1_000_001) })
    }
}

/// Returns the load at a task's deadline; `None` if the test does not apply, or on overflow.
///
/// # Bound
/// `e_k / d_k + sum over i of load_i(d_k) <= 1`; the window is the deadline minus the jitter, and
/// blocking and overruns are added once.
///
/// # Source
/// Dissertation, 5.3.0.7 with 5.3.0.4 (ceil), 5.3.0.8 (refined) or 5.3.0.9 (hyperbolic);
/// docs/theory/processors.md section 16 shows that it is correct although 5.3.0.5 does not bound
/// every window.
///
/// # Assumptions
/// The deadline is at most the period, because the test considers one job. This is checked.
///
/// # Complexity
/// One evaluation of the demand for each distinct source.
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
