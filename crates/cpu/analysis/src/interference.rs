// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measured interference as a bound of demand: what a `*.cpu.toml` says about any window.
//!
//! It is that of a service above every task, measured over windows of any phase. A window that
//! starts at a critical instant is one of them, also where some task is more urgent than the
//! service: from such an instant on a service that waits executes no sooner than one that does not
//! (docs/theory/processors.md section 17). Windows that start elsewhere may hold more then, and nothing here is said
//! about them.

use tidegate_cpu_model::{CpuProfile, DemandFit, InterferenceBound, StolenPoint, WHOLE_PPB};
use tidegate_model::Duration;

use super::ratio::Ratio;

/// What may be stolen in windows of any length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredDemand {
    name: String,
    priority: Option<u32>,
    shape: Shape,
    longest: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// And what is added to it.
    Line(DemandFit, Duration),
    /// Nondecreasing, at ascending lengths, at least one; the margin is in each.
    Steps(Vec<StolenPoint>),
}

/// The profile has no such fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the profile has no fit `{bound}`")]
pub struct MissingFit {
    /// Which was asked for.
    pub bound: InterferenceBound,
}

impl MeasuredDemand {
    /// The bound that a profile gives, raised by `margin` in every window.
    ///
    /// # Errors
    /// When the profile has no such fit; it always has points.
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

    /// The name of the profile.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The priority of the thread that measured it: what is less urgent is not in it.
    pub fn priority(&self) -> Option<u32> {
        self.priority
    }

    /// The longest interval that was measured.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Whether what it says of this window is a guess: in longer ones than were measured a line goes on
    /// as if nothing worse could come, and points count such a window as several.
    pub fn is_extrapolated_in(&self, window: Duration) -> bool {
        window > self.longest && matches!(self.shape, Shape::Line(..))
    }

    /// What may be stolen in the long run.
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

    /// What may be stolen in a window of this length, in ns; not limited to the window, and none
    /// beyond 64 bits.
    ///
    /// # Bound
    /// A line: `c + ceil(u D)` and the margin m. Points: y + m of the next longer interval; beyond the
    /// longest L, `floor(D / L) (y(L) + m) + y(D mod L) + m`, since what is stolen in a window is no
    /// more than what is stolen in its parts, and each of them may have been measured too low.
    ///
    /// # Source
    /// Dissertation, 5.4 and Theorem 5.4.1. A measured maximum is no proof: docs/theory/processors.md section 17.
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
