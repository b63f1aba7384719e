// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A real-time task of random reads.

use tidegate_model::{Bytes, Duration, Task};

/// Returns a task with a period and a deadline in ms, and the requests of a job.
pub(crate) fn task(period_ms: u64, deadline_ms: u64, requests: u32) -> Task {
    let deadline = Duration::from_ms(deadline_ms);
    let task = Task::periodic("task", Duration::from_ms(period_ms), Bytes::from_kib(128));
    Task { deadline, requests, ..task }
}
