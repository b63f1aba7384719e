// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds changes with which an unproved workload would be proved: `tidegate check` shows them for a
//! workload, and a service shows them for its exports.
//!
//! Every change is proved before it is reported. The search works on terms and asks its caller
//! whether other terms would be proved, because only the caller knows what else depends on them.

use std::fmt;
use std::ops::Range;

use tidegate_model::{Duration, PolicyName, Task, Workload};

use crate::headroom::{ENTRIES_MAX, entries};
use crate::search::largest;
use crate::{Answer, Assessment, assess, headroom};

/// The largest number of times that the search doubles a period.
const DOUBLINGS: u32 = 6;

/// The denominator of the factors by which times are stretched.
const PARTS: u64 = 16;

/// The largest number of attempts to find deadlines for which the proof succeeds.
const DEADLINES_TRIED_MAX: usize = 4;

/// The largest number of policies that a change names.
const POLICIES_MAX: usize = 4;

/// The largest number of tasks of a workload for which changes of terms are sought.
const TASKS_MAX: usize = 1 << 10;

/// A change with which a workload would be proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A longer deadline for a task.
    Deadline {
        /// The task, or the entry of several tasks.
        name: String,
        /// The shortest deadline that is proved, rounded up to the microsecond.
        deadline: Duration,
    },
    /// Fewer requests for each job.
    Requests {
        /// The task or export.
        name: String,
        /// The largest number of requests that is proved.
        requests: u32,
    },
    /// Less frequent jobs.
    Period {
        /// The task or export.
        name: String,
        /// The longer period.
        period: Duration,
        /// The deadline that is proved with this period.
        deadline: Duration,
    },
    /// Fewer tasks of an entry.
    Count {
        /// The entry.
        name: String,
        /// The largest number of tasks that is proved.
        count: usize,
    },
    /// All tasks except one.
    Without {
        /// The task that is left out.
        name: String,
    },
    /// No guarantee for one export.
    AsBestEffort {
        /// The export that gets no guarantee.
        name: String,
    },
    /// Another policy.
    Policies(
        /// The policies that prove the workload as it is.
        Vec<PolicyName>,
    ),
    /// Several changes that suffice only together.
    Together(
        /// The changes.
        Vec<Change>,
    ),
}

impl Change {
    /// Returns a single change unchanged, and several as [`Self::Together`].
    fn of(mut changes: Vec<Self>) -> Self {
        if changes.len() == 1 { changes.remove(0) } else { Self::Together(changes) }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline { name, deadline } => {
                write!(f, "`{name}` with a deadline of {deadline} or more")
            }
            Self::Requests { name, requests } => {
                write!(f, "`{name}` with {} per period", tidegate_model::count(requests, "request"))
            }
            Self::Period { name, period, deadline } => {
                write!(f, "`{name}` with a period of {period} and a deadline of {deadline}")
            }
            Self::Count { name, count } => {
                write!(f, "at most {} like `{name}`", tidegate_model::count(count, "task"))
            }
            Self::Without { name } => write!(f, "all but `{name}`"),
            Self::AsBestEffort { name } => write!(f, "`{name}` as best effort"),
            Self::Policies(policies) => {
                let names: Vec<String> = policies.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "the policy {}", names.join(" or "))
            }
            Self::Together(changes) => {
                let all: Vec<String> = changes.iter().map(Self::to_string).collect();
                write!(f, "{}", all.join(" and "))
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
    /// The longest permitted response time.
    pub deadline: Duration,
}

impl Terms {
    fn of(task: &Task) -> Self {
        Self { requests: task.requests, period: task.period, deadline: task.deadline }
    }

    /// Returns these terms with period and deadline multiplied by `parts` / 16, rounded up to the
    /// microsecond.
    fn stretched(self, parts: u64) -> Option<Self> {
        let stretch = |time: Duration| {
            let ns = time.ns().checked_mul(parts)?.div_ceil(PARTS);
            Some(up_to_us(Duration::from_ns(ns)))
        };
        let (period, deadline) = (stretch(self.period)?, stretch(self.deadline)?);
        Some(Self { period, deadline, ..self })
    }
}

/// The result of a proof with other terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The bound of each entry that was given terms; `None` if none is known.
    pub bounds: Vec<Option<Duration>>,
    /// Whether everything is proved, other entries included.
    pub is_proven: bool,
}

/// Returns changes to the terms of these entries with which everything would be proved. The entries
/// are those whose deadlines are not proved. `prove` analyses the workload with other terms for
/// them, or returns `None` if it cannot. The changes are
/// - longer deadlines for all entries;
/// - for each entry, the largest number of requests;
/// - for each entry, the shortest period, in sixteenths of the last doubling, with a deadline that
///   grows in proportion;
/// - if neither longer deadlines nor one longer period suffices, longer periods for all entries,
///   with the deadlines that these permit.
///
/// # Complexity
/// About 20 proofs for each entry, and 50 for all together.
pub fn changes(
    entries: &[(&str, Terms)],
    mut prove: impl FnMut(&[Terms]) -> Option<Proof>,
) -> Vec<Change> {
    let asked: Vec<Terms> = entries.iter().map(|&(_, terms)| terms).collect();
    let names = || entries.iter().map(|(name, _)| (*name).to_owned());
    let period = |(name, terms): (String, &Terms)| {
        let Terms { period, deadline, .. } = *terms;
        Change::Period { name, period, deadline }
    };
    let mut found = Vec::new();
    let later = deadlines(&asked, &mut prove);
    if let Some(later) = &later {
        let changes = names().zip(later);
        let changes =
            changes.map(|(name, terms)| Change::Deadline { name, deadline: terms.deadline });
        found.push(Change::of(changes.collect()));
    }
    let mut is_one_enough = false;
    for (index, (name, terms)) in entries.iter().enumerate() {
        let mut would = |terms: Terms| {
            let mut changed = asked.clone();
            changed[index] = terms;
            prove(&changed).is_some_and(|proof| proof.is_proven).then_some(terms)
        };
        let fewer = 0..=terms.requests.saturating_sub(1);
        let fewer = largest(fewer, |requests| would(Terms { requests, ..*terms }).is_some());
        let requests = (fewer > 0).then_some(fewer);
        let name = || (*name).to_owned();
        found.extend(requests.map(|requests| Change::Requests { name: name(), requests }));
        if later.is_none() && entries.len() == 1 {
            // The search over all entries below includes this case, and may find another deadline.
            continue;
        }
        let longer = shortest(|parts| would(terms.stretched(parts)?));
        is_one_enough |= longer.is_some();
        // A longer period is worth suggesting only if it permits a shorter deadline.
        let later = later.as_ref().map(|later| later[index].deadline);
        let longer = longer.filter(|longer| later.is_none_or(|later| longer.deadline < later));
        found.extend(longer.map(|longer| period((name(), &longer))));
    }
    if later.is_none() && !is_one_enough {
        let longer = shortest(|parts| {
            let stretched: Option<Vec<Terms>> =
                asked.iter().map(|terms| terms.stretched(parts)).collect();
            let stretched = stretched?;
            let found = deadlines(&stretched, &mut prove)?;
            // A deadline beyond both the stretched period and the stretched deadline is of no use.
            let is_answer = |(found, asked): (&Terms, &Terms)| {
                found.deadline <= asked.deadline.max(asked.period)
            };
            found.iter().zip(&stretched).all(is_answer).then_some(found)
        });
        found.extend(longer.map(|terms| Change::of(names().zip(&terms).map(period).collect())));
    }
    found
}

/// Returns changes with which `workload`, which has this assessment, would be proved under the same
/// policy; empty if it is proved, or if nothing helps.
///
/// # Complexity
/// [`changes`], the headroom, and one assessment for each policy. Workloads of more than 16 entries
/// or 1,024 tasks get no changes.
pub fn fits(workload: &Workload, assessment: &Assessment) -> Vec<Change> {
    let policy = assessment.policy;
    let is_small = workload.tasks.len() <= TASKS_MAX && entries(workload).len() <= ENTRIES_MAX;
    if assessment.answer == Answer::Proven || workload.premises.void().is_some() || !is_small {
        return Vec::new();
    }
    let mut found = Vec::new();
    if assessment.answer == Answer::NotProven {
        let is_late = |entry: &Range<usize>| {
            assessment.tasks[entry.clone()].iter().any(|it| !it.is_deadline_met)
        };
        let late: Vec<Range<usize>> = entries(workload).into_iter().filter(is_late).collect();
        found = changes_of(workload, policy, &late);
        let room = headroom(workload, policy).unwrap_or_default();
        let fewer = room.into_iter().filter(|room| room.count_max > 0);
        found.extend(fewer.map(|room| Change::Count {
            name: workload.entries[room.entry as usize].clone(),
            count: room.count_max,
        }));
    }
    let proves =
        |other: &PolicyName| *other != policy && assess(workload, *other).answer == Answer::Proven;
    // A reader would first try the file's own policy and the default.
    let known = [workload.policy, PolicyName::Dqf];
    let others = PolicyName::ALL.into_iter().filter(|other| !known.contains(other));
    let mut others: Vec<PolicyName> =
        known.into_iter().chain(others).filter(proves).take(POLICIES_MAX).collect();
    others.dedup();
    found.extend((!others.is_empty()).then_some(Change::Policies(others)));
    found
}

/// Returns the changes to these entries, which are ranges of tasks; a change applies to all tasks
/// of an entry.
fn changes_of(workload: &Workload, policy: PolicyName, late: &[Range<usize>]) -> Vec<Change> {
    let terms = late.iter().map(|entry| {
        let first = &workload.tasks[entry.start];
        (&*workload.entries[first.entry as usize], Terms::of(first))
    });
    let prove = |terms: &[Terms]| {
        let mut changed = workload.clone();
        for (entry, &Terms { requests, period, deadline }) in late.iter().zip(terms) {
            for task in &mut changed.tasks[entry.clone()] {
                (task.requests, task.period, task.deadline) = (requests, period, deadline);
            }
        }
        let assessed = assess(&changed, policy);
        let bound = |entry: &Range<usize>| {
            let bounds = assessed.tasks[entry.clone()].iter().map(|task| task.response_max);
            let bounds: Option<Vec<Duration>> = bounds.map(|bound| bound.map(|it| it.0)).collect();
            bounds?.into_iter().max()
        };
        let bounds = late.iter().map(bound).collect();
        Some(Proof { bounds, is_proven: assessed.answer == Answer::Proven })
    };
    changes(&terms.collect::<Vec<_>>(), prove)
}

/// Returns these terms with deadlines that are long enough for a proof; `None` if none are found.
/// Each attempt raises the deadlines to the bounds of the previous attempt. One attempt may not
/// suffice, because a policy may choose its batches by the deadlines.
fn deadlines(
    asked: &[Terms],
    mut prove: impl FnMut(&[Terms]) -> Option<Proof>,
) -> Option<Vec<Terms>> {
    let mut tried = asked.to_vec();
    for _ in 0..DEADLINES_TRIED_MAX {
        let proof = prove(&tried)?;
        if proof.is_proven {
            return Some(tried);
        }
        let mut is_longer = false;
        for (terms, bound) in tried.iter_mut().zip(proof.bounds) {
            let bound = up_to_us(bound?);
            is_longer |= bound > terms.deadline;
            terms.deadline = terms.deadline.max(bound);
        }
        if !is_longer {
            return None;
        }
    }
    None
}

/// Returns the result of `find` for the smallest number of sixteenths for which it has one, to
/// within a sixteenth of the last doubling.
fn shortest<T>(mut find: impl FnMut(u64) -> Option<T>) -> Option<T> {
    let mut doubled = (1..=DOUBLINGS).map(|doublings| PARTS << doublings);
    let (parts, mut found) = doubled.find_map(|parts| Some((parts, find(parts)?)))?;
    let (mut least, mut too_short) = (parts, parts / 2);
    while least - too_short > parts / 2 / PARTS {
        let middle = too_short + (least - too_short) / 2;
        match find(middle) {
            Some(shorter) => (least, found) = (middle, shorter),
            None => too_short = middle,
        }
    }
    Some(found)
}

/// Rounds up to the next microsecond, for display.
pub fn up_to_us(time: Duration) -> Duration {
    Duration::from_us(time.ns().div_ceil(1_000))
}

#[cfg(test)]
mod tests {
    use tidegate_model::{BatchTable, Bytes};

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    const fn terms(requests: u32) -> Terms {
        Terms { requests, period: ms(100), deadline: ms(50) }
    }

    fn told(
        entries: &[(&str, Terms)],
        prove: impl FnMut(&[Terms]) -> Option<Proof>,
    ) -> Vec<String> {
        changes(entries, prove).iter().map(Change::to_string).collect()
    }

    /// Returns a proof without bounds, which offers no deadline.
    fn unbounded(is_proven: bool, terms: &[Terms]) -> Proof {
        Proof { bounds: vec![None; terms.len()], is_proven }
    }

    #[test]
    fn the_most_requests_and_the_shortest_period_that_do_are_found() {
        let would = |terms: &[Terms]| {
            Some(unbounded(terms[0].requests <= 3 || terms[0].period >= ms(300), terms))
        };
        let expected = [
            "`a` with 3 requests per period",
            "`a` with a period of 300ms and a deadline of 150ms",
        ];
        assert_eq!(told(&[("a", terms(8))], would), expected);
        assert_eq!(changes(&[("a", terms(8))], |terms| Some(unbounded(false, terms))), []);
    }

    #[test]
    fn a_deadline_is_told_only_if_it_is_proved() {
        // The bound grows with the deadline until 80 ms.
        let of_bound = |terms: &[Terms]| {
            let bound = if terms[0].deadline < ms(60) { ms(60) } else { ms(80) };
            Some(Proof { bounds: vec![Some(bound)], is_proven: terms[0].deadline >= ms(80) })
        };
        let found = Terms { deadline: ms(80), ..terms(1) };
        assert_eq!(deadlines(&[terms(1)], of_bound), Some(vec![found]));
        let never = |_: &[Terms]| Some(Proof { bounds: vec![Some(ms(50))], is_proven: false });
        assert_eq!(deadlines(&[terms(1)], never), None);
        assert_eq!(deadlines(&[terms(1)], |terms| Some(unbounded(false, terms))), None);
        assert_eq!(deadlines(&[terms(1)], |_| None), None);
    }

    /// Goal: changes that suffice only together are reported together, and only if they are proved.
    /// Method: two entries, each of which alone keeps the workload from being proved.
    #[test]
    fn changes_that_suffice_only_together_are_told_together() {
        let both = [("a", terms(1)), ("b", terms(1))];
        let by_deadline = |terms: &[Terms]| {
            let is_proven = terms[0].deadline >= ms(60) && terms[1].deadline >= ms(70);
            Some(Proof { bounds: vec![Some(ms(60)), Some(ms(70))], is_proven })
        };
        let expected =
            ["`a` with a deadline of 60ms or more and `b` with a deadline of 70ms or more"];
        assert_eq!(told(&both, by_deadline), expected);
        let by_load = |terms: &[Terms]| {
            Some(unbounded(terms.iter().all(|terms| terms.period >= ms(200)), terms))
        };
        let expected =
            ["`a` with a period of 200ms and a deadline of 100ms and `b` with a period \
                         of 200ms and a deadline of 100ms"];
        assert_eq!(told(&both, by_load), expected);
        let by_one = |terms: &[Terms]| Some(unbounded(terms[1].period >= ms(150), terms));
        assert_eq!(told(&both, by_one), ["`b` with a period of 150ms and a deadline of 75ms"]);
        // A bound exists only with a longer period, and exceeds the deadline that grows in
        // proportion.
        let by_both = |terms: &[Terms]| {
            let is_bounded = terms.iter().all(|terms| terms.period >= ms(150));
            let is_proven = is_bounded && terms.iter().all(|terms| terms.deadline >= ms(140));
            Some(Proof { bounds: vec![is_bounded.then_some(ms(140)); terms.len()], is_proven })
        };
        let expected =
            ["`a` with a period of 150ms and a deadline of 140ms and `b` with a period \
                         of 150ms and a deadline of 140ms"];
        assert_eq!(told(&both, by_both), expected);
        let expected = ["`a` with a period of 150ms and a deadline of 140ms"];
        assert_eq!(told(&both[..1], by_both), expected);
    }

    /// Returns entries of tasks on a drive with b(1) = 10 us.
    fn workload(entries: u32, tasks_each: u32, deadline: Duration) -> Workload {
        let table = BatchTable::new(&[Duration::from_us(10)]).expect("one positive time");
        let task = |entry| {
            let periodic = Task::periodic(format!("task-{entry}"), ms(1_000), Bytes::from_kib(4));
            Task { entry, deadline, ..periodic }
        };
        let tasks = (0..entries * tasks_each).map(|number| task(number / tasks_each)).collect();
        let names = (0..entries).map(|entry| format!("task-{entry}")).collect();
        Workload { tasks, entries: names, ..Workload::new("drive", 1, table) }
    }

    /// Goal: changes are sought exactly for workloads that are not proved, up to the documented
    /// sizes. Method: deadlines of 1 us, which no policy can meet; longer deadlines suffice.
    #[test]
    fn changes_are_sought_for_small_unproved_workloads() {
        let fits_of = |entries, tasks_each, deadline| {
            let workload = workload(entries, tasks_each, deadline);
            fits(&workload, &assess(&workload, PolicyName::Dqf))
        };
        let late = Duration::from_us(1);
        for (entries, tasks_each, is_small) in
            [(16, 1, true), (17, 1, false), (1, 1 << 10, true), (1, (1 << 10) + 1, false)]
        {
            let found = fits_of(entries, tasks_each, late);
            assert_eq!(!found.is_empty(), is_small, "{entries} entries of {tasks_each}: {found:?}");
        }
        assert_eq!(fits_of(16, 1, ms(1_000)), [], "proved as it is");
    }
}
