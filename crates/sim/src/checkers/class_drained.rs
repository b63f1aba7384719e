// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a request is sent only when no higher class of the kernel's has one queued or on the
//! drive, unless it has aged for 10 s itself (`mq-deadline`).

use std::collections::BTreeMap;

use tidegate_model::{Duration, Outcome, Request, RequestId, Time};

use super::position_order::kernel_class;
use super::{Breach, Checker, ViolationLog};
use crate::Observer;

/// `prio_aging_expire`.
const AGED: Duration = Duration::from_ms(10_000);

/// Higher classes drain the drive; see the module's text.
#[derive(Debug, Default)]
pub struct ClassDrained {
    /// What is released and not complete: its class, and since when.
    pending: BTreeMap<RequestId, (u32, Time)>,
    /// How many of them are of each class.
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

impl Checker for ClassDrained {
    fn log(&self) -> &ViolationLog {
        &self.log
    }
}

impl Observer for ClassDrained {
    fn released(&mut self, now: Time, request: &Request) {
        let class = kernel_class(request.class);
        self.pending.insert(request.id, (class, now));
        *self.counts.entry(class).or_default() += 1;
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let Some((&highest, _)) = self.counts.first_key_value() else { return };
        for request in batch {
            // What never came is the matter of another checker.
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
