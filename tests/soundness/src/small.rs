// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Systems small enough to be searched to the end, and what the searches may do in them.

use std::cmp::Ordering;
use std::fmt;

use tidegate_analysis::{SporadicTask, System};
use tidegate_model::{BatchTable, Duration};

/// A length of time in a small system.
pub type Ticks = u32;

/// A task of a small system: (e, p, d).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SmallTask {
    /// Requests that a job releases together, e.
    pub requests: u32,
    /// Least time between two releases, p.
    pub period: Ticks,
    /// Relative deadline, d; orders requests under EDF and nothing else here.
    pub deadline: Ticks,
}

/// Tasks, a batch table and the parameters of dual-queue FIFO.
///
/// # Invariants
/// - At least one task; every task has a request and a period.
/// - `table[0] = 0`, nondecreasing, no other entry is 0.
/// - `1 <= batch_max < table.len()`, `best_effort_fill <= batch_max`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallSystem {
    /// The tasks.
    pub tasks: Vec<SmallTask>,
    /// b(i); index = number of requests, from 0.
    pub table: Vec<Ticks>,
    /// z: the most requests of one batch.
    pub batch_max: u32,
    /// beta: batches are filled up to this many requests with best effort; 0 = none.
    pub best_effort_fill: u32,
}

/// The system of tasks (e, p) with d = p, b(1).. and z, without best effort.
///
/// # Panics
/// When an invariant of [`SmallSystem`] fails.
#[must_use]
pub fn small(tasks: &[(u32, Ticks)], times: &[Ticks], batch_max: u32) -> SmallSystem {
    let tasks = tasks
        .iter()
        .map(|&(requests, period)| SmallTask { requests, period, deadline: period })
        .collect();
    let table = std::iter::once(0).chain(times.iter().copied()).collect();
    let system = SmallSystem { tasks, table, batch_max, best_effort_fill: 0 };
    system.check();
    system
}

impl SmallSystem {
    /// The same with best effort that fills batches up to `best_effort_fill`.
    ///
    /// # Panics
    /// When that is more than z.
    #[must_use]
    pub fn with_best_effort_fill(mut self, best_effort_fill: u32) -> Self {
        self.best_effort_fill = best_effort_fill;
        self.check();
        self
    }

    /// The same with batches of at most `batch_max`.
    ///
    /// # Panics
    /// When the table does not reach that far.
    #[must_use]
    pub fn with_batch_max(mut self, batch_max: u32) -> Self {
        self.batch_max = batch_max;
        self.check();
        self
    }

    /// The same with these relative deadlines, one for each task.
    ///
    /// # Panics
    /// When their number differs from that of the tasks.
    #[must_use]
    pub fn with_deadlines(mut self, deadlines: &[Ticks]) -> Self {
        assert_eq!(deadlines.len(), self.tasks.len(), "one deadline for each task");
        for (task, &deadline) in self.tasks.iter_mut().zip(deadlines) {
            task.deadline = deadline;
        }
        self
    }

    /// The same with every job of e requests split into e jobs of one request, released
    /// each on its own.
    #[must_use]
    pub fn split(mut self) -> Self {
        let single = |task: &SmallTask| SmallTask { requests: 1, ..*task };
        self.tasks = self
            .tasks
            .iter()
            .flat_map(|task| std::iter::repeat_n(single(task), task.requests as usize))
            .collect();
        self
    }

    /// E: all requests that can be released together.
    #[must_use]
    pub fn requests_sum(&self) -> u32 {
        self.tasks.iter().map(|task| task.requests).sum()
    }

    /// The longest time of a batch with so many real-time requests, best effort included:
    /// b(max(j, beta)). With j = 0 a batch of best effort alone.
    #[must_use]
    pub fn batch_cost(&self, real_time: u32) -> Ticks {
        self.table[real_time.max(self.best_effort_fill) as usize]
    }

    /// How many requests come in the long run, `sum e_i / p_i`, against what full batches
    /// can serve, `z / b(z)`.
    #[must_use]
    pub fn load(&self) -> Ordering {
        let scale: u64 = self.tasks.iter().map(|task| u64::from(task.period)).product();
        let demand: u64 = self
            .tasks
            .iter()
            .map(|task| u64::from(task.requests) * (scale / u64::from(task.period)))
            .sum();
        let full = u64::from(self.table[self.batch_max as usize]);
        (demand * full).cmp(&(u64::from(self.batch_max) * scale))
    }

    /// The system as analyses see it, one tick lasting `tick`.
    ///
    /// # Panics
    /// When a length of time exceeds [`Duration::MAX`].
    #[must_use]
    pub fn to_analysis(&self, tick: Duration) -> System {
        let long = |ticks: Ticks| tick * u64::from(ticks);
        let times: Vec<Duration> = self.table[1..].iter().map(|&ticks| long(ticks)).collect();
        System {
            tasks: self
                .tasks
                .iter()
                .map(|task| SporadicTask {
                    period: long(task.period),
                    requests: task.requests,
                    deadline: long(task.deadline),
                })
                .collect(),
            table: BatchTable::new(&times).expect("checked on construction"),
            batch_max: self.batch_max,
            best_effort_fill: self.best_effort_fill,
        }
    }

    fn check(&self) {
        assert!(!self.tasks.is_empty(), "a system has a task");
        assert!(self.tasks.iter().all(|task| task.requests > 0 && task.period > 0));
        assert!(
            self.table[0] == 0 && self.table.is_sorted() && self.table[1..].iter().all(|&t| t > 0)
        );
        assert!(self.batch_max >= 1 && (self.batch_max as usize) < self.table.len());
        assert!(self.best_effort_fill <= self.batch_max);
    }
}

/// As code, so that a failing system can be entered again.
impl fmt::Display for SmallSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks: Vec<_> = self.tasks.iter().map(|task| (task.requests, task.period)).collect();
        write!(f, "small(&{tasks:?}, &{:?}, {})", &self.table[1..], self.batch_max)?;
        if self.best_effort_fill > 0 {
            write!(f, ".with_best_effort_fill({})", self.best_effort_fill)?;
        }
        if self.tasks.iter().any(|task| task.deadline != task.period) {
            let deadlines: Vec<_> = self.tasks.iter().map(|task| task.deadline).collect();
            write!(f, ".with_deadlines(&{deadlines:?})")?;
        }
        Ok(())
    }
}

/// What an adversary may do beyond the order of same-instant events, which is always its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The shortest time a batch may take.
    pub shortest_batch: ShortestBatch,
    /// How many requests a job may have.
    pub jobs: JobSize,
}

/// The shortest time a batch may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShortestBatch {
    /// One tick: every worst case found is one that can happen.
    OneTick,
    /// None, the limit of ever shorter batches: for safety.
    Instant,
}

/// How many requests a job may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobSize {
    /// Exactly e.
    Whole,
    /// Any number from 1 to e ("no more than e_i requests", 9.2.2).
    UpToWhole,
}

impl Rules {
    /// What can happen: batches of at least one tick, whole jobs.
    pub const REAL: Self = Self { shortest_batch: ShortestBatch::OneTick, jobs: JobSize::Whole };
    /// The limit that no bound may be below: batches may take no time.
    pub const LIMIT: Self = Self { shortest_batch: ShortestBatch::Instant, jobs: JobSize::Whole };
    /// The limit with jobs that may be smaller than e.
    pub const LIMIT_SMALLER_JOBS: Self =
        Self { shortest_batch: ShortestBatch::Instant, jobs: JobSize::UpToWhole };
}
