// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds of the RTIO policies: class priority over a drive that keeps its own order.
//!
//! No bound here uses b(i). Each policy relies on one contract of the drive: `rtio` on its
//! starvation bound, `rtio-drain` and `rtio-limit` on its drain times, `rtio-priority` on its times
//! with priority. The last three send real-time requests in rounds, and one proof covers them.
//!
//! Sources: Stanovich, Baker and Wang, RTAS 2008, sections 3.1 (starvation), 3.2 (draining) and 3.4
//! (limiting), for one real-time request at a time; for several: own derivation.

use tidegate_model::{BatchTable, Duration, PolicyName, Premise, PremiseCode, Premises, Workload};

use crate::SporadicTask;
use crate::batch_choice::Choice;
use crate::bounds::{Bounds, is_met};
use crate::depth_cap::best_effort_limit;
use crate::search::largest;

/// Returns the longest response of a job whose requests go to the drive in rounds; `None` on
/// overflow.
///
/// # Bound
/// `R = max over 0 <= s < n of D(s) + D(n - s)` with `D(0) = 0`. n = `requests` is the largest
/// number of real-time requests at the same time, and D(s) = `round_time_max(s)` is the time within
/// which the s real-time requests of a round complete.
///
/// # Source
/// For n = 1: RTAS 2008, section 3.2. For larger n: own derivation.
///
/// *Rounds.* While a real-time request is on the drive, no other is sent; when none is, all waiting
/// requests are sent together. Treat each request as a separate task, n in all, so that nothing
/// depends on how the requests of a job are released. Claim, by induction over the rounds: a round
/// holds at most n requests, at most one of each task, and each of them is *good*: sent at t in a
/// round of s, it has `t + D(s) <= release + R`.
///
/// *A request that finds no real-time request on the drive* is sent immediately, with at most n - 1
/// others: t is its release, and D(s) <= D(n) <= R.
///
/// *A request k that finds others in flight* finds one round of s requests, sent at t <= its
/// release. It is sent when the last of them completes, at the latest at t + D(s). A task i of that
/// round was good, so it releases again at the earliest at `release + p_i > release + R >= t +
/// D(s)`: too late for the next round. So k's task is not in that round, s < n, the next round
/// holds at most n - s, and k is good: `t + D(s) + D(n - s) <= release_k + R`. Nor can a task have
/// two waiting requests: the first of them would have waited longer than its period, but it waits
/// at most D(s) <= R.
///
/// # Assumptions
/// - R is below every period, checked by the caller. For n = 1 equality suffices: a completion is
///   observed before a release at the same instant, so the request's predecessor has already left
///   the drive.
/// - Completions are observed before releases, and all releases at an instant before any decision:
///   the protocol of every host.
/// - The drive has room for a whole round in addition to the best effort on it, checked by the
///   caller.
/// - D is nondecreasing.
///
/// # Complexity
/// O(n).
pub fn response_in_rounds(
    requests: u32,
    round_time_max: impl Fn(u32) -> Duration,
) -> Option<Duration> {
    let after = |earlier: u32| {
        let waited = if earlier == 0 { Duration::ZERO } else { round_time_max(earlier) };
        waited.checked_add(round_time_max(requests - earlier))
    };
    let longest = |so_far: Duration, earlier| Some(so_far.max(after(earlier)?));
    (0..requests).try_fold(Duration::ZERO, longest)
}

/// Returns the best-effort depth that leaves drive slots free for all real-time requests, for a
/// policy that promises nothing.
pub(crate) fn depth_beside(workload: &Workload, tasks: &[SporadicTask]) -> u32 {
    requests_of(tasks, workload.depth).map_or(0, |requests| workload.depth - requests)
}

/// Returns n: the real-time requests that can be outstanding while every job responds within its
/// period.
fn requests_of(tasks: &[SporadicTask], depth: u32) -> Result<u32, &'static str> {
    let sum: u64 = tasks.iter().map(|task| u64::from(task.requests)).sum();
    u32::try_from(sum).ok().filter(|&sum| sum <= depth).ok_or(
        "the tasks can release more requests together than the drive accepts at once, so some \
         wait outside the drive, where its contracts do not apply",
    )
}

/// The input to a choice: tasks on a drive, before the best-effort depth is chosen. Each theorem
/// then gives a bound for the tasks and the best-effort depth that it allows beside them.
pub(crate) struct Question<'a> {
    workload: &'a Workload,
    tasks: &'a [SporadicTask],
    /// n: the number of real-time requests that can be outstanding together, at most K.
    requests: u32,
    /// The largest depth of best effort that the workload file allows.
    best_effort_max: u32,
}

impl<'a> Question<'a> {
    /// Returns the input to the choice for `tasks` under `policy` on the drive of `workload`.
    ///
    /// # Errors
    /// A sentence, without its full stop, that says why nothing can be promised.
    pub(crate) fn of(
        workload: &'a Workload,
        policy: PolicyName,
        tasks: &'a [SporadicTask],
    ) -> Result<Self, &'static str> {
        let requests = requests_of(tasks, workload.depth)?;
        let best_effort_max = best_effort_limit(workload, policy, tasks).unwrap_or(u32::MAX);
        Ok(Self { workload, tasks, requests, best_effort_max })
    }

    /// Returns the choice for `rtio`.
    ///
    /// # Bound
    /// `R = starvation_max` for every task: a request is sent at its release.
    ///
    /// # Source
    /// RTAS 2008, section 3.1, for one request. For n requests: best effort takes at most D - n
    /// slots, where D <= K requests were on the drive during the measurement. While R is within
    /// every period, at most n real-time requests are released and not complete. So each has a slot
    /// at its release, and never more than D are on the drive.
    ///
    /// # Assumptions
    /// R <= p_i for every task, checked. Equality suffices, because completions are observed before
    /// releases at the same instant.
    pub(crate) fn by_starvation(&self) -> Result<Choice, &'static str> {
        let response = self.workload.contracts.starvation_max.ok_or(
            "this drive's starvation of requests like these was not measured, and `rtio` does \
             not limit it: measure `starvation` with them, give starvation_ns_max in the \
             drive file, or use `rtio-limit`",
        )?;
        let depth = self.measured_depth(self.workload.contracts.starvation_depth);
        let best_effort_depth = depth.checked_sub(self.requests).ok_or(
            "the tasks can release more requests together than were on the drive during the \
             measurement of its starvation bound: measure `starvation` with a larger --depth",
        )?;
        let text = format!(
            "the bound rests on the drive's starvation bound: no request stays on the drive \
             longer than {response}, whatever else is sent{}",
            self.limited_to(depth)
        );
        let contract = Premise::new(PremiseCode::StarvationContract, "the starvation bound", text);
        let promise = Promise::of(Some(response), self.is_within_periods(response));
        Ok(self.choice(best_effort_depth, promise, [contract]))
    }

    /// Returns the choice for `rtio-drain`, with the largest admissible best-effort depth.
    pub(crate) fn by_drain(&self) -> Result<Choice, &'static str> {
        self.drained_beside(|_, _, most| most)
    }

    /// Returns the choice for `rtio-limit`, with the largest best-effort depth under which every
    /// provable deadline stays proven.
    pub(crate) fn by_limited_drain(&self) -> Result<Choice, &'static str> {
        self.drained_beside(Self::most_that_costs_no_proof)
    }

    /// Returns the choice for `rtio-drain` or `rtio-limit` beside this best-effort depth, or the
    /// largest admissible one if that is less.
    pub(crate) fn drained_beside_depth(&self, depth: u32) -> Result<Choice, &'static str> {
        self.drained_beside(|_, _, most| most.min(depth))
    }

    /// Returns the choice for `rtio-drain` or `rtio-limit`. `depth` picks the best-effort depth
    /// from 0 to the largest admissible one.
    ///
    /// # Bound
    /// [`response_in_rounds`] with `D(s) = drain(q_b + s)`. After a round of s real-time requests,
    /// which tops up best effort to q_b, at most q_b + s requests are on the drive. Nothing more is
    /// sent until the real-time requests complete, which takes at most drain(q_b + s).
    ///
    /// # Assumptions
    /// q_b + n is within the drive's depth and the table. Without best effort q_b = 0.
    fn drained_beside(
        &self,
        depth: impl Fn(&Self, &BatchTable, u32) -> u32,
    ) -> Result<Choice, &'static str> {
        let drain = self.workload.contracts.drain.as_ref().ok_or(
            "the drive has no drain times for these requests: measure them, or write drain_ns_max \
             into an inline drive",
        )?;
        let together = self.workload.depth.min(drain.batch_max());
        let most = match together.checked_sub(self.requests) {
            _ if self.tasks.is_empty() => self.workload.depth,
            None => {
                return Err("the tasks can release more requests together than the drive's \
                            drain times cover: measure them to its full depth");
            }
            Some(_) if self.workload.best_effort.is_empty() => 0,
            Some(most) => most,
        };
        let best_effort_depth = depth(self, drain, most.min(self.best_effort_max));
        let promise = self.drained(drain, best_effort_depth);
        if self.tasks.is_empty() {
            return Ok(self.choice(best_effort_depth, promise, []));
        }
        let requests = best_effort_depth + self.requests;
        let text = format!(
            "the bound rests on the drive's drain times: with up to {requests} on the drive and \
             nothing more sent, all complete within {}",
            drain.time_max(requests)
        );
        let contract = Premise::new(PremiseCode::DrainContract, "drain times", text);
        Ok(self.choice(best_effort_depth, promise, [contract]))
    }

    /// Returns the largest best-effort depth up to `most` that invalidates no proof. Returns 0 if
    /// nothing is proven without best effort, because there is then no slack. Bounds grow with the
    /// depth.
    fn most_that_costs_no_proof(&self, drain: &BatchTable, most: u32) -> u32 {
        let proven_count = |depth| {
            let bounds = self.drained(drain, depth).bounds();
            self.tasks.iter().filter(|task| is_met(task, &bounds)).count()
        };
        if self.tasks.is_empty() {
            return most;
        }
        let expected = proven_count(0);
        if expected == 0 {
            return 0;
        }
        largest(0..=most, |depth| proven_count(depth) == expected)
    }

    fn drained(&self, drain: &BatchTable, best_effort_depth: u32) -> Promise {
        self.in_rounds(|requests| drain.time_max(best_effort_depth + requests))
    }

    /// Returns the choice for `rtio-priority`.
    ///
    /// # Bound
    /// [`response_in_rounds`] with `D(s) = priority(s)`: the longest time that s requests with the
    /// drive's priority take, sent together to a drive that holds no others of their kind but is
    /// kept full.
    ///
    /// # Assumptions
    /// n is within the table. Best effort is at most D - n deep, where D <= K requests were on the
    /// drive during the table's measurement.
    pub(crate) fn by_priority(&self) -> Result<Choice, &'static str> {
        let priority = self.workload.contracts.priority.as_ref().ok_or(
            "the drive has no times for requests with its own priority: measure them, or write \
             priority_ns_max into an inline drive",
        )?;
        if self.requests > priority.batch_max() {
            return Err("the tasks can release more requests together than the drive's times \
                        with priority cover: measure them for more requests");
        }
        let tag = self.workload.parameters.rtio_priority.tag.name();
        let promise = self.in_rounds(|requests| priority.time_max(requests));
        let depth = self.measured_depth(self.workload.contracts.priority_depth);
        let best_effort_depth = depth.checked_sub(self.requests).ok_or(
            "the tasks can release more requests together than were on the drive during the \
             measurement of its times with priority: measure `priority` with a larger --depth",
        )?;
        if self.tasks.is_empty() {
            return Ok(self.choice(best_effort_depth, promise, []));
        }
        let text = format!(
            "the bound rests on the drive's own priority: {} sent together with the tag `{tag}`, \
             while none like them is on the drive, complete within {}, whatever else is sent{}",
            self.requests,
            priority.time_max(self.requests),
            self.limited_to(depth)
        );
        let contract = Premise::new(PremiseCode::PriorityContract, "times with priority", text);
        let ignored = dishonour(priority.time_max(1), self.workload.table.time_max(1));
        Ok(self.choice(best_effort_depth, promise, [contract].into_iter().chain(ignored)))
    }

    /// Returns D: the largest number of requests on the drive for which a contract holds, given the
    /// depth at which it was `measured`. If there are no tasks, the contract is not used.
    fn measured_depth(&self, measured: Option<u32>) -> u32 {
        let depth = self.workload.depth;
        if self.tasks.is_empty() { depth } else { measured.map_or(depth, |it| it.min(depth)) }
    }

    /// Returns the clause about a depth below the drive's, or an empty string.
    fn limited_to(&self, depth: u32) -> String {
        if depth == self.workload.depth {
            return String::new();
        }
        format!(
            ", with at most {depth} on it as in the measurement; it accepts {}",
            self.workload.depth
        )
    }

    fn in_rounds(&self, round_time_max: impl Fn(u32) -> Duration) -> Promise {
        let response = response_in_rounds(self.requests, round_time_max);
        let is_within = |response| match self.requests {
            0 | 1 => self.is_within_periods(response),
            _ => self.tasks.iter().all(|task| response < task.period),
        };
        Promise::of(response, response.is_some_and(is_within))
    }

    fn is_within_periods(&self, response: Duration) -> bool {
        self.tasks.iter().all(|task| response <= task.period)
    }

    fn choice(
        &self,
        best_effort_depth: u32,
        promise: Promise,
        premises: impl IntoIterator<Item = Premise>,
    ) -> Choice {
        let mut premises: Premises = premises.into_iter().collect();
        if promise == Promise::PileUp {
            premises.push(Premise::new(
                PremiseCode::PileUp,
                "requests that pile up",
                "no bound holds: a task may release again before its last job is certain to be \
                 complete, requests may pile up, and the drive's contract does not cover that",
            ));
        }
        let bounds = vec![promise.bounds(); self.tasks.len()];
        Choice {
            best_effort_depth: Some(best_effort_depth),
            premises,
            ..Choice::of_batches(self.workload.table.batch_max(), 0, bounds)
        }
    }
}

/// The promise to all tasks of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// A response time that is within every period.
    Bound(Duration),
    /// No bound: a job can be released before the previous one is complete.
    PileUp,
}

impl Promise {
    fn of(response: Option<Duration>, is_within_periods: bool) -> Self {
        response.filter(|_| is_within_periods).map_or(Self::PileUp, Self::Bound)
    }

    fn bounds(self) -> Bounds {
        match self {
            Self::Bound(response) => Bounds { tight: Some(response), ..Bounds::default() },
            Self::PileUp => Bounds::default(),
        }
    }
}

/// Returns the premise about a drive whose profile shows that it does not honour the priority.
///
/// A drive that honours it finishes the request in service and serves the priority request next:
/// two services of at most b(1) each. A drive that ignores it treats the request like any other. By
/// Little's law requests then spend K / throughput on the drive on average, whatever the order: the
/// time of a full queue, and the measured maximum is no less. So a maximum above two services shows
/// that others were served first. A maximum below that does not distinguish the two, as on a drive
/// that holds one or two requests.
fn dishonour(single: Duration, service_max: Duration) -> Option<Premise> {
    let two_services = service_max.checked_mul(2)?;
    (single > two_services).then(|| {
        let text = format!(
            "the drive's profile shows that it does not honour the priority: a request with it \
             took up to {single}, while the request in service and itself take at most \
             {two_services}; the bound is still the profile's"
        );
        Premise::new(PremiseCode::PriorityIgnored, "an ignored priority", text)
    })
}
