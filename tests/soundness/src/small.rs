// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Systems small enough for a complete search, and the rules of the searches.

use std::cmp::Ordering;
use std::fmt;

use tidegate_analysis::{SporadicTask, System};
use tidegate_model::{BatchTable, Duration};

/// A duration in a small system.
pub type Ticks = u32;

/// A task of a small system: (e, p, d), and its jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SmallTask {
    /// Requests that a job releases together, e.
    pub requests: u32,
    /// Least time between two releases, p.
    pub period: Ticks,
    /// Relative deadline, d; it only orders requests under EDF.
    pub deadline: Ticks,
    /// The longest time from a job's arrival until the policy sees it, without the host's jitter,
    /// which is added. Only the search of dual-queue FIFO takes it into account.
    pub jitter: Ticks,
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
    /// z: the most requests in one batch.
    pub batch_max: u32,
    /// beta: best effort fills batches up to this many requests; 0 = no best effort.
    pub best_effort_fill: u32,
}

/// Returns the system of tasks (e, p) with d = p, b(1).. and z, without best effort.
///
/// # Panics
/// If an invariant of [`SmallSystem`] fails.
#[must_use]
pub fn small(tasks: &[(u32, Ticks)], times: &[Ticks], batch_max: u32) -> SmallSystem {
    let tasks = tasks
        .iter()
        .map(|&(requests, period)| SmallTask { requests, period, deadline: period, jitter: 0 })
        .collect();
    let table = std::iter::once(0).chain(times.iter().copied()).collect();
    let system = SmallSystem { tasks, table, batch_max, best_effort_fill: 0 };
    system.check();
    system
}

impl SmallSystem {
    /// Returns the same system with best effort that fills batches up to `best_effort_fill`.
    ///
    /// # Panics
    /// If the fill exceeds z.
    #[must_use]
    pub fn with_best_effort_fill(mut self, best_effort_fill: u32) -> Self {
        self.best_effort_fill = best_effort_fill;
        self.check();
        self
    }

    /// Returns the same system with batches of at most `batch_max`.
    ///
    /// # Panics
    /// If the table is shorter.
    #[must_use]
    pub fn with_batch_max(mut self, batch_max: u32) -> Self {
        self.batch_max = batch_max;
        self.check();
        self
    }

    /// Returns the same system with these relative deadlines, one for each task.
    ///
    /// # Panics
    /// If there is not one deadline for each task.
    #[must_use]
    pub fn with_deadlines(mut self, deadlines: &[Ticks]) -> Self {
        assert_eq!(deadlines.len(), self.tasks.len(), "one deadline for each task");
        for (task, &deadline) in self.tasks.iter_mut().zip(deadlines) {
            task.deadline = deadline;
        }
        self
    }

    /// Returns the same system with these jitters, one for each task.
    ///
    /// # Panics
    /// If there is not one jitter for each task.
    #[must_use]
    pub fn with_jitters(mut self, jitters: &[Ticks]) -> Self {
        assert_eq!(jitters.len(), self.tasks.len(), "one jitter for each task");
        for (task, &jitter) in self.tasks.iter_mut().zip(jitters) {
            task.jitter = jitter;
        }
        self
    }

    /// Returns the same system with every job of e requests split into e jobs of one request,
    /// released independently.
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

    /// Returns E: the number of requests that can be released together.
    #[must_use]
    pub fn requests_sum(&self) -> u32 {
        self.tasks.iter().map(|task| task.requests).sum()
    }

    /// Returns the longest time of a batch with this many real-time requests, best effort included:
    /// b(max(j, beta)). With j = 0 the batch holds only best effort.
    #[must_use]
    pub fn batch_cost(&self, real_time: u32) -> Ticks {
        self.table[real_time.max(self.best_effort_fill) as usize]
    }

    /// Compares the long-term demand, `sum e_i / p_i`, with the capacity of full batches,
    /// `z / b(z)`.
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

    /// Returns the system for the analyses, with ticks of length `tick`.
    ///
    /// # Panics
    /// If a duration exceeds [`Duration::MAX`].
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

/// Prints the system as code, so that a failing system can be entered again.
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
        if self.tasks.iter().any(|task| task.jitter > 0) {
            let jitters: Vec<_> = self.tasks.iter().map(|task| task.jitter).collect();
            write!(f, ".with_jitters(&{jitters:?})")?;
        }
        Ok(())
    }
}

/// The choices of the adversary, in addition to the order of events at the same instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The shortest time a batch may take.
    pub shortest_batch: ShortestBatch,
    /// The number of requests that a job may have.
    pub jobs: JobSize,
    /// J: the policy sees a job up to this long after its release, and the response counts from the
    /// release. Only the search of dual-queue FIFO uses it.
    pub jitter: Ticks,
}

/// The shortest time a batch may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShortestBatch {
    /// One tick: every worst case found is possible.
    OneTick,
    /// No time, as the limit of ever shorter batches; used to check safety.
    Instant,
}

/// The number of requests that a job may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobSize {
    /// Exactly e.
    Whole,
    /// Any number from 1 to e ("no more than e_i requests", 9.2.2).
    UpToWhole,
}

impl Rules {
    /// The possible behaviour: batches of at least one tick, whole jobs.
    pub const REAL: Self =
        Self { shortest_batch: ShortestBatch::OneTick, jobs: JobSize::Whole, jitter: 0 };
    /// The limit for every bound: batches may take no time.
    pub const LIMIT: Self =
        Self { shortest_batch: ShortestBatch::Instant, jobs: JobSize::Whole, jitter: 0 };
    /// The limit with jobs that may be smaller than e.
    pub const LIMIT_SMALLER_JOBS: Self =
        Self { shortest_batch: ShortestBatch::Instant, jobs: JobSize::UpToWhole, jitter: 0 };

    /// Returns the same rules with release jitter.
    #[must_use]
    pub const fn with_jitter(self, jitter: Ticks) -> Self {
        Self { jitter, ..self }
    }
}
