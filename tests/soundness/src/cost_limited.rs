// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Dual-queue FIFO with batches limited by cost: searches all schedules of a small system.
//!
//! The search knows only the dispatch rule, no bound: an idle device gets the longest prefix of the
//! queue that costs at most Z and has at most z requests, and at least one request. A batch that
//! leaves no request queued is filled with best effort up to F. A batch may end at any tick up to A
//! plus its costs. Tasks release at any tick at least p after their last job. Events of a tick come
//! in any order. Of the requests in flight only the remaining time matters, so a state is small:
//!
//! ```text
//!   (ticks until each task may release, queue in order, ticks the batch may still take)
//! ```

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_analysis::SporadicTask;
use tidegate_analysis::cost_limited::CostLimitedSystem;
use tidegate_analysis::heterogeneous::MixedTask;
use tidegate_model::{Duration, Op};

use crate::tagged::{self, Game, Move};

/// Returns a random system; one tick is one nanosecond. Its periods are longer than any search.
///
/// # Panics
/// Never.
#[must_use]
pub fn system(random: &mut Pcg64, is_shared: bool) -> CostLimitedSystem {
    let count: usize = random.random_range(1..=3);
    let requests_max = if count < 3 { 3 } else { 2 };
    let task = |random: &mut Pcg64| MixedTask {
        task: SporadicTask {
            period: Duration::from_ns(1 << 30),
            requests: random.random_range(1..=requests_max),
            deadline: Duration::from_ns(1 << 30),
        },
        request_max: Duration::from_ns(random.random_range(1..=4)),
        op: Op::Read,
    };
    let tasks: Vec<MixedTask> = (0..count).map(|_| task(random)).collect();
    let costliest = tasks.iter().map(|mixed| mixed.request_max.ns()).max().expect("a task");
    let requests: u32 = tasks.iter().map(|mixed| mixed.task.requests).sum();
    let cost_max = random.random_range(costliest..=costliest.max(costs_sum(&tasks)) + 1);
    CostLimitedSystem {
        tasks,
        positioning_max: Duration::from_ns(random.random_range(0..=2)),
        batch_max: random.random_range(1..=requests + 1),
        cost_max: Duration::from_ns(cost_max),
        best_effort_fill: Duration::from_ns(if is_shared {
            random.random_range(1..=cost_max)
        } else {
            0
        }),
    }
}

/// Returns C, the sum of all costs.
#[must_use]
pub fn costs_sum(tasks: &[MixedTask]) -> u64 {
    tasks.iter().map(|mixed| u64::from(mixed.task.requests) * mixed.request_max.ns()).sum()
}

/// Gives each task a period just above `bound_ns`, or up to twice as long.
pub fn set_periods(system: &mut CostLimitedSystem, bound_ns: u64, random: &mut Pcg64) {
    for mixed in &mut system.tasks {
        let slack = match random.random_range(0..5) {
            0 | 1 => 0,
            2 => 1,
            3 => bound_ns / 2,
            _ => bound_ns,
        };
        mixed.task.period = Duration::from_ns(bound_ns + 1 + slack);
        mixed.task.deadline = mixed.task.period;
    }
}

/// The state at one instant; see the module's text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    cooling: Vec<u64>,
    queue: Vec<usize>,
    left: Option<u64>,
}

/// Dual-queue FIFO with batches limited by cost.
struct CostLimited<'a>(&'a CostLimitedSystem);

impl CostLimited<'_> {
    /// Returns the number of requests of the queue that form one batch, and the batch's longest
    /// time, including best effort.
    fn batch(&self, queue: &[usize]) -> (usize, u64) {
        let (mut count, mut cost_ns) = (0, 0);
        for &task in queue.iter().take(self.0.batch_max as usize) {
            let with_ns = cost_ns + self.0.tasks[task].request_max.ns();
            if count > 0 && with_ns > self.0.cost_max.ns() {
                break;
            }
            (count, cost_ns) = (count + 1, with_ns);
        }
        if count == queue.len() {
            cost_ns = cost_ns.max(self.0.best_effort_fill.ns());
        }
        (count, self.0.positioning_max.ns() + cost_ns)
    }
}

impl Game for CostLimited<'_> {
    type State = State;

    fn idle(&self) -> State {
        State { cooling: vec![0; self.0.tasks.len()], queue: Vec::new(), left: None }
    }

    fn queued(&self, state: &State) -> usize {
        state.queue.len()
    }

    fn moves(&self, state: &State) -> Vec<(Move, State)> {
        let mut moves = Vec::new();
        for (task, mixed) in self.0.tasks.iter().enumerate().filter(|&(i, _)| state.cooling[i] == 0)
        {
            let mut next = state.clone();
            next.cooling[task] = mixed.task.period.ns();
            next.queue.extend(std::iter::repeat_n(task, mixed.task.requests as usize));
            moves.push((Move::Release(task), next));
        }
        let tick = |left: Option<u64>| {
            let cooling = state.cooling.iter().map(|ticks| ticks.saturating_sub(1)).collect();
            (Move::Tick, State { cooling, left, ..state.clone() })
        };
        if let Some(left) = state.left {
            moves.push((Move::End, State { left: None, ..state.clone() }));
            moves.extend((left > 0).then(|| tick(Some(left - 1))));
            return moves;
        }
        let is_shared = !self.0.best_effort_fill.is_zero();
        if is_shared || !state.queue.is_empty() {
            let (count, longest) = self.batch(&state.queue);
            let queue = state.queue[count..].to_vec();
            moves.push((Move::Send(count), State { queue, left: Some(longest), ..state.clone() }));
        }
        moves.extend(state.queue.is_empty().then(|| tick(None)));
        moves
    }
}

/// Returns the longest response of any job in any schedule; `None` beyond `states_max` states.
#[must_use]
pub fn longest_response(system: &CostLimitedSystem, states_max: usize) -> Option<u64> {
    let game = CostLimited(system);
    let found = tagged::longest(&game, system.tasks.len(), states_max, 9 * states_max)?;
    found.responses.into_iter().max().map(u64::from)
}
