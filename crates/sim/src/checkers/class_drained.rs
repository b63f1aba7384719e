// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a request is sent only if no higher class of the kernel has a request queued or on the
//! drive, unless the request itself has aged for 10 s (`mq-deadline`).

use std::collections::BTreeMap;

use tidegate_model::{Duration, Outcome, Request, RequestId, Time};

use super::position_order::kernel_class;
use super::{Breach, ViolationLog};
use crate::Observer;

/// The kernel's `prio_aging_expire`: the wait after which a request of a lower class may be sent
/// first.
const AGED: Duration = Duration::from_ms(10_000);

/// Checks that higher classes drain the drive first; see the module documentation.
#[derive(Debug, Default)]
pub struct ClassDrained {
    /// Requests that are released and not complete: their class, and their release.
    pending: BTreeMap<RequestId, (u32, Time)>,
    /// The number of pending requests of each class.
    counts: BTreeMap<u32, u64>,
    log: ViolationLog,
}

impl ClassDrained {
    fn forget(&mut self, request: &Request) {
        let Some((class, _)) = self.pending.remove(&request.id) else { return };
        let count = self.counts.entry(class).or_default();
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&class);
        }
    }
}

keeps_log!(ClassDrained);

impl Observer for ClassDrained {
    fn released(&mut self, now: Time, request: &Request) {
        let class = kernel_class(request.class);
        self.pending.insert(request.id, (class, now));
        *self.counts.entry(class).or_default() += 1;
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let Some((&highest, _)) = self.counts.first_key_value() else { return };
        for request in batch {
            // Another checker reports a request that never arrived.
            let Some(&(class, since)) = self.pending.get(&request.id) else { continue };
            if class > highest && now.since(since) < AGED {
                self.log.add(now, Breach::ClassOvertook { id: request.id });
            }
        }
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        self.forget(request);
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.forget(request);
    }
}
