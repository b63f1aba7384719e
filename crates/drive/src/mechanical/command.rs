// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The time to process a command before any movement.
//!
//! The time depends on the preceding command, and published figures leave the details open: the
//! figures of hits "after a read" or "after a write" were taken in streams in which each hit
//! continues the last command. So a hit that continues the last command gets the figure for a hit
//! after its own kind, and any other hit gets the figure for a hit after the other kind. Measured
//! traces show this: on a Seagate ST39102LW, continuing hits take 0.49 ms and hits elsewhere in the
//! read-ahead data take 0.67 ms, the two figures of its parameter file.

use tidegate_model::mechanics::Overhead;
use tidegate_model::{Duration, Op};

/// Whether a command needs the heads first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Memory serves the command, or at least its beginning.
    Memory,
    /// The command needs the heads first.
    Heads,
}

/// The overheads and the last command.
#[derive(Debug, Clone)]
pub(crate) struct Commands {
    overhead: Overhead,
    last_op: Op,
    /// The sector after the last command's end.
    last_end: u64,
}

impl Commands {
    /// Creates the state of a disk that has served nothing. Its next command counts as one after a
    /// read that ended before sector 0.
    pub(crate) fn new(overhead: &Overhead) -> Self {
        Self { overhead: overhead.clone(), last_op: Op::Read, last_end: 0 }
    }

    /// Records a served command.
    pub(crate) fn served(&mut self, op: Op, end: u64) {
        (self.last_op, self.last_end) = (op, end);
    }

    /// Returns whether a command at `start` continues the last one and is of the same kind.
    pub(crate) fn goes_on(&self, op: Op, start: u64) -> bool {
        self.last_op == op && self.last_end == start
    }

    /// Returns the processing time of a command at `start`.
    pub(crate) fn overhead(&self, op: Op, need: Need, start: u64) -> Duration {
        let same = match need {
            Need::Memory => self.goes_on(op, start),
            Need::Heads => self.last_op == op,
        };
        let after_read = same == (op == Op::Read);
        let overhead = &self.overhead;
        Duration::from_ns(match (op, need, after_read) {
            (Op::Read, Need::Memory, true) => overhead.read_hit_after_read_ns,
            (Op::Read, Need::Memory, false) => overhead.read_hit_after_write_ns,
            (Op::Read, Need::Heads, true) => overhead.read_miss_after_read_ns,
            (Op::Read, Need::Heads, false) => overhead.read_miss_after_write_ns,
            (Op::Write, Need::Memory, true) => overhead.write_hit_after_read_ns,
            (Op::Write, Need::Memory, false) => overhead.write_hit_after_write_ns,
            (Op::Write, Need::Heads, true) => overhead.write_miss_after_read_ns,
            (Op::Write, Need::Heads, false) => overhead.write_miss_after_write_ns,
        })
    }

    /// Returns the time that the drive takes to prepare data before each transfer.
    pub(crate) fn preparation(&self) -> Duration {
        Duration::from_ns(self.overhead.data_preparation_ns)
    }

    /// Returns the time to reconnect to the bus after the heads were needed.
    pub(crate) fn reconnect(&self) -> Duration {
        Duration::from_ns(self.overhead.reconnect_ns)
    }

    /// Returns the time between the last sector and the completion.
    pub(crate) fn completion(&self, op: Op) -> Duration {
        Duration::from_ns(match op {
            Op::Read => self.overhead.read_completion_ns,
            Op::Write => self.overhead.write_completion_ns,
        })
    }
}
