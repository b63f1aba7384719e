// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Small systems for policies that decide by drain times: tasks on a drive that keeps only
//! drain(q), and random systems of each provable kind.
//!
//! Duels, searches and the scanning references all use them.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_analysis::assess;
use tidegate_model::{
    BatchTable, BestEffort, Bytes, Class, Duration, Intensity, Plan, PolicyName, Request,
    RequestId, Task, TaskIndex, Time, Workload,
};

use crate::black_box::{BlackBox, CompletionStrategy};

/// A task, in ticks of a nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainTask {
    /// p, the period.
    pub period: u64,
    /// d, the deadline.
    pub deadline: u64,
    /// e, the requests of a job.
    pub requests: u32,
}

/// Tasks on a drive that keeps only drain(q).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrainSystem {
    /// The tasks.
    pub tasks: Vec<DrainTask>,
    /// drain(1), drain(2), ... in ticks, as the drive keeps it.
    pub drain: Vec<u64>,
    /// K, the drive's depth.
    pub depth: u32,
    /// Number of best-effort requests that are always released and not complete.
    pub best_effort: u32,
}

impl DrainSystem {
    /// Returns n, the number of units.
    #[must_use]
    pub fn units(&self) -> u32 {
        self.tasks.iter().map(|task| task.requests).sum()
    }

    /// Returns drain(q) with its running maximum.
    ///
    /// # Panics
    /// If the table is shorter.
    #[must_use]
    pub fn drain_max(&self, count: u32) -> u64 {
        self.drain[..count as usize].iter().copied().max().unwrap_or(0)
    }

    /// Returns max over s of drain(s) + drain(n - s).
    #[must_use]
    pub fn worst_pair(&self) -> u64 {
        let units = self.units();
        let pairs = (0..units).map(|first| self.drain_max(first) + self.drain_max(units - first));
        pairs.max().unwrap_or(0)
    }

    /// Returns the drive.
    #[must_use]
    pub fn black_box(&self, strategy: CompletionStrategy, random: Pcg64) -> BlackBox {
        let mut drain = vec![Duration::ZERO];
        drain.extend(self.drain.iter().copied().map(Duration::from_ns));
        // Requests beyond the table have no guaranteed drain time.
        drain.resize(self.depth as usize + 1, drain[drain.len() - 1]);
        BlackBox::new(drain, strategy, random)
    }

    /// Returns the workload with this drain table, whose batch table is the same.
    ///
    /// # Panics
    /// If the table has an entry of zero.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let times: Vec<Duration> = self.drain.iter().copied().map(Duration::from_ns).collect();
        let table = BatchTable::new(&times).expect("no entry is zero");
        let tasks = (0..).zip(&self.tasks).map(|(entry, task)| Task {
            entry,
            deadline: Duration::from_ns(task.deadline),
            requests: task.requests,
            ..Task::periodic(
                format!("task-{entry}"),
                Duration::from_ns(task.period),
                Bytes::from_kib(4),
            )
        });
        let load =
            BestEffort::reads("load", Intensity::Outstanding(self.best_effort), Bytes::from_kib(4));
        let best_effort = if self.best_effort > 0 { vec![load] } else { vec![] };
        let mut workload = Workload {
            tasks: tasks.collect(),
            best_effort,
            ..Workload::new("black box", self.depth, table.clone())
        };
        workload.contracts.drain = Some(table);
        workload
    }

    /// Returns the plan of its assessment under a policy.
    #[must_use]
    pub fn plan(&self, name: PolicyName) -> Plan {
        let workload = self.workload();
        assess(&workload, name).plan(&workload)
    }
}

/// Returns a random drain table: affine, concave, convex, with plateaus, or nondecreasing at
/// random.
pub fn drain_table(random: &mut Pcg64, length: u32) -> Vec<u64> {
    let first: u64 = random.random_range(1..=12);
    let slope = random.random_range(0..=6);
    let kind = random.random_range(0..5);
    let (mut time, mut step) = (first, first);
    let mut table = vec![time];
    for _ in 1..length {
        step = match kind {
            0 => slope,
            1 => random.random_range(0..=step),
            2 => step + random.random_range(0..=2),
            3 if random.random_bool(0.6) => 0,
            _ => random.random_range(0..=9),
        };
        time += step;
        table.push(time);
    }
    table
}

/// Returns a random system for `gated-drain`; in half of the systems the deadlines equal the static
/// bound.
pub fn gated_system(random: &mut Pcg64) -> DrainSystem {
    let length = random.random_range(3..=12);
    let mut system = DrainSystem {
        tasks: Vec::new(),
        drain: drain_table(random, length),
        depth: random.random_range(length.saturating_sub(2).max(3)..=length + 2),
        best_effort: if random.random_bool(0.1) { 0 } else { random.random_range(1..=2 * length) },
    };
    let units_max = length.min(system.depth);
    let count = random.random_range(1..=6_u32.min(units_max));
    let is_single = random.random_bool(0.5);
    for left in (0..count).rev() {
        let room = units_max - system.units() - left;
        let requests = if is_single { 1 } else { random.random_range(1..=3.min(room)) };
        system.tasks.push(DrainTask { period: 0, deadline: 0, requests });
    }
    let worst = system.worst_pair();
    let is_tight = random.random_bool(0.5);
    for task in &mut system.tasks {
        let slack = if is_tight { 0 } else { random.random_range(0..=2 * worst) };
        task.deadline = worst + slack;
        task.period = task.deadline + gap(random, worst);
    }
    system
}

/// Returns a random system that need not be provable.
pub fn any_system(random: &mut Pcg64) -> DrainSystem {
    let mut system = gated_system(random);
    let worst = system.worst_pair();
    for task in &mut system.tasks {
        task.deadline = random.random_range(1..=2 * worst);
        task.period = random.random_range(1..=3 * worst);
    }
    system
}

/// Returns a random system for `adaptive-drain`.
pub fn adaptive_system(random: &mut Pcg64) -> DrainSystem {
    let length = random.random_range(2..=12);
    let drain = drain_table(random, length);
    let any = |random: &mut Pcg64| drain[random.random_range(0..drain.len())];
    let deadline = match random.random_range(0..5) {
        0 => drain[0],
        1 => any(random),
        2 => any(random) + drain[0],
        3 => 2 * drain[0],
        _ => drain[0] + random.random_range(0..=2 * drain[drain.len() - 1]),
    };
    let period = deadline + gap(random, deadline);
    DrainSystem {
        tasks: vec![DrainTask { period, deadline, requests: 1 }],
        drain,
        depth: random.random_range(length.saturating_sub(1).max(2)..=length + 2),
        best_effort: random.random_range(1..=2 * length),
    }
}

/// Returns by how much a period exceeds its deadline: often 0.
fn gap(random: &mut Pcg64, typical: u64) -> u64 {
    match random.random_range(0..4) {
        0 | 1 => 0,
        2 => 1,
        _ => random.random_range(0..=2 * typical),
    }
}

/// Returns a request of 4 KiB.
///
/// # Panics
/// If there are more sources than 2^32.
#[must_use]
pub fn request(id: u64, source: usize, class: Class, released: Time, due: Option<Time>) -> Request {
    Request {
        task: TaskIndex(u32::try_from(source).expect("fewer sources than 2^32")),
        released,
        eligible: released,
        due,
        ..Request::plain(RequestId(id), class, Bytes::from_kib(4))
    }
}
