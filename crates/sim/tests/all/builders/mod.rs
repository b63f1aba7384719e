// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Short constructors of tasks, loads and instants, shared by several test crates.

use proptest::prelude::*;
use tidegate_model::{BestEffort, Bytes, Duration, Intensity, Op, Task, Time};

pub(crate) const SIZE: Bytes = Bytes::from_kib(4);

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

pub(crate) fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns a hard task with one read per job at a random place, released from the start, due after
/// a period.
pub(crate) fn task(name: &str, period_ms: u64) -> Task {
    Task::periodic(name, ms(period_ms), SIZE)
}

/// Returns a load of reads at random places.
pub(crate) fn load(name: &str, intensity: Intensity) -> BestEffort {
    BestEffort::reads(name, intensity, SIZE)
}

pub(crate) fn any_op() -> impl Strategy<Value = Op> {
    prop::sample::select(&[Op::Read, Op::Write][..])
}
