// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A workload: the tasks and best-effort loads that share one drive, checked against it.

use crate::batch_table::BatchTable;
use crate::contracts::Contracts;
use crate::names::{PolicyName, RegulatorName};
use crate::parameters::Parameters;
use crate::task::{BestEffort, Task};
use crate::units::Bytes;

/// Which batch size the policy uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchChoice {
    /// Let the analysis choose z.
    Auto,
    /// This z.
    Fixed(u32),
}

/// The tasks and loads of one workload file, bound to the drive they share.
///
/// # Invariants
/// - There is at least one task or one load; names are unique.
/// - `table` covers the largest request and every operation; `depth >= table.batch_max()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// Sources with deadlines, expanded (`count` is gone).
    pub tasks: Vec<Task>,
    /// Sources without.
    pub best_effort: Vec<BestEffort>,
    /// Names of the `[[task]]` entries as they are written; the index is [`Task::entry`].
    pub entries: Vec<String>,
    /// The policy that the file asks for.
    pub policy: PolicyName,
    /// The batch size that the file asks for.
    pub batch: BatchChoice,
    /// What people call the drive.
    pub drive_name: String,
    /// K of the drive.
    pub depth: u32,
    /// b(i) for this workload's requests.
    pub table: BatchTable,
    /// What else the drive was measured to keep for them.
    pub contracts: Contracts,
    /// What the file wraps round the policy, the outermost first.
    pub regulators: Vec<RegulatorName>,
    /// What the file says of policies and regulators.
    pub parameters: Parameters,
    /// What a reader of results must know about how `table` came about, a sentence each.
    pub notes: Vec<String>,
}

impl Workload {
    /// A workload of nobody yet on a drive of that name, depth and table, of which nothing else
    /// was measured: dual-queue FIFO, nothing fixed.
    pub fn new(drive_name: impl Into<String>, depth: u32, table: BatchTable) -> Self {
        Self {
            tasks: Vec::new(),
            best_effort: Vec::new(),
            entries: Vec::new(),
            policy: PolicyName::Dqf,
            batch: BatchChoice::Auto,
            drive_name: drive_name.into(),
            depth,
            table,
            contracts: Contracts::default(),
            regulators: Vec::new(),
            parameters: Parameters::default(),
            notes: Vec::new(),
        }
    }

    /// The largest request of any source.
    ///
    /// # Panics
    /// On a workload without sources, which cannot be built from a file.
    pub fn size_max(&self) -> Bytes {
        let tasks = self.tasks.iter().map(|task| task.size);
        let loads = self.best_effort.iter().map(|load| load.size);
        tasks.chain(loads).max().expect("a workload has a source")
    }
}
