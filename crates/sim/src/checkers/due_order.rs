// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: between batches requests are dispatched in the order of their absolute deadlines:
//! no batch leaves a request queued that is due before one in it. Best effort is due after
//! everything else.
//!
//! Within a batch order means nothing: the drive takes it as one. Equal deadlines may go in
//! any order.

use std::collections::BTreeSet;

use model::{Request, RequestId, Time};

use super::{Breach, Checker, ViolationLog};
use crate::Observer;

/// Earliest deadline first; see the module's text.
#[derive(Debug, Default)]
pub struct DueOrder {
    queued: BTreeSet<(Time, RequestId)>,
    log: ViolationLog,
}

/// Where a request stands in the order.
fn place(request: &Request) -> (Time, RequestId) {
    (request.due.unwrap_or(Time::MAX), request.id)
}

impl Checker for DueOrder {
    fn log(&self) -> &ViolationLog {
        &self.log
    }
}

impl Observer for DueOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        self.queued.insert(place(request));
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            self.queued.remove(&place(request));
        }
        let (Some(&(due, waiting)), Some(last)) =
            (self.queued.first(), batch.iter().map(place).max())
        else {
            return;
        };
        if due < last.0 {
            self.log.add(now, Breach::LaterDueFirst { id: last.1, waiting });
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.queued.remove(&place(request));
    }
}
