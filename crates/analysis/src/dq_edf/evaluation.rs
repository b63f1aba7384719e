// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One evaluation of F at R for dual-queue EDF; [`super::tight`] defines the symbols.

use std::cell::Cell;

use crate::climb::Responses;
use crate::dqf::Demand;
use crate::dqf::busy_interval::window_batches;
use crate::dqf::carry_in::{self, Losses};
use crate::search::{HORIZON_NS, OFFSETS_MAX, least_fixed_point};
use crate::{SporadicTask, System};

/// One evaluation of the function F at the responses R.
pub(super) struct EdfEvaluation<'a> {
    system: &'a System,
    demand: &'a Demand,
    kinds: &'a [(SporadicTask, u64)],
    /// R per kind if every R_i <= p_i, so that no task has two jobs in a carry-in; otherwise
    /// `None`.
    within_period: Option<Vec<u64>>,
    /// Whether every R_i < p_i, so that no task has two jobs pending.
    is_strictly_within: bool,
    requests_sum: u64,
    full_batch_ns: u64,
    /// The maximum number of terms of N; the round is abandoned after them.
    terms_max: u64,
    terms_left: Cell<u64>,
}

/// A carry-in batch and the window of full batches after it.
struct Window {
    /// s: the number of requests in the carry-in batch.
    carried: u64,
    /// b(s): the longest time of the carry-in batch.
    carry_in_ns: u64,
    /// theta per kind: the earliest re-release of a task in the carry-in; empty if some response
    /// may exceed its period.
    again_ns: Vec<u64>,
    /// The latest dispatch of the window's last batch.
    end_ns: u64,
}

/// A job in a window.
struct Job<'a> {
    window: &'a Window,
    kind: usize,
    release_ns: u64,
    due_ns: u64,
}

impl<'a> EdfEvaluation<'a> {
    pub(super) fn new(
        system: &'a System,
        demand: &'a Demand,
        kinds: &'a [(SporadicTask, u64)],
        current: &Responses,
        terms_max: u64,
    ) -> Self {
        let pairs = || current.iter().zip(kinds);
        let within = |(response, (task, _)): (&Option<u64>, &(SporadicTask, u64))| {
            response.filter(|&response| response <= task.period.ns())
        };
        let strictly = |(response, (task, _)): (&Option<u64>, &(SporadicTask, u64))| {
            response.is_some_and(|response| response < task.period.ns())
        };
        Self {
            system,
            demand,
            kinds,
            within_period: pairs().map(within).collect(),
            is_strictly_within: pairs().all(strictly),
            requests_sum: system.requests_sum(),
            full_batch_ns: system.table.time_max(system.batch_max).ns(),
            terms_max,
            terms_left: Cell::new(terms_max),
        }
    }

    /// Returns the terms spent so far.
    pub(super) fn terms_spent(&self) -> u64 {
        self.terms_max - self.terms_left.get()
    }

    /// Returns F(R), per kind.
    pub(super) fn responses(&self) -> Responses {
        // Every kind tries the releases of every kind in at least one window.
        let count = self.kinds.len() as u64;
        let is_affordable = count.checked_mul(count).is_some_and(|least| least <= self.terms_max);
        let Some(windows) = is_affordable.then(|| self.windows()).flatten() else {
            return vec![None; self.kinds.len()];
        };
        (0..self.kinds.len()).map(|kind| self.response_ns(kind, &windows)).collect()
    }

    /// Returns the windows after all carry-ins, the longest carry-in first; `None` if a window does
    /// not close within the horizon.
    fn windows(&self) -> Option<Vec<Window>> {
        let sizes = carry_in::sizes(self.system, self.demand, self.within_period.is_some());
        sizes.into_iter().rev().map(|carried| self.window(carried)).collect()
    }

    fn window(&self, carried: u64) -> Option<Window> {
        let carry_in_ns = self.system.batch_time_of_ns(carried);
        // x >= 2 if nothing is in flight at first: the first batch starts immediately.
        let first = if carry_in_ns > 0 { 1 } else { 2 };
        // A closed window, because a request released at a dispatch may take a place before one
        // that waited.
        let released = |window_ns| self.demand.closed(window_ns);
        let batches = window_batches(self.system, released, first, carry_in_ns)?;
        // Saturation is intended: a re-release beyond the horizon counts as no re-release.
        let again = |(&response, (task, _)): (&u64, &(SporadicTask, u64))| {
            carry_in_ns.saturating_add(task.period.ns() - response)
        };
        let again_ns = match &self.within_period {
            Some(responses) => responses.iter().zip(self.kinds).map(again).collect(),
            None => Vec::new(),
        };
        // Within the horizon: `window_batches` checked it.
        let end_ns = carry_in_ns + (batches - 1) * self.full_batch_ns;
        Some(Window { carried, carry_in_ns, again_ns, end_ns })
    }

    /// Returns the longest response over all windows and all releases in them; `None` if the search
    /// is abandoned.
    fn response_ns(&self, kind: usize, windows: &[Window]) -> Option<u64> {
        let mut worst = 0;
        for window in windows {
            let latest_ns = window.end_ns.checked_add(self.full_batch_ns)?;
            for release_ns in self.releases(kind, window)? {
                let longest = latest_ns - release_ns;
                if longest <= worst {
                    break;
                }
                let due_ns = release_ns.checked_add(self.kinds[kind].0.deadline.ns())?;
                let job = Job { window, kind, release_ns, due_ns };
                if !self.is_within(&job, worst)? {
                    worst = self.response_of_ns(&job)?.min(longest).max(worst);
                }
            }
        }
        Some(worst)
    }

    /// Returns the releases of a job of kind `own` at which the number of requests due no later
    /// than the job can change, ascending.
    fn releases(&self, own: usize, window: &Window) -> Option<Vec<u64>> {
        let deadline_ns = self.kinds[own].0.deadline.ns();
        let mut releases = vec![0];
        for (kind, (task, _)) in self.kinds.iter().enumerate() {
            let period_ns = task.period.ns();
            for start_ns in [Some(0), window.again_ns.get(kind).copied()].into_iter().flatten() {
                let due_ns = start_ns.checked_add(task.deadline.ns())?;
                // The first m with m p_i + start + d_i >= d_k.
                let skipped = deadline_ns.saturating_sub(due_ns).div_ceil(period_ns);
                let first = due_ns.checked_add(skipped.checked_mul(period_ns)?)? - deadline_ns;
                self.append(&mut releases, first, period_ns, window.end_ns)?;
                if kind == own {
                    self.append(&mut releases, start_ns, period_ns, window.end_ns)?;
                }
            }
        }
        releases.sort_unstable();
        releases.dedup();
        Some(releases)
    }

    /// Appends `first` and every later instant before `end_ns` at whole periods from it.
    fn append(
        &self,
        releases: &mut Vec<u64>,
        first: u64,
        period_ns: u64,
        end_ns: u64,
    ) -> Option<()> {
        let mut release = first;
        while release < end_ns {
            releases.push(release);
            if releases.len() > OFFSETS_MAX {
                return None;
            }
            release = release.checked_add(period_ns)?;
        }
        self.spend(1)
    }

    /// Returns the longest response of this job, or 0 if a job cannot be released at its instant.
    /// `None` if the search is abandoned.
    fn response_of_ns(&self, job: &Job<'_>) -> Option<u64> {
        let batches = least_fixed_point(self.kinds.len(), 1, |batches| {
            let ahead = self.requests_ahead(job, self.sent_ns(job, batches)?)?;
            u64::try_from(ahead.div_ceil(u128::from(self.system.batch_max))).ok()
        })?;
        let sent_ns = self.sent_ns(job, batches)?;
        if sent_ns < job.release_ns || self.requests_ahead(job, sent_ns)? == 0 {
            return Some(0);
        }
        (sent_ns - job.release_ns).checked_add(self.last_batch_ns(job, batches))
    }

    /// Returns whether one evaluation of N shows that the job responds within `worst_ns`: L is at
    /// most any x with `N(a, t_x) <= x z`, and later batches complete no earlier. `None` if the
    /// search is abandoned.
    fn is_within(&self, job: &Job<'_>, worst_ns: u64) -> Option<bool> {
        let Some(spare_ns) = worst_ns
            .saturating_add(job.release_ns)
            .checked_sub(job.window.carry_in_ns + self.last_batch_ns(job, 2))
        else {
            return Some(false);
        };
        let batches = spare_ns / self.full_batch_ns.max(1) + 1;
        if batches < 2 {
            return Some(false);
        }
        let ahead = self.requests_ahead(job, self.sent_ns(job, batches)?)?;
        Some(ahead <= u128::from(batches) * u128::from(self.system.batch_max))
    }

    /// Returns the latest dispatch of batch x.
    fn sent_ns(&self, job: &Job<'_>, batches: u64) -> Option<u64> {
        let full_ns = (batches - 1).checked_mul(self.full_batch_ns)?;
        job.window.carry_in_ns.checked_add(full_ns).filter(|&ns| ns <= HORIZON_NS)
    }

    /// Returns N: requests due no later than the job and released by `sent_ns`, including its own.
    fn requests_ahead(&self, job: &Job<'_>, sent_ns: u64) -> Option<u128> {
        self.spend(self.kinds.len() as u64)?;
        let mut ahead = 0_u128;
        let mut losses = Losses::default();
        for (kind, (task, count)) in self.kinds.iter().enumerate() {
            let is_own = kind == job.kind;
            let again_ns = job.window.again_ns.get(kind).copied();
            let mut add = |tasks: u64, last_ns: u64| {
                let jobs_from = |start_ns: u64| {
                    last_ns.checked_sub(start_ns).map_or(0, |rest| rest / task.period.ns() + 1)
                };
                let jobs = jobs_from(0);
                let requests = tasks * u64::from(task.requests);
                ahead += u128::from(jobs) * u128::from(requests);
                if let Some(again_ns) = again_ns {
                    losses.add(jobs - jobs_from(again_ns), requests);
                }
            };
            if is_own {
                add(1, job.release_ns);
            }
            match job.due_ns.checked_sub(task.deadline.ns()) {
                Some(latest_ns) => add(count - u64::from(is_own), latest_ns.min(sent_ns)),
                // Every job of this kind is due later: it may be in the carry-in, but does not
                // count in the window.
                None if again_ns.is_some() => losses.add(0, count * u64::from(task.requests)),
                None => {}
            }
        }
        Some(ahead.saturating_sub(losses.least(job.window.carried)))
    }

    /// Returns the cost of the job's last batch, including requests with later deadlines.
    fn last_batch_ns(&self, job: &Job<'_>, batches: u64) -> u64 {
        let batch_max = u64::from(self.system.batch_max);
        if !self.is_strictly_within {
            return self.full_batch_ns;
        }
        // No task has two jobs pending: requests in the batch sent just before are not queued
        // again.
        let sent_before = if batches == 1 { job.window.carried } else { batch_max };
        let most = self.requests_sum.saturating_sub(sent_before).min(batch_max);
        self.system.batch_time_of_ns(most)
    }

    fn spend(&self, terms: u64) -> Option<()> {
        self.terms_left.set(self.terms_left.get().checked_sub(terms)?);
        Some(())
    }
}
