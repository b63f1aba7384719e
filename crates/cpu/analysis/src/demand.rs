// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The demand of a sporadic source for the processor, from a critical instant on: inequalities
//! 5.3.0.4 to 5.3.0.6 and, divided by the window, 5.3.0.8 and 5.3.0.9.

use tidegate_model::Duration;

use super::ratio::Ratio;

/// A sporadic source of demand: a task, or a server that behaves like one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// e, the longest execution of a job.
    pub execution: Duration,
    /// p, the least time between two arrivals.
    pub period: Duration,
    /// J, the longest time from arrival to release.
    pub jitter: Duration,
}

tidegate_model::listed! {
    /// The bounds on a source's demand.
    pub enum DemandBound {
        /// 5.3.0.4: whole jobs.
        Ceil,
        /// 5.3.0.5: the last job counts at most the rest of the window after its release.
        Refined,
        /// 5.3.0.6: the line through the corners of the refined bound; divided by the window, a
        /// hyperbola.
        Linear,
    }
}

impl Source {
    /// Creates a source without jitter.
    pub const fn new(execution: Duration, period: Duration) -> Self {
        Self { execution, period, jitter: Duration::ZERO }
    }

    /// Returns the share of the processor that the source needs in the long run.
    ///
    /// # Panics
    /// If the period is zero.
    pub fn utilization(&self) -> Ratio {
        Ratio::new(u128::from(self.execution.ns()), u128::from(self.period.ns()))
    }

    /// Returns an upper bound on the source's execution in a window of this length that starts at a
    /// critical instant.
    ///
    /// # Equation
    /// With D' = D + J and j = floor(D' / p), for D > 0:
    /// ceil: `ceil(D' / p) e`; refined: `min(D, j e + min(e, D' - j p))`;
    /// linear: `min(D, u (D' + p - e))`.
    ///
    /// # Source
    /// Dissertation, 5.3.0.4 to 5.3.0.6; with jitter docs/theory/processors.md section 15.
    /// **Correction:** the text calls them bounds on any window. They are not, for a task that can
    /// be delayed: with e = 4 and p = 10, executing in [6, 10) and [10, 14), it demands 8 in a
    /// window of 8, where the refined bound is 4.
    ///
    /// # Errors
    /// `None` if the bound exceeds 128 bits.
    ///
    /// # Panics
    /// If the period is zero.
    pub fn demand(&self, bound: DemandBound, window: Duration) -> Option<Ratio> {
        if window.is_zero() {
            return Some(Ratio::ZERO);
        }
        let width = u128::from(window.ns());
        let (execution, period) = (u128::from(self.execution.ns()), u128::from(self.period.ns()));
        let reach = width + u128::from(self.jitter.ns());
        match bound {
            DemandBound::Ceil => reach.div_ceil(period).checked_mul(execution).map(Ratio::whole),
            DemandBound::Refined => {
                let last = execution.min(reach % period);
                let demand = (reach / period).checked_mul(execution)?.checked_add(last)?;
                Some(Ratio::whole(demand.min(width)))
            }
            // The source needs more than the whole processor: the corners are above the window's
            // length, which limits the demand.
            DemandBound::Linear if execution > period => Some(Ratio::whole(width)),
            DemandBound::Linear => {
                let reach = reach + period - execution;
                Some(Ratio::new(reach.checked_mul(execution)?, period).at_most(width))
            }
        }
    }

    /// Returns the demand by [`DemandBound::Ceil`] in ns, `None` beyond 64 bits: the term that
    /// response-time analysis sums.
    pub(super) fn jobs_ns(&self, window_ns: u64) -> Option<u64> {
        if window_ns == 0 {
            return Some(0);
        }
        let reach = window_ns.checked_add(self.jitter.ns())?;
        reach.div_ceil(self.period.ns()).checked_mul(self.execution.ns())
    }
}
