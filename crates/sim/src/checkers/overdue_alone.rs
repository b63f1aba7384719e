// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: nothing joins a request that has been on the drive for too long (`deadline-drain`).

use std::collections::BTreeSet;

use tidegate_model::{Duration, Outcome, Request, RequestId, Time};

use super::{Breach, ViolationLog};
use crate::Observer;

/// Checks that nothing is sent beside an overdue request; see the module documentation.
#[derive(Debug)]
pub struct OverdueAlone {
    drain_after: Duration,
    /// The requests on the drive, by the instant of their dispatch.
    on_drive: BTreeSet<(Time, RequestId)>,
    log: ViolationLog,
}

impl OverdueAlone {
    /// Creates the checker of a policy that drains the drive for a request this old.
    pub fn new(drain_after: Duration) -> Self {
        Self { drain_after, on_drive: BTreeSet::new(), log: ViolationLog::default() }
    }
}

keeps_log!(OverdueAlone);

impl Observer for OverdueAlone {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let oldest = self.on_drive.first();
        if let Some(&(_, overdue)) = oldest.filter(|(at, _)| now.since(*at) >= self.drain_after) {
            for &Request { id, .. } in batch {
                self.log.add(now, Breach::OverdueJoined { id, overdue });
            }
        }
        self.on_drive.extend(batch.iter().map(|request| (now, request.id)));
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        self.on_drive.retain(|&(_, id)| id != request.id);
    }
}
