// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exhaustive adversary for dual-queue FIFO: finds the true worst case of every task.
//!
//! The possible events come only from the model (9.2.1 to 9.2.3) and the policy's rule. A task
//! releases a job at any tick at least p after its last job. An idle device gets a batch of the
//! min(z, queued) oldest requests. A batch takes any time up to its limit. Events of one tick come
//! in any order. With best effort, a batch with j real-time requests takes up to b(max(j, beta)),
//! and an idle device without real-time requests may get a batch of best effort at any tick.
//!
//! Restricting events to whole ticks loses nothing: for a given order of events all constraints
//! bound differences of instants by whole numbers, so the longest response has whole instants.
//! Batches of zero time are included.
//!
//! Three observations keep the search small; `tagged` and `schedules` do not use them and must
//! agree.
//!
//! 1. FIFO: only the number of waiting requests matters, not which requests wait. A state is (time
//!    until each task may release again, requests queued, longest remaining time of the batch in
//!    flight).
//! 2. A job's response time is determined at its release. Let N be the number of requests up to and
//!    including its own, and T = (remaining time) + (ceil(N/z) - 1) b(z) the time until its last
//!    batch is sent. All batches before that are full in any case, so neither shorter batches nor
//!    other releases can delay the job further, and releases within T can only enlarge its last
//!    batch.
//! 3. A state dominates another one with the same number of queued requests if each task may
//!    release as early, the batch in flight may last as long, and it may end as early (see
//!    `frontier`). It can then imitate every step of the other. Since a batch may end early, its
//!    end is not a separate step but the first half of sending the next batch.

use crate::dual_queue::{Queue, Search, State, frontier};
use crate::frontier::Frontier;
use crate::small::{Rules, SmallSystem, SmallTask, Ticks};

/// The result of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorstCase {
    /// The longest response of each task, in order of the tasks.
    pub responses: Vec<Ticks>,
    /// Whether longer responses are excluded.
    pub extent: Extent,
    /// Number of states searched.
    pub states: usize,
}

impl WorstCase {
    /// Returns the responses if the whole system was searched.
    #[must_use]
    pub fn if_whole(self) -> Option<Vec<Ticks>> {
        (self.extent == Extent::Whole).then_some(self.responses)
    }
}

/// How much of a system was searched. The responses found are possible in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The whole system: the responses are the true worst case.
    Whole,
    /// More requests queue up than in any system without overload.
    BacklogUnbounded,
    /// The search reached its limit of states.
    TooManyStates,
}

/// Returns the true worst-case response times of a system under dual-queue FIFO.
///
/// # Panics
/// If the system exceeds the limits of `dual_queue`.
#[must_use]
pub fn worst_case(system: &SmallSystem, rules: Rules) -> WorstCase {
    let mut system = system.clone();
    // Deadlines have no effect, so tasks that differ only by them are equal.
    system.tasks.iter_mut().for_each(|task| task.deadline = task.period);
    Search::<Fifo>::worst_case(system, rules)
}

/// The number of requests in the queue (observation 1).
#[derive(Debug, Clone, Copy, Default)]
struct Fifo(u32);

impl Queue for Fifo {
    type Frontiers = Vec<Frontier>;
    type Sent = [Self; 1];

    fn frontier<'f>(&self, all: &'f mut Vec<Frontier>) -> &'f mut Frontier {
        let index = self.0 as usize;
        if all.len() <= index {
            all.resize_with(index + 1, frontier);
        }
        &mut all[index]
    }

    fn count(&self) -> u32 {
        self.0
    }

    fn release(&mut self, _group: usize, _task: SmallTask, requests: u32) {
        self.0 += requests;
    }

    fn sent(&self, count: u32, _last_sent: impl FnMut(usize, i32)) -> [Self; 1] {
        [Self(self.0 - count)]
    }

    /// The job is at the end of the queue (observation 2).
    fn response(state: &State<Self>, system: &SmallSystem, jitter: Ticks) -> Option<Ticks> {
        let Self(queued) = state.queue;
        let batch_max = system.batch_max;
        let full_count = (queued - 1) / batch_max;
        let sent = state.left + full_count * system.batch_cost(batch_max);
        let tasks = system.tasks.iter().zip(state.cooldown);
        let freeloaders: u32 = tasks
            .map(|(task, cooldown)| {
                let rest = (sent + jitter + task.jitter).checked_sub(cooldown);
                rest.map_or(0, |rest| task.requests * (rest / task.period + 1))
            })
            .sum();
        let last = (queued - full_count * batch_max + freeloaders).min(batch_max);
        Some(sent + system.batch_cost(last))
    }
}
