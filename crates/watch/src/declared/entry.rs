// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The entries that a workload declares for a unit, and the requests that they may send.

use std::collections::VecDeque;

use tidegate_model::{Bytes, Duration, Op, Task, Time, Workload};

use crate::event::IoClass;

/// If the workload states no `release` time of the host, a release can be early by this part
/// (1/100) of a period. The block layer gets a request later than the program sends it, by a
/// varying delay.
const JITTER_PART: u64 = 100;

/// A `[[task]]` or `[[best_effort]]` entry that names a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredEntry {
    /// The entry's name in the file.
    pub name: String,
    /// The entry's systemd service.
    pub unit: String,
    pub(crate) op: Op,
    pub(crate) size: Bytes,
    pub(super) asks: Asks,
}

/// The requests that an entry may send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asks {
    /// The contract of tasks; every response must be within the bound.
    Contract { rates: Vec<Rate>, bound: Option<Duration> },
    /// The limit of a load: the maximum number of requests at the same time; `None` if there is no
    /// limit.
    AtOnce(Option<u32>),
}

impl DeclaredEntry {
    /// Merges an entry whose requests cannot be distinguished from those of this one.
    pub(super) fn join(&mut self, other: Self) {
        self.name = format!("{}, {}", self.name, other.name);
        match (&mut self.asks, other.asks) {
            (
                Asks::Contract { rates, bound },
                Asks::Contract { rates: more, bound: other_bound },
            ) => {
                Rate::join(rates, more.into_iter());
                *bound = bound.zip(other_bound).map(|(a, b)| a.max(b));
            }
            (Asks::AtOnce(most), Asks::AtOnce(more)) => {
                *most = most.zip(more).map(|(a, b)| a.saturating_add(b));
            }
            // A unit belongs either to tasks or to loads; otherwise the file is refused.
            (Asks::Contract { .. }, Asks::AtOnce(_)) | (Asks::AtOnce(_), Asks::Contract { .. }) => {
            }
        }
    }

    /// Returns the bound of its responses; `None` for a load, or if there is no proof.
    pub const fn bound(&self) -> Option<Duration> {
        match self.asks {
            Asks::Contract { bound, .. } => bound,
            Asks::AtOnce(_) => None,
        }
    }

    /// Returns whether the entry is a `[[task]]`.
    pub const fn is_task(&self) -> bool {
        matches!(self.asks, Asks::Contract { .. })
    }

    pub(super) fn is_above(&self, response: Duration) -> bool {
        self.bound().is_some_and(|bound| response > bound)
    }

    pub(super) const fn has_class(&self, class: IoClass) -> bool {
        let is_real_time = match class {
            IoClass::RealTime => true,
            IoClass::BestEffort | IoClass::Idle => false,
        };
        self.is_task() == is_real_time
    }
}

/// A limit on requests: at most `requests` in any `period`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    requests: u32,
    period: Duration,
}

impl Rate {
    /// Adds rates; rates with equal periods are merged into one.
    pub(super) fn join(rates: &mut Vec<Self>, more: impl Iterator<Item = Self>) {
        for rate in more {
            match rates.iter_mut().find(|known| known.period == rate.period) {
                Some(known) => known.requests = known.requests.saturating_add(rate.requests),
                None => rates.push(rate),
            }
        }
        // A request uses the rate with the shortest period first.
        rates.sort_by_key(|rate| rate.period);
    }

    /// Uses one of the rate's requests at this time. Returns whether one was left.
    pub(super) fn take(self, at: Time, taken: &mut VecDeque<Time>) -> bool {
        let is_back = |taken: &Time| taken.checked_add(self.period).is_some_and(|it| it <= at);
        while taken.front().is_some_and(is_back) {
            taken.pop_front();
        }
        let is_left = taken.len() < self.requests as usize;
        if is_left {
            taken.push_back(at);
        }
        is_left
    }
}

/// Returns the joint contract of an entry's tasks. Its periods are shorter than theirs by the
/// host's `release` and by their jitter, because two jobs can arrive at the block layer that much
/// closer together.
pub(super) fn contract(workload: &Workload, tasks: &[(&Task, Option<Duration>)]) -> Asks {
    let stated = workload.host.time().release;
    let rate = |&(task, _): &(&Task, _)| {
        let of_host = if stated.is_zero() {
            Duration::from_ns(task.period.ns() / JITTER_PART)
        } else {
            stated
        };
        let shorter = task.period.checked_sub(of_host + task.jitter).unwrap_or_default();
        Rate { requests: task.requests, period: shorter.max(Duration::from_ns(1)) }
    };
    let bounds: Option<Vec<Duration>> = tasks.iter().map(|(_, bound)| *bound).collect();
    let bound = bounds.and_then(|it| it.into_iter().max());
    let mut rates = Vec::new();
    Rate::join(&mut rates, tasks.iter().map(rate));
    Asks::Contract { rates, bound }
}
