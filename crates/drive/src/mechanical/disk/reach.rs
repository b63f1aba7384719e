// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The time that the heads need to reach a waiting request. The drive's queue uses this time to
//! choose the next request.

use std::ops::Range;

use tidegate_model::{Duration, Op, Time};

use crate::mechanical::mechanism::{Arm, Mechanism};
use crate::mechanical::queue::{Pending, Reach};
use crate::mechanical::reader::Reader;

/// The heads when they are free for the next command.
pub(super) struct FreeHeads<'a> {
    mechanism: &'a Mechanism,
    pub(super) arm: Arm,
    free_at: Time,
    /// A read that begins in this range was read ahead or is about to be.
    ahead: Range<u64>,
}

impl<'a> FreeHeads<'a> {
    /// Returns the state of the heads if they stop reading at `now`.
    pub(super) fn at(mechanism: &'a Mechanism, reader: &Reader, now: Time) -> Self {
        let (arm, free_at) = reader.stop(now);
        Self { mechanism, arm, free_at, ahead: reader.ahead() }
    }

    fn is_ahead(&self, pending: &Pending) -> bool {
        pending.request.op == Op::Read && self.ahead.contains(&pending.request.start.get())
    }
}

impl Reach for FreeHeads<'_> {
    fn access(&self, pending: &Pending) -> Duration {
        if self.is_ahead(pending) {
            return Duration::ZERO;
        }
        self.mechanism.access(self.arm, self.free_at, &pending.target, pending.request.op)
    }

    fn access_min(&self, pending: &Pending) -> Duration {
        if self.is_ahead(pending) {
            return Duration::ZERO;
        }
        self.mechanism.access_min(self.arm, pending.target.cylinder)
    }
}
