// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What it takes to process a command before anything moves.
//!
//! It depends on what the drive did before, in a way that published figures leave open: the
//! figures of hits "after a read" or "after a write" were taken in streams, one hit going on
//! from the last. So the figure after the same kind of command is used where the command
//! goes on from the last one; a hit elsewhere costs what a hit after the other kind costs.
//! Measured traces show it: on a Seagate ST39102LW, hits that go on take 0.49 ms and hits
//! elsewhere in what was read ahead 0.67 ms, as the two figures of its parameter file say.

use tidegate_model::mechanics::Overhead;
use tidegate_model::{Duration, Op};

/// Whether a command needs the heads before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It is answered from memory, or at least begun there.
    Memory,
    /// It needs the heads first.
    Heads,
}

/// Overheads, and the command before.
#[derive(Debug, Clone)]
pub(crate) struct Commands {
    overhead: Overhead,
    last_op: Op,
    /// The sector after its last.
    last_end: u64,
}

impl Commands {
    /// No command so far.
    pub(crate) fn new(overhead: &Overhead) -> Self {
        Self { overhead: overhead.clone(), last_op: Op::Read, last_end: 0 }
    }

    /// Notes the command that was served.
    pub(crate) fn served(&mut self, op: Op, end: u64) {
        (self.last_op, self.last_end) = (op, end);
    }

    /// Whether a command at `start` goes on from the last one, and is of its kind.
    pub(crate) fn goes_on(&self, op: Op, start: u64) -> bool {
        self.last_op == op && self.last_end == start
    }

    /// The processing of a command at `start`.
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

    /// Before each transfer.
    pub(crate) fn preparation(&self) -> Duration {
        Duration::from_ns(self.overhead.data_preparation_ns)
    }

    /// Taking up the bus again after the heads were needed.
    pub(crate) fn reconnect(&self) -> Duration {
        Duration::from_ns(self.overhead.reconnect_ns)
    }

    /// Between the last sector and the completion.
    pub(crate) fn completion(&self, op: Op) -> Duration {
        Duration::from_ns(match op {
            Op::Read => self.overhead.read_completion_ns,
            Op::Write => self.overhead.write_completion_ns,
        })
    }
}
