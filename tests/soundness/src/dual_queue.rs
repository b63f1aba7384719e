// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The search of `adversary` and `dq_edf`: visits all states of a dual-queue policy in a small
//! system, except for states that another one dominates. The order of service is a `Queue`.

use std::ops::Range;

use crate::adversary::{Extent, WorstCase};
use crate::frontier::Frontier;
use crate::small::{JobSize, Rules, ShortestBatch, SmallSystem, SmallTask, Ticks};

/// The maximum number of tasks in a searched system.
pub const TASKS_MAX: usize = 5;
/// The longest period, in ticks.
pub const PERIOD_MAX: Ticks = 31;
/// The longest batch, in ticks.
pub const BATCH_TIME_MAX: Ticks = 127;
/// The maximum number of states in a search.
pub const STATES_MAX: usize = 100_000;

/// The host's queue under one order of service.
pub(crate) trait Queue: Clone + Default {
    /// The states searched so far, separated by queues that cannot dominate each other.
    type Frontiers: Default;
    /// The queues that can remain after a batch.
    type Sent: IntoIterator<Item = Self>;

    /// Returns the states with a queue like this one.
    fn frontier<'f>(&self, all: &'f mut Self::Frontiers) -> &'f mut Frontier;

    /// Returns the number of requests.
    fn count(&self) -> u32;

    /// Appends a job of this group of tasks.
    fn release(&mut self, group: usize, task: SmallTask, requests: u32);

    /// Removes a batch. Reports each job whose last request is sent, as (its group, the ticks until
    /// its deadline).
    fn sent(&self, count: u32, last_sent: impl FnMut(usize, i32)) -> Self::Sent;

    /// Lets a tick pass.
    fn later(&mut self) {}

    /// Returns the longest response of the job that was just released, if the queue determines it.
    fn response(_state: &State<Self>, _system: &SmallSystem, _jitter: Ticks) -> Option<Ticks> {
        None
    }
}

/// The part of the history that determines the future.
#[derive(Debug, Clone, Default)]
pub(crate) struct State<Q> {
    pub(crate) queue: Q,
    /// For each task, the time until J after the earliest possible release of its next job, where J
    /// is the host's jitter plus the task's. The policy can see the job once this time is at most
    /// J; the less it is, the earlier the job was released. Equal tasks are in ascending order.
    pub(crate) cooldown: [Ticks; TASKS_MAX],
    /// Longest remaining time of the batch in flight; 0 = the device is idle.
    pub(crate) left: Ticks,
    /// Whether the batch was sent at this tick, so that it cannot end yet.
    is_fresh: bool,
}

/// Tasks with equal parameters.
struct Group {
    task: SmallTask,
    /// The positions of these tasks among the sorted tasks.
    places: Range<usize>,
}

pub(crate) struct Search<Q: Queue> {
    /// The system, with sorted tasks.
    system: SmallSystem,
    rules: Rules,
    groups: Vec<Group>,
    frontiers: Q::Frontiers,
    open: Vec<State<Q>>,
    /// The longest response of each group.
    responses: Vec<Ticks>,
    states: usize,
}

impl<Q: Queue> Search<Q> {
    /// Returns the true worst case of every task, in the order of `tasks`.
    pub(crate) fn worst_case(mut system: SmallSystem, rules: Rules) -> WorstCase {
        assert!(system.tasks.len() <= TASKS_MAX, "too many tasks to search");
        let reach = |task: &SmallTask| task.period + task.jitter + rules.jitter;
        assert!(system.tasks.iter().all(|task| reach(task) <= PERIOD_MAX), "period too long");
        assert!(system.table.iter().all(|&time| time <= BATCH_TIME_MAX), "batches take too long");
        let in_order = system.tasks.clone();
        system.tasks.sort_unstable();
        let mut groups: Vec<Group> = Vec::new();
        for (place, &task) in system.tasks.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if group.task == task => group.places.end += 1,
                _ => groups.push(Group { task, places: place..place + 1 }),
            }
        }
        let (frontiers, open, responses) = Default::default();
        let mut search = Self { system, rules, groups, frontiers, open, responses, states: 0 };
        search.responses.resize(search.groups.len(), 0);
        let extent = search.run().err().unwrap_or(Extent::Whole);
        let response_of = |task: &SmallTask| {
            let group = search.groups.iter().position(|group| group.task == *task);
            search.responses[group.expect("every task is of a group")]
        };
        let responses = in_order.iter().map(response_of).collect();
        WorstCase { responses, extent, states: search.states }
    }

    fn run(&mut self) -> Result<(), Extent> {
        self.visit(State::default())?;
        while let Some(state) = self.open.pop() {
            if state.queue.frontier(&mut self.frontiers).contains(state.packed()) {
                self.expand(&state)?;
            }
        }
        Ok(())
    }

    /// Visits all next states that the adversary can choose.
    fn expand(&mut self, state: &State<Q>) -> Result<(), Extent> {
        if !state.is_fresh {
            self.send_batch(state)?;
        }
        // An idle device does not wait while requests are queued (work-conserving).
        if state.left > 0 || state.queue.count() == 0 {
            self.visit(state.later())?;
        }
        // The last state is searched first: releases lead to the states that dominate others.
        for group in 0..self.groups.len() {
            // The first of equal tasks has the least cooldown. Without jitter it represents them
            // all; with jitter the others' jobs are younger.
            let Range { start, end } = self.groups[group].places;
            let jitter = self.jitter(group);
            let last = if jitter == 0 { start + 1 } else { end };
            for place in start..last {
                if state.cooldown[place] <= jitter {
                    self.release(state, group, place)?;
                }
            }
        }
        Ok(())
    }

    /// Lets the policy see a job now. The job was released as early as possible: at most J ago, and
    /// at least a period after the task's last job.
    fn release(&mut self, state: &State<Q>, group: usize, place: usize) -> Result<(), Extent> {
        let Group { task, .. } = self.groups[group];
        let age = self.jitter(group) - state.cooldown[place];
        let smallest = match self.rules.jobs {
            JobSize::Whole => task.requests,
            JobSize::UpToWhole => 1,
        };
        for requests in smallest..=task.requests {
            let mut next = state.clone();
            next.cooldown[place] = task.period + state.cooldown[place];
            next.queue.release(group, task, requests);
            if let Some(response) = Q::response(&next, &self.system, self.rules.jitter) {
                self.responses[group] = self.responses[group].max(age + response);
            }
            self.visit(next)?;
        }
        Ok(())
    }

    /// Returns J of a group's tasks: the host's jitter and their own.
    fn jitter(&self, group: usize) -> Ticks {
        self.rules.jitter + self.groups[group].task.jitter
    }

    /// Sends the next batch to a device that is idle or whose batch ends now.
    fn send_batch(&mut self, state: &State<Q>) -> Result<(), Extent> {
        let count = state.queue.count().min(self.system.batch_max);
        let cost = self.system.batch_cost(count);
        if cost == 0 {
            return Ok(());
        }
        let is_fresh = self.rules.shortest_batch == ShortestBatch::OneTick;
        let queues = state.queue.sent(count, |group, until_due| {
            let age = i64::from(self.groups[group].task.deadline) - i64::from(until_due);
            let age = Ticks::try_from(age).expect("released before");
            self.responses[group] = self.responses[group].max(age + cost);
        });
        for queue in queues {
            self.visit(State { queue, cooldown: state.cooldown, left: cost, is_fresh })?;
        }
        Ok(())
    }

    fn visit(&mut self, mut state: State<Q>) -> Result<(), Extent> {
        for group in &self.groups {
            state.cooldown[group.places.clone()].sort_unstable();
        }
        // Without overload at most E + z requests wait, in any order. More requests show that the
        // backlog has no bound.
        if state.queue.count() > self.system.requests_sum() + 2 * self.system.batch_max {
            return Err(Extent::BacklogUnbounded);
        }
        if !state.queue.frontier(&mut self.frontiers).insert(state.packed()) {
            return Ok(());
        }
        self.states += 1;
        self.open.push(state);
        if self.states > STATES_MAX { Err(Extent::TooManyStates) } else { Ok(()) }
    }
}

const COOLDOWN_BITS: u32 = 6;
const LEFT_BITS: u32 = 8;

impl<Q: Queue> State<Q> {
    /// Packs the state without its queue; in each field a smaller value is better for the
    /// adversary.
    fn packed(&self) -> u64 {
        let done = u64::from(BATCH_TIME_MAX - self.left) << 2 | u64::from(self.is_fresh);
        let fields = self.cooldown.iter();
        fields.fold(done, |word, &cooldown| word << COOLDOWN_BITS | u64::from(cooldown))
    }

    fn later(&self) -> Self {
        // Saturation is intended: a task that may release stays ready, an idle device stays idle.
        let cooldown = self.cooldown.map(|cooldown| cooldown.saturating_sub(1));
        let mut queue = self.queue.clone();
        queue.later();
        Self { queue, cooldown, left: self.left.saturating_sub(1), is_fresh: false }
    }
}

/// Returns an empty set of packed states.
pub(crate) fn frontier() -> Frontier {
    let done = 1_u64 << (LEFT_BITS - 1) << 2 | 0b10;
    let guards =
        (0..TASKS_MAX).fold(done, |word, _| word << COOLDOWN_BITS | 1 << (COOLDOWN_BITS - 1));
    Frontier::new(guards)
}
