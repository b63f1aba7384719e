// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bounds of one task, and the selection of the least.

use tidegate_model::Duration;

use crate::budget::Budget;
use crate::dqf::Caps;
use crate::{Inapplicable, SporadicTask, System, Verdict, dq_edf, dqf, edf};

/// The bounds of one task; `None` for a bound that does not apply or does not exist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The linear bound: [`dqf::linear`].
    pub linear: Option<Duration>,
    /// The busy-interval bound: [`dqf::busy_interval`].
    pub busy_interval: Option<Duration>,
    /// The minimum-period bound: [`dqf::min_period`].
    pub min_period: Option<Duration>,
    /// The tight bound: [`dqf::tight`]; for `fifo` [`crate::fifo::responses_with_best_effort`], for
    /// `edf` and `scan-edf` [`edf::responses`], for `scan-edf` with windows
    /// [`crate::edf_in_windows::responses`], for `dq-edf` [`dq_edf::tight`].
    pub tight: Option<Duration>,
    /// The bound that charges each request its own cost, if requests differ:
    /// [`crate::heterogeneous::responses`].
    pub mixed: Option<Duration>,
}

tidegate_model::names! {
    /// The name of the bound that gave the verdict.
    pub enum BoundName {
        /// The linear bound (Lemma 9.2.2).
        Linear => "linear",
        /// The busy-interval bound (Lemma 9.2.4).
        BusyInterval => "busy_interval",
        /// The minimum-period bound (Theorem 9.2.7).
        MinPeriod => "min_period",
        /// The tight bound: Theorems 1 to 3, their form for deadlines, or the exact bounds of FIFO
        /// and EDF.
        Tight => "tight",
        /// The bound that charges each request its own cost.
        Mixed => "mixed",
    }
}

impl BoundName {
    /// Returns whether the bound charges each request its own cost.
    pub const fn rests_on_costs(self) -> bool {
        match self {
            Self::Mixed => true,
            Self::Linear | Self::BusyInterval | Self::MinPeriod | Self::Tight => false,
        }
    }

    /// Returns the rank that breaks ties: of equal bounds, the one with the lowest rank is named.
    /// Tighter kinds have lower ranks.
    const fn rank(self) -> u8 {
        match self {
            Self::Tight => 0,
            Self::Mixed => 1,
            Self::MinPeriod => 2,
            Self::BusyInterval => 3,
            Self::Linear => 4,
        }
    }
}

impl Bounds {
    /// Returns the bound with this name.
    pub const fn of(&self, name: BoundName) -> Option<Duration> {
        match name {
            BoundName::Linear => self.linear,
            BoundName::BusyInterval => self.busy_interval,
            BoundName::MinPeriod => self.min_period,
            BoundName::Tight => self.tight,
            BoundName::Mixed => self.mixed,
        }
    }

    /// Returns the least bound and its name; among equal bounds, the name of the tightest kind.
    pub fn least(&self) -> Option<(Duration, BoundName)> {
        let bounds = BoundName::ALL.into_iter().filter_map(|name| Some((self.of(name)?, name)));
        bounds.min_by_key(|&(bound, name)| (bound, name.rank()))
    }

    /// Returns these bounds, each longer by `time`; a bound that overflows becomes `None`.
    pub(crate) fn later_by(self, time: Duration) -> Self {
        let later = |bound: Option<Duration>| bound?.checked_add(time);
        Self {
            linear: later(self.linear),
            busy_interval: later(self.busy_interval),
            min_period: later(self.min_period),
            tight: later(self.tight),
            mixed: later(self.mixed),
        }
    }

    /// Returns the larger of the two bounds of each name, or `None` if one of the two is `None`.
    pub(crate) fn worse(self, other: Self) -> Self {
        let larger = |name| self.of(name).zip(other.of(name)).map(|(a, b)| a.max(b));
        Self {
            linear: larger(BoundName::Linear),
            busy_interval: larger(BoundName::BusyInterval),
            min_period: larger(BoundName::MinPeriod),
            tight: larger(BoundName::Tight),
            mixed: larger(BoundName::Mixed),
        }
    }
}

/// Returns whether the least bound is within the deadline.
pub(crate) fn is_met(task: &SporadicTask, bounds: &Bounds) -> bool {
    let is_within = |bound: Option<Duration>| bound.is_some_and(|bound| bound <= task.deadline);
    BoundName::ALL.iter().any(|&name| is_within(bounds.of(name)))
}

/// Returns all bounds of dual-queue FIFO that are valid for this system.
///
/// With best effort, the minimum-period bound is omitted even if beta is 0: otherwise it would
/// appear and disappear with beta.
pub(crate) fn dqf_bounds(system: &System, is_shared: bool, budget: &Budget) -> Vec<Bounds> {
    let caps = Caps::of(system);
    let tight = dqf::tight_below(system, &caps, budget);
    let common = common_bounds(system, &caps, is_shared);
    tight.iter().map(|tight| Bounds { tight: tight.bound(), ..common }).collect()
}

/// Returns the bounds of dual-queue FIFO that all tasks share.
pub(crate) fn common_bounds(system: &System, caps: &Caps, is_shared: bool) -> Bounds {
    let min_period = if is_shared { None } else { dqf::min_period_ns(system) };
    let linear = caps.linear_ns.as_ref().ok().copied().flatten();
    let [linear, busy_interval, min_period] =
        [linear, caps.busy_ns, min_period].map(|bound| bound.map(Duration::from_ns));
    Bounds { linear, busy_interval, min_period, ..Bounds::default() }
}

/// Returns the bound of dual-queue EDF; bounds that rely on release order do not hold.
pub(crate) fn dq_edf_bounds(system: &System, budget: &Budget) -> Vec<Bounds> {
    only_tight(system, &Ok(dq_edf::tight_within(system, budget)))
}

/// Returns the bound of one-at-a-time EDF, which is exact.
pub(crate) fn edf_bounds(system: &System, is_shared: bool) -> Vec<Bounds> {
    only_tight(system, &edf_responses(system, is_shared))
}

/// Returns the bound of one-at-a-time EDF with or without best effort.
pub(crate) fn edf_responses(
    system: &System,
    is_shared: bool,
) -> Result<Vec<Verdict>, Inapplicable> {
    if is_shared { edf::responses_with_best_effort(system) } else { edf::responses(system) }
}

fn only_tight(system: &System, tight: &Result<Vec<Verdict>, Inapplicable>) -> Vec<Bounds> {
    let bounds = |task| Bounds { tight: bound_of(tight, task), ..Bounds::default() };
    (0..system.tasks.len()).map(bounds).collect()
}

/// Returns the bound of one task; `None` if the analysis does not apply or found no bound.
pub(crate) fn bound_of(
    bound: &Result<Vec<Verdict>, Inapplicable>,
    task: usize,
) -> Option<Duration> {
    bound.as_ref().ok().and_then(|verdicts| verdicts[task].bound())
}
