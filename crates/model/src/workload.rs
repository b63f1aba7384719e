// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A workload: the tasks and best-effort loads that share one drive, checked against it.

use std::num::NonZeroU32;

use crate::batch_table::BatchTable;
use crate::best_effort_order::BestEffortOrder;
use crate::contracts::Contracts;
use crate::facts::BestEffortQueue;
use crate::host_time::Host;
use crate::names::PolicyName;
use crate::parameters::Parameters;
use crate::premise::Premises;
use crate::regulator::RegulatorName;
use crate::task::{BestEffort, Class, Task, TaskIndex};
use crate::typical_times::TypicalTimes;
use crate::units::Bytes;

/// The batch size that the policy uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchChoice {
    /// The analysis chooses z.
    Auto,
    /// This batch size z.
    Fixed(u32),
}

/// The largest number of best-effort requests that the policy keeps on the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepthChoice {
    /// As many as the policy's proof allows.
    Proven,
    /// As many as the policy's proof allows, but no more than best effort profits from, according
    /// to the drive's measured throughput.
    Auto,
    /// As many as the policy's proof allows, but no more than this number.
    AtMost(NonZeroU32),
}

/// The tasks and loads of one workload file, bound to their shared drive.
///
/// # Invariants
/// - There is at least one task or one load; names are unique.
/// - `table` covers the largest request and every operation; `depth >= table.batch_max()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// Sources with deadlines, after expansion of `count`.
    pub tasks: Vec<Task>,
    /// Sources without deadlines.
    pub best_effort: Vec<BestEffort>,
    /// Names of the `[[task]]` entries as written; the index is [`Task::entry`].
    pub entries: Vec<String>,
    /// The policy in the file.
    pub policy: PolicyName,
    /// The batch size in the file.
    pub batch: BatchChoice,
    /// The depth of best effort in the file.
    pub best_effort_depth: DepthChoice,
    /// The order of best effort in the file; `None`: the default
    /// ([`Self::best_effort_order_under`]).
    pub best_effort_order: Option<BestEffortOrder>,
    /// Whether the drive rotates, so that the order of positions matters.
    pub rotates: bool,
    /// The drive's name, for people.
    pub drive_name: String,
    /// K: the number of requests that the drive accepts at the same time.
    pub depth: u32,
    /// The batch table b(i) for this workload's requests.
    pub table: BatchTable,
    /// The other measured contracts of the drive, for this workload's requests.
    pub contracts: Contracts,
    /// The drive's typical times; `None` unless all sources have requests of one kind at random
    /// places and their throughput was measured.
    pub typical: Option<TypicalTimes>,
    /// The regulators around the policy, the outermost first.
    pub regulators: Vec<RegulatorName>,
    /// The parameters of policies and regulators in the file.
    pub parameters: Parameters,
    /// The share by which the drive may exceed its tables, in parts per million: the plan is made
    /// for times that are longer by this share. `table` and `contracts` are those of the drive,
    /// without the margin.
    pub margin_ppm: u32,
    /// The host's time between clients and drive.
    pub host: Host,
    /// The premises of every verdict on this workload, whatever the policy: the drive file's
    /// premises, and how `table` was made.
    pub premises: Premises,
}

impl Workload {
    /// Creates a workload without sources on a drive with this name, depth and table and no other
    /// measured figures. The policy is dual-queue FIFO, with no fixed batch size and with best
    /// effort in the order of release.
    pub fn new(drive_name: impl Into<String>, depth: u32, table: BatchTable) -> Self {
        Self {
            tasks: Vec::new(),
            best_effort: Vec::new(),
            entries: Vec::new(),
            policy: PolicyName::Dqf,
            batch: BatchChoice::Auto,
            best_effort_depth: DepthChoice::Proven,
            best_effort_order: None,
            rotates: false,
            drive_name: drive_name.into(),
            depth,
            table,
            contracts: Contracts::default(),
            typical: None,
            regulators: Vec::new(),
            parameters: Parameters::default(),
            margin_ppm: 0,
            host: Host::Unstated,
            premises: Premises::default(),
        }
    }

    /// Returns the order in which best effort is served under this policy: the file's or, without
    /// one, by position if the drive rotates and the policy holds best effort back by itself.
    pub fn best_effort_order_under(&self, policy: PolicyName) -> BestEffortOrder {
        let by_position = match policy.facts().best_effort {
            BestEffortQueue::Held => self.rotates,
            BestEffortQueue::OwnRule | BestEffortQueue::BesideRealTime => false,
        };
        let default = if by_position { BestEffortOrder::Elevator } else { BestEffortOrder::Fifo };
        self.best_effort_order.unwrap_or(default)
    }

    /// Returns the soft tasks that have this name, or that come from a `[[task]]` entry with this
    /// name.
    pub fn soft_tasks(&self, name: &str) -> Vec<TaskIndex> {
        let is_meant = |task: &Task| {
            task.class == Class::Soft
                && (task.name == name || self.entries[task.entry as usize] == name)
        };
        let tasks = (0..).map(TaskIndex).zip(&self.tasks);
        tasks.filter(|(_, task)| is_meant(task)).map(|(index, _)| index).collect()
    }

    /// Returns the size of the largest request of any source.
    ///
    /// # Panics
    /// On a workload without sources, which no file can describe.
    pub fn size_max(&self) -> Bytes {
        let tasks = self.tasks.iter().map(|task| task.size);
        let loads = self.best_effort.iter().map(|load| load.size);
        tasks.chain(loads).max().expect("a workload has a source")
    }
}
