// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: between batches requests are dispatched in the order of their release, within
//! the line that the policy keeps: one for all (`fifo`, `noop`), or one for real time and
//! one for best effort (`dqf`).
//!
//! Within a batch order means nothing: the drive takes it as one.

use tidegate_model::{Request, RequestId, Time};

use super::arrivals::Arrivals;
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
    arrivals: Arrivals,
    /// The youngest request that each line has sent in batches before this one.
    youngest: [Option<(u64, RequestId)>; 2],
    log: ViolationLog,
}

impl ReleaseOrder {
    /// The checker of a policy that keeps these lines.
    pub fn new(lines: Lines) -> Self {
        let (arrivals, log) = Default::default();
        Self { lines, arrivals, youngest: [None; 2], log }
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
    fn released(&mut self, _now: Time, request: &Request) {
        self.arrivals.arrive(request.id);
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let before = self.youngest;
        for request in batch {
            let (id, line) = (request.id, self.line(request));
            // What never came is the matter of another checker.
            let Some(number) = self.arrivals.leave(id) else { continue };
            if let Some((_, younger)) = before[line].filter(|&(before, _)| before > number) {
                self.log.add(now, Breach::Overtaken { id, younger });
            }
            self.youngest[line] = self.youngest[line].max(Some((number, id)));
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.arrivals.leave(request.id);
    }
}
