// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds changes with which an unproved workload would be proved: `tidegate check` shows them for a
//! workload, a service for its exports.
//!
//! Every change is proved before it is reported. The search works on terms and asks its caller
//! whether other terms would be proved, because only the caller knows what else depends on them.

use std::fmt;

use tidegate_model::{Duration, PolicyName, Task, Workload};

use crate::headroom::{ENTRIES_MAX, entries};
use crate::{Answer, assess, headroom};

/// The number of times that a period is doubled.
const DOUBLINGS: u32 = 6;

/// The parts of a time by which it is stretched.
const PARTS: u64 = 16;

/// The most policies that a change names.
const POLICIES_MAX: usize = 4;

/// The size of the largest workload for which changes of terms are sought.
const TASKS_MAX: usize = 1 << 10;

/// A change with which a workload would be proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A longer deadline for a task.
    Deadline {
        /// The task, or the entry of several tasks.
        name: String,
        /// The least deadline, rounded up to the microsecond.
        deadline: Duration,
    },
    /// Fewer requests for each job.
    Requests {
        /// The task or export.
        name: String,
        /// The largest number of requests.
        requests: u32,
    },
    /// Less frequent jobs.
    Period {
        /// The task or export.
        name: String,
        /// The period.
        period: Duration,
        /// The deadline.
        deadline: Duration,
    },
    /// Fewer tasks of an entry.
    Count {
        /// The entry.
        name: String,
        /// The largest number of tasks.
        count: usize,
    },
    /// All tasks except one.
    Without {
        /// The task.
        name: String,
    },
    /// No guarantee for one export.
    AsBestEffort {
        /// The export.
        name: String,
    },
    /// Another policy.
    Policies(
        /// The policies that prove the workload as it is.
        Vec<PolicyName>,
    ),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline { name, deadline } => {
                write!(f, "`{name}` with a deadline of {deadline} or more")
            }
            Self::Requests { name, requests } => {
                let plural = if *requests == 1 { "" } else { "s" };
                write!(f, "`{name}` with {requests} request{plural} per period")
            }
            Self::Period { name, period, deadline } => {
                write!(f, "`{name}` with a period of {period} and a deadline of {deadline}")
            }
            Self::Count { name, count } => write!(f, "at most {count} tasks like `{name}`"),
            Self::Without { name } => write!(f, "all but `{name}`"),
            Self::AsBestEffort { name } => write!(f, "`{name}` as best effort"),
            Self::Policies(policies) => {
                let names: Vec<String> = policies.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "the policy {}", names.join(" or "))
            }
        }
    }
}

/// The demand of a task or a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The requests of one job.
    pub requests: u32,
    /// The least time between two jobs.
    pub period: Duration,
    /// The longest response time.
    pub deadline: Duration,
}

impl Terms {
    fn of(task: &Task) -> Self {
        Self { requests: task.requests, period: task.period, deadline: task.deadline }
    }

    /// Returns changes of these terms of `name` with which everything `would` be proved: the most
    /// requests, and the shortest period in sixteenths of the last doubling.
    pub fn changes(self, name: &str, mut would: impl FnMut(Self) -> bool) -> Vec<Change> {
        let name = || name.to_owned();
        let most = most(self.requests, |requests| would(Self { requests, ..self }));
        let requests = most.map(|requests| Change::Requests { name: name(), requests });
        let doubled = (1..=DOUBLINGS).map(|doublings| PARTS << doublings);
        let found =
            doubled.into_iter().find(|&parts| self.stretched(parts).is_some_and(&mut would));
        let shortest = found.map(|parts| {
            let (mut least, mut too_short) = (parts, parts / 2);
            while least - too_short > parts / 2 / PARTS {
                let middle = too_short + (least - too_short) / 2;
                let will_do = self.stretched(middle).is_some_and(&mut would);
                if will_do { least = middle } else { too_short = middle }
            }
            least
        });
        let period = shortest
            .and_then(|parts| self.stretched(parts))
            .map(|Self { period, deadline, .. }| Change::Period { name: name(), period, deadline });
        requests.into_iter().chain(period).collect()
    }

    /// Returns these terms with longer times: `parts` sixteenths, rounded up to the microsecond.
    fn stretched(self, parts: u64) -> Option<Self> {
        let stretch = |time: Duration| {
            let ns = time.ns().checked_mul(parts)?.div_ceil(PARTS);
            Some(up_to_us(Duration::from_ns(ns)))
        };
        let (period, deadline) = (stretch(self.period)?, stretch(self.deadline)?);
        Some(Self { period, deadline, ..self })
    }
}

/// Returns changes with which `workload` would be proved under `policy`; empty if it is proved, or
/// if nothing helps.
///
/// # Complexity
/// About 20 assessments for each entry that is not kept, the headroom, and one assessment for each
/// policy. Workloads of more than 16 entries or 1,024 tasks get no changes.
pub fn fits(workload: &Workload, policy: PolicyName) -> Vec<Change> {
    let assessment = assess(workload, policy);
    let is_small = workload.tasks.len() <= TASKS_MAX && entries(workload).len() <= ENTRIES_MAX;
    if assessment.answer == Answer::Proven || workload.premises.void().is_some() || !is_small {
        return Vec::new();
    }
    let mut found = Vec::new();
    if assessment.answer == Answer::NotProven {
        for entry in entries(workload) {
            if assessment.tasks[entry.clone()].iter().any(|task| !task.is_deadline_met) {
                found.extend(changes_of_entry(workload, policy, entry));
            }
        }
        let room = headroom(workload, policy).unwrap_or_default();
        let fewer = room.into_iter().filter(|room| room.count_max > 0);
        found.extend(fewer.map(|room| Change::Count {
            name: workload.entries[room.entry as usize].clone(),
            count: room.count_max,
        }));
    }
    let proves =
        |other: &PolicyName| *other != policy && assess(workload, *other).answer == Answer::Proven;
    // The file's own policy and the default are the first that a reader would take.
    let known = [workload.policy, PolicyName::Dqf];
    let others = PolicyName::ALL.into_iter().filter(|other| !known.contains(other));
    let mut others: Vec<PolicyName> =
        known.into_iter().chain(others).filter(proves).take(POLICIES_MAX).collect();
    others.dedup();
    found.extend((!others.is_empty()).then_some(Change::Policies(others)));
    found
}

/// Returns the changes to one entry's terms; they apply to all its tasks.
fn changes_of_entry(
    workload: &Workload,
    policy: PolicyName,
    entry: std::ops::Range<usize>,
) -> Vec<Change> {
    let first = &workload.tasks[entry.start];
    let name = &workload.entries[first.entry as usize];
    let with = |terms: Terms| {
        let mut changed = workload.clone();
        for task in &mut changed.tasks[entry.clone()] {
            let Terms { requests, period, deadline } = terms;
            (task.requests, task.period, task.deadline) = (requests, period, deadline);
        }
        changed
    };
    let would = |terms: Terms| assess(&with(terms), policy).answer == Answer::Proven;
    let terms = Terms::of(first);
    let deadline = least_deadline(terms, |terms| {
        let assessed = assess(&with(terms), policy);
        let bounds = assessed.tasks[entry.clone()].iter().map(|task| task.response_max);
        let bounds: Option<Vec<Duration>> = bounds.map(|bound| bound.map(|it| it.0)).collect();
        Some((bounds?.into_iter().max(), assessed.answer == Answer::Proven))
    });
    let changes = terms.changes(name, would);
    // A longer period is worth suggesting only if it permits a shorter deadline.
    let is_worse = |change: &Change| {
        let Change::Period { deadline: longer, .. } = change else { return false };
        deadline.is_some_and(|deadline| *longer >= deadline)
    };
    let changes = changes.into_iter().filter(|change| !is_worse(change));
    let deadline = deadline.map(|deadline| Change::Deadline { name: name.clone(), deadline });
    deadline.into_iter().chain(changes).collect()
}

/// Returns a deadline with which everything is proved: the bound that follows from the requested
/// deadline, or from the deadline found in the step before, because a policy may choose its batches
/// by the deadlines.
fn least_deadline(
    terms: Terms,
    bound: impl Fn(Terms) -> Option<(Option<Duration>, bool)>,
) -> Option<Duration> {
    let mut terms = terms;
    for _ in 0..3 {
        let (longest, is_proven) = bound(terms)?;
        if is_proven {
            return Some(terms.deadline);
        }
        let longer = up_to_us(longest?);
        if longer <= terms.deadline {
            return None;
        }
        terms.deadline = longer;
    }
    None
}

/// Returns the largest number below `count` that passes the test; `None` if 1 already fails.
fn most(count: u32, mut will_do: impl FnMut(u32) -> bool) -> Option<u32> {
    let (mut least, mut too_many) = (0, count);
    while too_many - least > 1 {
        let middle = least + (too_many - least) / 2;
        if will_do(middle) { least = middle } else { too_many = middle }
    }
    (least > 0).then_some(least)
}

/// Rounds up to the next microsecond, for display.
pub fn up_to_us(time: Duration) -> Duration {
    Duration::from_us(time.ns().div_ceil(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(requests: u32) -> Terms {
        let [period, deadline] = [100, 50].map(Duration::from_ms);
        Terms { requests, period, deadline }
    }

    #[test]
    fn the_most_requests_and_the_shortest_period_that_do_are_found() {
        let would = |terms: Terms| terms.requests <= 3 || terms.period >= Duration::from_ms(300);
        let changes: Vec<String> =
            terms(8).changes("a", would).iter().map(Change::to_string).collect();
        let expected = [
            "`a` with 3 requests per period",
            "`a` with a period of 300ms and a deadline of 150ms",
        ];
        assert_eq!(changes, expected);
        assert_eq!(terms(8).changes("a", |_| false), []);
    }

    #[test]
    fn a_deadline_is_told_only_if_it_is_proved() {
        let ms = |ms| Some(Duration::from_ms(ms));
        // The bound grows with the deadline until 80 ms.
        let bound = |terms: Terms| {
            let proven = terms.deadline >= Duration::from_ms(80);
            Some((if terms.deadline < Duration::from_ms(60) { ms(60) } else { ms(80) }, proven))
        };
        assert_eq!(least_deadline(terms(1), bound), ms(80));
        assert_eq!(least_deadline(terms(1), |_| Some((ms(50), false))), None);
        assert_eq!(least_deadline(terms(1), |_| None), None);
    }
}
