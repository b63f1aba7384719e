// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Enumerates every schedule up to a horizon, without states, counts or memory.
//!
//! The code represents jobs, their requests in the FIFO and the best-effort requests of a batch
//! exactly as in the policy's rule, so it has nothing in common with the searches that it checks.
//! The time is exponential in the horizon, so the enumeration suits two tasks and a few ticks.

use std::collections::VecDeque;

use crate::small::{JobSize, Rules, ShortestBatch, SmallSystem, Ticks};

/// The maximum number of steps in an enumeration.
pub const STEPS_MAX: u64 = 600_000;

/// Returns the longest response of each task among the jobs complete by `horizon`, and whether
/// [`STEPS_MAX`] steps were enough for all schedules.
#[must_use]
pub fn longest_responses(system: &SmallSystem, rules: Rules, horizon: Ticks) -> (Vec<Ticks>, bool) {
    let longest = vec![0; system.tasks.len()];
    let mut search = Search { system, rules, horizon, longest, steps: 0 };
    let start = Schedule {
        now: 0,
        released: vec![None; system.tasks.len()],
        jobs: Vec::new(),
        queue: VecDeque::new(),
        batch: None,
    };
    search.go_on(&start);
    (search.longest, search.steps <= STEPS_MAX)
}

struct Search<'a> {
    system: &'a SmallSystem,
    rules: Rules,
    horizon: Ticks,
    longest: Vec<Ticks>,
    steps: u64,
}

#[derive(Debug, Clone)]
struct Job {
    task: usize,
    released: Ticks,
    left: u32,
}

#[derive(Debug, Clone)]
struct Batch {
    /// The job of each real-time request.
    jobs: Vec<usize>,
    sent: Ticks,
    time_max: Ticks,
}

#[derive(Debug, Clone)]
struct Schedule {
    now: Ticks,
    /// The time of each task's last release.
    released: Vec<Option<Ticks>>,
    jobs: Vec<Job>,
    /// The job of each queued request, oldest first.
    queue: VecDeque<usize>,
    batch: Option<Batch>,
}

impl Search<'_> {
    fn go_on(&mut self, schedule: &Schedule) {
        self.steps += 1;
        if schedule.now > self.horizon || self.steps > STEPS_MAX {
            return;
        }
        self.release_any(schedule);
        let Some(batch) = &schedule.batch else {
            self.send_any(schedule);
            if schedule.queue.is_empty() {
                self.go_on(&schedule.tick());
            }
            return;
        };
        let time = schedule.now - batch.sent;
        // A batch of best effort that takes no time changes nothing and could repeat forever.
        let at_once = self.rules.shortest_batch == ShortestBatch::Instant && !batch.jobs.is_empty();
        if time > 0 || at_once {
            let complete = schedule.complete(batch, &mut self.longest);
            self.go_on(&complete);
        }
        if time < batch.time_max {
            self.go_on(&schedule.tick());
        }
    }

    fn release_any(&mut self, schedule: &Schedule) {
        for (index, task) in self.system.tasks.iter().enumerate() {
            if schedule.released[index].is_none_or(|before| schedule.now - before >= task.period) {
                let whole = task.requests;
                let smallest = if self.rules.jobs == JobSize::Whole { whole } else { 1 };
                for requests in smallest..=whole {
                    self.go_on(&schedule.release(index, requests));
                }
            }
        }
    }

    fn send_any(&mut self, schedule: &Schedule) {
        let queued = u32::try_from(schedule.queue.len()).expect("few");
        let real_time = queued.min(self.system.batch_max);
        let room = self.system.best_effort_fill.max(real_time) - real_time;
        for best_effort in 0..=room {
            if real_time + best_effort > 0 {
                self.go_on(&schedule.send(self.system, real_time, best_effort));
            }
        }
    }
}

impl Schedule {
    fn release(&self, task: usize, requests: u32) -> Self {
        let mut next = self.clone();
        next.released[task] = Some(self.now);
        next.jobs.push(Job { task, released: self.now, left: requests });
        let job = next.jobs.len() - 1;
        next.queue.extend((0..requests).map(|_| job));
        next
    }

    fn send(&self, system: &SmallSystem, real_time: u32, best_effort: u32) -> Self {
        let mut next = self.clone();
        next.batch = Some(Batch {
            jobs: next.queue.drain(..real_time as usize).collect(),
            sent: self.now,
            time_max: system.table[(real_time + best_effort) as usize],
        });
        next
    }

    fn complete(&self, batch: &Batch, longest: &mut [Ticks]) -> Self {
        let mut next = self.clone();
        next.batch = None;
        for &index in &batch.jobs {
            let job = &mut next.jobs[index];
            job.left -= 1;
            if job.left == 0 {
                longest[job.task] = longest[job.task].max(self.now - job.released);
            }
        }
        next
    }

    fn tick(&self) -> Self {
        Self { now: self.now + 1, ..self.clone() }
    }
}
