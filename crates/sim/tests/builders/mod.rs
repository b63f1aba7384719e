// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Short constructors of tasks, loads and instants, shared by several test crates.

use proptest::prelude::*;
use tidegate_model::{BestEffort, Bytes, Class, Duration, Intensity, Op, Place, Task, Time};

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
    Task {
        name: name.to_owned(),
        entry: 0,
        period: ms(period_ms),
        deadline: ms(period_ms),
        requests: 1,
        size: SIZE,
        op: Op::Read,
        place: Place::Random,
        offset: Duration::ZERO,
        quality_ppm: Task::QUALITY_ALL_PPM,
        outstanding_max: None,
        class: Class::Hard,
    }
}

/// Returns a load of reads at random places.
pub(crate) fn load(name: &str, intensity: Intensity) -> BestEffort {
    BestEffort { name: name.to_owned(), intensity, size: SIZE, op: Op::Read, place: Place::Random }
}

pub(crate) fn any_op() -> impl Strategy<Value = Op> {
    prop::sample::select(&[Op::Read, Op::Write][..])
}
