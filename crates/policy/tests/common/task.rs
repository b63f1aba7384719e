// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A real-time task of random reads.

use tidegate_model::{Bytes, Class, Duration, Op, Place, Task};

/// Returns a task with a period and a deadline in ms, and the requests of a job.
pub(crate) fn task(period_ms: u64, deadline_ms: u64, requests: u32) -> Task {
    Task {
        name: "task".to_owned(),
        entry: 0,
        period: Duration::from_ms(period_ms),
        deadline: Duration::from_ms(deadline_ms),
        requests,
        size: Bytes::from_kib(128),
        op: Op::Read,
        place: Place::Random,
        offset: Duration::ZERO,
        class: Class::Hard,
        quality_ppm: Task::QUALITY_ALL_PPM,
        outstanding_max: None,
    }
}
