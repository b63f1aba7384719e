// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A processor simulated tick by tick, written independently for these tests.

use super::generate::Ticks;

/// The order in which tasks with a job are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// By their position in the list.
    Listed,
    /// The earliest deadline first.
    Deadline,
}

/// The observations of a run.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// The longest response of each task; an incomplete job counts up to the end of the run.
    pub(crate) responses: Vec<u64>,
    /// The task that executed in each tick.
    pub(crate) ran: Vec<Option<usize>>,
}

impl Seen {
    pub(crate) fn is_missed(&self, tasks: &[Ticks]) -> bool {
        self.responses.iter().zip(tasks).any(|(response, task)| *response > task.deadline)
    }
}

/// Simulates tasks whose jobs are released at the given instants, which are in order.
pub(crate) fn run(tasks: &[Ticks], releases: &[Vec<u64>], order: Order, ticks: u64) -> Seen {
    let mut jobs: Vec<Vec<(u64, u64)>> = vec![Vec::new(); tasks.len()];
    let mut responses = vec![0; tasks.len()];
    let mut ran = Vec::new();
    for now in 0..ticks {
        for (index, releases) in releases.iter().enumerate() {
            let at_now = releases.iter().filter(|at| **at == now);
            jobs[index].extend(at_now.map(|&at| (at, tasks[index].execution)));
        }
        let ready = (0..tasks.len()).filter(|&index| !jobs[index].is_empty());
        let chosen = match order {
            Order::Listed => ready.min(),
            Order::Deadline => ready.min_by_key(|&index| jobs[index][0].0 + tasks[index].deadline),
        };
        ran.push(chosen);
        let Some(index) = chosen else { continue };
        jobs[index][0].1 -= 1;
        if jobs[index][0].1 == 0 {
            let (arrival, _) = jobs[index].remove(0);
            responses[index] = responses[index].max(now + 1 - arrival);
        }
    }
    for (response, jobs) in responses.iter_mut().zip(&jobs) {
        for (arrival, _) in jobs {
            *response = (*response).max(ticks - arrival);
        }
    }
    Seen { responses, ran }
}

/// Returns periodic releases of every task, from its offset on.
pub(crate) fn periodic(tasks: &[Ticks], offsets: &[u64], ticks: u64) -> Vec<Vec<u64>> {
    let releases = |(task, &offset): (&Ticks, &u64)| {
        (0..ticks).map(|job| offset + job * task.period).take_while(|at| *at < ticks).collect()
    };
    tasks.iter().zip(offsets).map(releases).collect()
}

/// Returns the most that a task executes in any window of this length.
pub(crate) fn window_max(seen: &Seen, task: usize, window: usize) -> usize {
    let executed = |ticks: &[Option<usize>]| ticks.iter().filter(|it| **it == Some(task)).count();
    seen.ran.windows(window).map(executed).max().unwrap_or(0)
}
