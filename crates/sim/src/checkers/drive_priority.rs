// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a real-time request carries the tag of its policy, and best effort carries none: the
//! drive's own priority (`rtio-priority`), or no tag (`rtio`, `rtio-drain`, `rtio-limit`).

use tidegate_model::{Request, Tag, Time};

use super::{Breach, ViolationLog, is_best_effort};
use crate::Observer;

/// Checks the tags of requests; see the module documentation.
#[derive(Debug)]
pub struct DrivePriority {
    real_time: Tag,
    log: ViolationLog,
}

impl DrivePriority {
    /// Creates the checker of a policy that sends real time with this tag.
    pub fn new(real_time: Tag) -> Self {
        Self { real_time, log: ViolationLog::default() }
    }
}

keeps_log!(DrivePriority);

impl Observer for DrivePriority {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            let expected = if is_best_effort(request) { Tag::Simple } else { self.real_time };
            if request.tag != expected {
                self.log.add(now, Breach::WrongTag { id: request.id, tag: request.tag });
            }
        }
    }
}
