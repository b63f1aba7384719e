// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: between batches requests are dispatched in the order of their release, within
//! the line that the policy keeps: one for all (`fifo`, `noop`), or one for real time and
//! one for best effort (`dqf`).
//!
//! Names rise in the order of release. Within a batch order means nothing: the drive takes
//! it as one.

use model::{Request, RequestId, Time};

use super::{Breach, Checker, ViolationLog, is_best_effort};
use crate::Observer;

/// Which requests stand in one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// All.
    Common,
    /// Real time in one, best effort in another.
    OfClass,
}

/// First in, first out; see the module's text.
#[derive(Debug)]
pub struct ReleaseOrder {
    lines: Lines,
    /// The youngest request that each line has sent in batches before this one.
    youngest: [Option<RequestId>; 2],
    log: ViolationLog,
}

impl ReleaseOrder {
    /// The checker of a policy that keeps these lines.
    pub fn new(lines: Lines) -> Self {
        Self { lines, youngest: [None; 2], log: ViolationLog::default() }
    }

    fn line(&self, request: &Request) -> usize {
        usize::from(self.lines == Lines::OfClass && is_best_effort(request))
    }
}

impl Checker for ReleaseOrder {
    fn log(&self) -> &ViolationLog {
        &self.log
    }
}

impl Observer for ReleaseOrder {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let before = self.youngest;
        for request in batch {
            let (id, line) = (request.id, self.line(request));
            if let Some(younger) = before[line].filter(|&before| before > id) {
                self.log.add(now, Breach::Overtaken { id, younger });
            }
            self.youngest[line] = self.youngest[line].max(Some(id));
        }
    }
}
