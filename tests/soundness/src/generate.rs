// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Random small systems, each from a seed and a number, so that one system can be generated alone.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::small::{SmallSystem, SmallTask, Ticks};

/// The limits of the systems' sizes.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// The largest number of tasks.
    pub tasks_max: usize,
    /// The maximum number of requests in a job.
    pub requests_max: u32,
    /// The largest batch.
    pub batch_max: u32,
    /// The longest period.
    pub period_max: Ticks,
    /// The most time that one more request adds to a batch.
    pub step_max: Ticks,
}

impl Size {
    /// The largest size that the adversary can search.
    pub const SMALL: Self =
        Self { tasks_max: 5, requests_max: 3, batch_max: 5, period_max: 15, step_max: 4 };
    /// The size for searches that follow every job to its end.
    pub const SMALLER: Self =
        Self { tasks_max: 3, requests_max: 3, batch_max: 3, period_max: 7, step_max: 3 };
    /// Sizes small enough to search all schedules.
    pub const SMALLEST: Self =
        Self { tasks_max: 2, requests_max: 2, batch_max: 2, period_max: 4, step_max: 2 };
}

/// Returns the generator of the system with this number in the series of this seed.
#[must_use]
pub fn generator(seed: u64, number: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number))
}

/// Returns a random system without best effort, with d = p. Overloaded systems tell little, so only
/// every twentieth of them is kept.
#[must_use]
pub fn system(random: &mut Pcg64, size: Size) -> SmallSystem {
    loop {
        let system = any_system(random, size);
        if system.load().is_le() || random.random_range(0..20) == 0 {
            return system;
        }
    }
}

/// Gives every task a random deadline between a third of its period and twice its period.
#[must_use]
pub fn with_random_deadlines(random: &mut Pcg64, mut system: SmallSystem) -> SmallSystem {
    for task in &mut system.tasks {
        task.deadline = random.random_range(task.period.div_ceil(3)..=2 * task.period);
    }
    system
}

fn any_system(random: &mut Pcg64, size: Size) -> SmallSystem {
    let table = table(random, size);
    let batch_max = random.random_range(1..=size.batch_max);
    let task_count = random.random_range(1..=size.tasks_max);
    let kind = random.random_range(0..6);
    let shared = period(random, size, &table, kind);
    let is_single = random.random_bool(0.5);
    let mut tasks = Vec::new();
    for _ in 0..task_count {
        // In half of the systems all tasks share one period.
        let period = if kind % 2 == 0 { shared } else { period(random, size, &table, kind) };
        let requests = if is_single { 1 } else { random.random_range(1..=size.requests_max) };
        tasks.push(SmallTask { requests, period, deadline: period, jitter: 0 });
    }
    if random.random_bool(0.2) {
        let first = tasks[0];
        tasks.fill(first);
    }
    SmallSystem { tasks, table, batch_max, best_effort_fill: 0 }
}

/// Returns any period, a long one, or the time of a few batches, so that releases meet completions.
fn period(random: &mut Pcg64, size: Size, table: &[Ticks], kind: u32) -> Ticks {
    match kind / 2 {
        0 => random.random_range(1..=size.period_max),
        1 => random.random_range(size.period_max.div_ceil(2)..=size.period_max),
        _ => {
            let batches = random.random_range(1..=3);
            let times = (0..batches).map(|_| table[random.random_range(1..table.len())]);
            times.sum::<Ticks>().min(size.period_max)
        }
    }
}

/// Returns b(0) to b(z) for the largest z: affine, concave, or only monotone.
fn table(random: &mut Pcg64, size: Size) -> Vec<Ticks> {
    let first = random.random_range(1..=size.step_max);
    let slope = random.random_range(0..=size.step_max.div_ceil(2));
    let kind = random.random_range(0..3);
    let mut table = vec![0, first];
    let mut step = size.step_max;
    for _ in 1..size.batch_max {
        step = match kind {
            0 => slope,
            1 => random.random_range(0..=step.min(first)),
            _ => random.random_range(0..=size.step_max),
        };
        table.push(table[table.len() - 1] + step);
    }
    table
}
