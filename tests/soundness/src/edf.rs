// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exhaustive adversary for non-preemptive EDF, one request on the device at a time.
//!
//! Rule: an idle device gets a request of the job with the earliest absolute deadline, which takes
//! up to b(1); among equal deadlines the adversary chooses. With windows, all deadlines in one
//! window are equal. Deadlines order jobs of different ages, so a state holds every pending job
//! with its age. A response time is the age of a job at its completion.

use std::collections::HashSet;

use crate::adversary::{Extent, WorstCase};
use crate::small::{Rules, ShortestBatch, SmallSystem, Ticks};

/// The maximum number of states in a search.
pub const STATES_MAX: usize = 60_000;

/// Returns the true worst-case response times under EDF; ignores beta of the system.
///
/// # Panics
/// If z is not 1.
#[must_use]
pub fn worst_case(system: &SmallSystem, rules: Rules) -> WorstCase {
    worst_case_in_windows(system, rules, 1)
}

/// Returns the true worst-case response times if deadlines in one window count as equal. Windows
/// are as wide as b(1), and the adversary chooses where the first one begins.
///
/// # Panics
/// If z is not 1.
#[must_use]
pub fn worst_case_in_windows_of_a_request(system: &SmallSystem, rules: Rules) -> WorstCase {
    worst_case_in_windows(system, rules, system.table[1])
}

fn worst_case_in_windows(system: &SmallSystem, rules: Rules, width: Ticks) -> WorstCase {
    assert_eq!(system.batch_max, 1, "one at a time");
    let request_time = system.table[1];
    // Without overload at b(1) per request, at most E + 1 requests are ever pending.
    let jobs_max = system.requests_sum() as usize + 2;
    let mut responses = vec![0; system.tasks.len()];
    let mut seen = HashSet::new();
    let idle = |phase| State {
        cooldown: vec![0; system.tasks.len()],
        jobs: Vec::new(),
        serving: None,
        phase,
    };
    let mut open: Vec<State> = (0..width).map(idle).collect();
    while let Some(mut state) = open.pop() {
        state.jobs_in_order();
        if state.jobs.len() > jobs_max {
            return WorstCase { responses, extent: Extent::BacklogUnbounded, states: seen.len() };
        }
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > STATES_MAX {
            return WorstCase { responses, extent: Extent::TooManyStates, states: seen.len() };
        }
        for (task, parameters) in system.tasks.iter().enumerate() {
            if state.cooldown[task] == 0 {
                let mut next = state.clone();
                next.cooldown[task] = parameters.period;
                next.jobs.push(Job {
                    task,
                    age: 0,
                    waiting: parameters.requests,
                    in_service: false,
                });
                open.push(next);
            }
        }
        match state.serving {
            None if state.jobs.is_empty() => open.push(state.later(width)),
            None => {
                let window = |job: &Job| {
                    let until_due = i64::from(system.tasks[job.task].deadline) - i64::from(job.age);
                    (i64::from(state.phase) + until_due).div_euclid(i64::from(width))
                };
                let earliest = state.jobs.iter().map(window).min();
                for index in 0..state.jobs.len() {
                    if Some(window(&state.jobs[index])) == earliest {
                        let mut next = state.clone();
                        next.jobs[index].waiting -= 1;
                        next.jobs[index].in_service = true;
                        let may_end = rules.shortest_batch == ShortestBatch::Instant;
                        next.serving = Some(Service { left: request_time, may_end });
                        open.push(next);
                    }
                }
            }
            Some(service) => {
                if service.may_end {
                    let mut next = state.clone();
                    next.serving = None;
                    let index =
                        next.jobs.iter().position(|job| job.in_service).expect("in service");
                    let job = &mut next.jobs[index];
                    job.in_service = false;
                    if job.waiting == 0 {
                        responses[job.task] = responses[job.task].max(job.age);
                        next.jobs.remove(index);
                    }
                    open.push(next);
                }
                if service.left > 0 {
                    open.push(state.later(width));
                }
            }
        }
    }
    WorstCase { responses, extent: Extent::Whole, states: seen.len() }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    cooldown: Vec<Ticks>,
    /// Jobs that are not complete.
    jobs: Vec<Job>,
    serving: Option<Service>,
    /// The time since the beginning of a window.
    phase: Ticks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Job {
    task: usize,
    age: Ticks,
    /// Requests not yet sent.
    waiting: u32,
    in_service: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Service {
    left: Ticks,
    may_end: bool,
}

impl State {
    /// Sorts the jobs, whose order has no meaning.
    fn jobs_in_order(&mut self) {
        self.jobs.sort_unstable();
    }

    fn later(mut self, width: Ticks) -> Self {
        self.phase = (self.phase + 1) % width;
        for cooldown in &mut self.cooldown {
            *cooldown = cooldown.saturating_sub(1);
        }
        for job in &mut self.jobs {
            job.age += 1;
        }
        if let Some(service) = &mut self.serving {
            service.left -= 1;
            service.may_end = true;
        }
        self
    }
}
