// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What analysis decides and a policy carries out.
//!
//! Policies and analyses never meet; they agree on the meaning of these parameters
//! because both read them here.

use std::fmt;

use crate::batch_table::BatchTable;
use crate::task::Task;

/// The policies of this version, by the names that files and scripts use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// FIFO up to the drive's depth.
    Noop,
    /// FIFO one at a time.
    Fifo,
    /// Dual-queue FIFO.
    Dqf,
}

impl PolicyName {
    /// All of them, in the order in which they are listed to people.
    pub const ALL: [Self; 3] = [Self::Noop, Self::Fifo, Self::Dqf];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Fifo => "fifo",
            Self::Dqf => "dqf",
        }
    }

    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The parameters of a run, the same for analysis, simulator and engine.
///
/// # Invariants
/// - `1 <= batch_max <= depth`, and `batch_max <= table.batch_max()`.
/// - `best_effort_fill <= batch_max`.
/// - `queued_max >= 1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// K: how many requests the device accepts at once.
    pub depth: u32,
    /// z: the most requests of one batch.
    pub batch_max: u32,
    /// beta: a batch may be filled up to this many requests with best effort (`docs/model.md` section 5).
    pub best_effort_fill: u32,
    /// How many requests of one class a policy holds before it answers `Full`.
    pub queued_max: u32,
    /// The tasks that were proved together.
    pub tasks: Vec<Task>,
    /// What the device was measured to need.
    pub table: BatchTable,
}

impl Plan {
    /// A queue bound that no well-behaved workload reaches, at 8 MiB of request names.
    pub const QUEUED_MAX_DEFAULT: u32 = 1 << 20;
}
