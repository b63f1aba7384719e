// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reservation-based rate: best effort gets the share of the device that the declared tasks
//! leave unused.
//!
//! Rate of best effort = capacity - sum of e_i per p_i over the tasks. A request is charged its
//! size if the capacity is given in bytes, or the device time of its own kind if no capacity is
//! given (see `device_time`). Device times come from the longest batch times, so the rate is as
//! conservative as a proof; on a drive whose typical times are far below these, best effort gets
//! little.
//!
//! Source: Wu and Brandt, sections 3 and 4 ("reservation-based"), which announce it without
//! details.

use tidegate_model::parameters::TokenUnit;
use tidegate_model::{Bandwidth, Plan, Task};

use super::device_time::DeviceTime;

/// The least share of the capacity that best effort keeps, in percent: it is limited but never
/// stopped.
const LEFT_PERCENT_MIN: u64 = 1;

/// A second in nanoseconds: device time per second of an idle device.
const SECOND_NS: u64 = 1_000_000_000;

/// Returns the tokens per second for best effort and their unit.
pub(crate) fn rate(plan: &Plan, capacity: Option<Bandwidth>) -> (TokenUnit, u64) {
    let (unit, capacity) = match capacity {
        Some(capacity) => (TokenUnit::Byte, capacity.bytes_per_s()),
        None => (TokenUnit::DeviceTime, SECOND_NS),
    };
    let device_time = DeviceTime::of(plan);
    let request_tokens = |task: &Task| match unit {
        TokenUnit::Byte => task.size.get(),
        TokenUnit::Request | TokenUnit::DeviceTime => device_time.ns(task.op, task.size),
    };
    // The demand is rounded up.
    let demand = |task: &Task| {
        let job = u128::from(request_tokens(task)) * u128::from(task.requests);
        (job * u128::from(SECOND_NS)).div_ceil(u128::from(task.period.ns()))
    };
    let reserved: u128 = plan.tasks.iter().map(demand).sum();
    let reserved = u64::try_from(reserved).unwrap_or(u64::MAX);
    // A reservation beyond the capacity leaves only the minimum share.
    let left = capacity.saturating_sub(reserved);
    (unit, left.max(capacity / 100 * LEFT_PERCENT_MIN).max(1))
}
