// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measured interference as a bound on demand: what a `*.cpu.toml` profile implies for any window.
//!
//! Interference is the demand of a service above every task, measured over windows of any phase. A
//! window that starts at a critical instant is one of them, even if some task is more urgent than
//! the service: from such an instant on, a service that waits executes no sooner than one that does
//! not (docs/theory/processors.md section 17). If a task is more urgent than the service, windows
//! that start elsewhere can contain more, and nothing here bounds them.

use tidegate_cpu_model::{CpuProfile, DemandFit, InterferenceBound, StolenPoint, WHOLE_PPB};
use tidegate_model::Duration;

use super::ratio::Ratio;

/// A bound on the time that can be stolen in windows of any length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredDemand {
    name: String,
    priority: Option<u32>,
    shape: Shape,
    longest: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// A line, and the margin added to it.
    Line(DemandFit, Duration),
    /// At least one point, in ascending order of length. The stolen times do not decrease, and each
    /// includes the margin.
    Steps(Vec<StolenPoint>),
}

/// The profile does not have the requested fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the profile has no fit `{bound}`")]
pub struct MissingFit {
    /// The requested bound.
    pub bound: InterferenceBound,
}

impl MeasuredDemand {
    /// Creates the bound of a profile, raised by `margin` in every window.
    ///
    /// # Errors
    /// If the profile does not have the fit. The bound by points always exists.
    pub fn new(
        profile: &CpuProfile,
        bound: InterferenceBound,
        margin: Duration,
    ) -> Result<Self, MissingFit> {
        let line = |fit| Shape::Line(fit, margin);
        let shape = match bound {
            InterferenceBound::Demand => profile.demand_fit.map(line),
            InterferenceBound::Load => profile.load_fit.map(|fit| line(fit.to_demand())),
            InterferenceBound::Points => Some(Shape::Steps(profile.raised_by(margin))),
        };
        let longest = profile.points.last().map_or(Duration::ZERO, |point| point.interval);
        Ok(Self {
            name: profile.name.clone(),
            priority: profile.conditions.priority,
            shape: shape.ok_or(MissingFit { bound })?,
            longest,
        })
    }

    /// Returns the name of the profile.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the SCHED_FIFO priority of the measuring thread; threads of this priority or a lower
    /// one are not included. `None` if it had no real-time priority.
    pub fn priority(&self) -> Option<u32> {
        self.priority
    }

    /// Returns the longest measured interval.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns whether the bound for this window is extrapolated. Beyond the longest measured
    /// interval, a line assumes that nothing worse can come, whereas points count such a window as
    /// several shorter ones.
    pub fn is_extrapolated_in(&self, window: Duration) -> bool {
        window > self.longest && matches!(self.shape, Shape::Line(..))
    }

    /// Returns the share of the processor that can be stolen in the long run.
    pub fn utilization(&self) -> Ratio {
        match &self.shape {
            Shape::Line(fit, _) => {
                Ratio::new(u128::from(fit.utilization_ppb), u128::from(WHOLE_PPB))
            }
            Shape::Steps(points) => points.last().map_or(Ratio::ZERO, |last| {
                Ratio::new(u128::from(last.stolen_max.ns()), u128::from(last.interval.ns()))
            }),
        }
    }

    /// Returns the time in ns that can be stolen in a window of this length, not limited to the
    /// window; `None` beyond 64 bits.
    ///
    /// # Bound
    /// A line: `c + ceil(u D)` plus the margin m. Points: the y + m of the shortest interval that
    /// is at least D long; beyond the longest interval L, `floor(D / L) (y(L) + m) + y(D mod L) +
    /// m`. The time stolen in a window is at most the sum of the times stolen in its parts, and
    /// each part can have been measured too low.
    ///
    /// # Source
    /// Dissertation, 5.4 and Theorem 5.4.1. A measured maximum is no proof:
    /// docs/theory/processors.md section 17.
    pub fn demand_ns(&self, window_ns: u64) -> Option<u64> {
        if window_ns == 0 {
            return Some(0);
        }
        match &self.shape {
            Shape::Line(fit, margin) => fit.demand_ns(window_ns)?.checked_add(margin.ns()),
            Shape::Steps(points) => steps_ns(points, window_ns),
        }
    }
}

fn steps_ns(points: &[StolenPoint], window_ns: u64) -> Option<u64> {
    let last = points.last()?;
    let (whole, rest) = (window_ns / last.interval.ns(), window_ns % last.interval.ns());
    let next = points.partition_point(|point| point.interval.ns() < rest);
    let of_rest = if rest == 0 { 0 } else { points[next].stolen_max.ns() };
    last.stolen_max.ns().checked_mul(whole)?.checked_add(of_rest)
}
