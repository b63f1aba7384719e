// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rate at which best effort received tokens in a run, in one line.

use tidegate_host::OverTime;
use tidegate_model::parameters::{BestEffortRate, TokenRate, TokenUnit};
use tidegate_model::{Duration, Workload};

use crate::figures;

/// The smallest device time per second that `rate = "reserve"` leaves for best effort.
const LEFT_MIN: Duration = Duration::from_ms(10);

/// States how many tokens best effort received; `None` if tokens did not limit it.
pub(super) fn sentence(workload: &Workload, over_time: &OverTime) -> Option<String> {
    let rates = || over_time.token_rate().iter().flatten();
    let last = rates().next_back()?;
    let lowest = rates().min_by_key(|rate| rate.per_s)?;
    let highest = rates().max_by_key(|rate| rate.per_s)?;
    if lowest.per_s == highest.per_s {
        let hint = if is_starved(workload, *last) { STARVED } else { "" };
        return Some(format!("best effort was allowed {}{hint}", amount(*last)));
    }
    Some(format!(
        "best effort was allowed {} to {}, and {} at the end",
        amount(*lowest),
        amount(*highest),
        amount(*last)
    ))
}

const STARVED: &str = ", the least that `rate = \"reserve\"` leaves it: without `capacity`, the tasks \
                       reserve the longest time of their requests; state the drive's throughput as \
                       `capacity` in [policy.token-bucket]";

/// Returns whether the tasks' reservations left best effort only its smallest share.
fn is_starved(workload: &Workload, rate: TokenRate) -> bool {
    let is_reserved = match workload.parameters.token_bucket.rate {
        BestEffortRate::Reserve { capacity } => capacity.is_none(),
        BestEffortRate::Fixed(_) => false,
    };
    is_reserved && rate.unit == TokenUnit::DeviceTime && rate.per_s <= LEFT_MIN.ns()
}

fn amount(rate: TokenRate) -> String {
    match rate.unit {
        TokenUnit::Request => format!("{} requests/s", rate.per_s),
        TokenUnit::Byte => figures::throughput(rate.per_s),
        TokenUnit::DeviceTime => {
            format!(
                "{} of the drive's time a second",
                figures::ms_floor(Duration::from_ns(rate.per_s))
            )
        }
    }
}
