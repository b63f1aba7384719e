// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The format of figures in text, and phrases that several reports share.

use tidegate_analysis::{Answer, Assessment, assess};
pub use tidegate_model::count;
use tidegate_model::{
    BestEffortOrder, Bytes, DepthChoice, DispatchMode, Duration, PolicyName, Workload,
};

/// Names numbered tasks by the first and the last one, for example `camera-1 to 16`.
pub(crate) fn numbered(first: &str, last: &str) -> String {
    format!("{first} to {}", last.rsplit('-').next().unwrap_or(last))
}

/// Formats the shortest and the longest time of an entry's tasks, for example `300ms to 316ms`.
pub(crate) fn range(shortest: Duration, longest: Duration) -> String {
    if shortest == longest { shortest.to_string() } else { format!("{shortest} to {longest}") }
}

/// Returns the order in which this policy serves the workload's best effort; `None` if there is no
/// best effort, or if the policy's own rule orders it.
pub(crate) fn best_effort_order(
    workload: &Workload,
    policy: PolicyName,
) -> Option<BestEffortOrder> {
    let is_ordered = policy.facts().best_effort.has_order() && !workload.best_effort.is_empty();
    is_ordered.then(|| workload.best_effort_order_under(policy))
}

/// Formats an order; `None` for the order of release, which needs no mention.
pub(crate) fn order(order: BestEffortOrder) -> Option<String> {
    match order {
        BestEffortOrder::Fifo => None,
        BestEffortOrder::Elevator | BestEffortOrder::Nearest | BestEffortOrder::Satf => {
            Some(format!("best effort in the order {order}: {}", order.about()))
        }
    }
}

/// Describes the depth of best effort that the workload file states; `None` if it states nothing
/// that concerns this policy.
pub(crate) fn depth_limit(workload: &Workload, assessment: &Assessment) -> Option<String> {
    best_effort_order(workload, assessment.policy)?;
    match (workload.best_effort_depth, assessment.best_effort_limit) {
        (DepthChoice::Proven, _) | (DepthChoice::AtMost(_), None) => None,
        (DepthChoice::AtMost(_), Some(most)) => {
            Some(format!("at most {most} of best effort at once, as best_effort_depth asks"))
        }
        (DepthChoice::Auto, Some(most)) => Some(format!(
            "more than {most} of best effort at once would gain less than 1 % of its throughput \
             (best_effort_depth = \"auto\")"
        )),
        (DepthChoice::Auto, None) => Some(
            "as much best effort at once as the policy and the proof allow: best_effort_depth = \
             \"auto\" cannot predict throughput here"
                .to_owned(),
        ),
    }
}

/// Describes how best effort is served.
pub(crate) fn best_effort(workload: &Workload, assessment: &Assessment) -> String {
    let is_unproved = matches!(assessment.answer, Answer::NotApplicable { .. });
    if !serves_best_effort(assessment) {
        if is_unproved {
            return "never served: the tasks may take every place on the drive".to_owned();
        }
        let instead = serving_policy(workload, assessment);
        let instead = instead
            .map(|it| format!("; {it} proves the same deadlines and serves it"))
            .unwrap_or_default();
        return format!("never served: the proof leaves no room for it beside the tasks{instead}");
    }
    let facts = assessment.policy.facts();
    if facts.has_common_queue {
        return format!("{} keeps it in the same queue as the tasks", assessment.policy);
    }
    match facts.dispatch {
        DispatchMode::Batches => {
            if let Some(cost) = &assessment.batch_cost {
                return format!(
                    "fills every batch behind which no task waits, up to a cost of {} in all",
                    ms_floor(cost.best_effort_fill)
                );
            }
            let fill = count(assessment.best_effort_fill as usize, "request");
            let why = if is_unproved { ", as there is no proof that it could cost" } else { "" };
            format!("fills every batch up to {fill}{why}")
        }
        DispatchMode::BestEffortDepth => {
            let depth = count(assessment.best_effort_depth as usize, "request");
            format!("at most {depth} of it on the drive at once")
        }
        DispatchMode::UpToDepth | DispatchMode::OneAtATime => {
            "takes what real-time requests leave".to_owned()
        }
    }
}

/// Returns whether the policy's plan has room for best effort.
pub(crate) fn serves_best_effort(assessment: &Assessment) -> bool {
    let facts = assessment.policy.facts();
    facts.has_common_queue
        || match facts.dispatch {
            DispatchMode::Batches => assessment.best_effort_fill > 0,
            DispatchMode::BestEffortDepth => assessment.best_effort_depth > 0,
            DispatchMode::UpToDepth | DispatchMode::OneAtATime => true,
        }
}

/// Returns a policy that proves the workload and has room for best effort; `None` if this
/// assessment proves nothing.
fn serving_policy(workload: &Workload, assessment: &Assessment) -> Option<PolicyName> {
    let serves = |policy: &PolicyName| {
        let other = assess(workload, *policy);
        other.answer == Answer::Proven && serves_best_effort(&other)
    };
    let is_proven = assessment.answer == Answer::Proven;
    let others = [PolicyName::GatedDrain, PolicyName::Dqf].into_iter();
    others.filter(|_| is_proven).find(serves)
}

/// Returns z; `None` if the policy forms no batches.
pub(crate) fn batch_max(assessment: &Assessment) -> Option<u32> {
    assessment.policy.facts().dispatch.awaits_idle_drive().then_some(assessment.batch_max)
}

/// Names the drive contract on which a proof relies, for a sentence that requires the drive to keep
/// it.
pub(crate) fn kept(assessment: &Assessment) -> &'static str {
    let contract = assessment.policy.facts().contract();
    match (assessment.rests_on_costs(), assessment.rests_on_costs_alone()) {
        (false, _) => contract.what(),
        (true, true) => "cost model",
        (true, false) => "table and cost model",
    }
}

/// Describes how batches are limited by cost; `None` if they are not.
pub(crate) fn batch_cost(assessment: &Assessment) -> Option<String> {
    let cost = assessment.batch_cost.as_ref()?;
    Some(format!("which cost at most {} together (batch_cost)", cost.cost_max))
}

/// Returns the largest number of best-effort requests in flight; `None` if the policy sets no
/// limit.
pub(crate) fn best_effort_depth(assessment: &Assessment) -> Option<u32> {
    let is_limited = assessment.policy.facts().dispatch.limits_best_effort();
    is_limited.then_some(assessment.best_effort_depth)
}

/// Formats a bound or an observed maximum in milliseconds, rounded up to the microsecond.
pub fn ms_ceil(duration: Duration) -> String {
    let us = duration.ns().div_ceil(1_000);
    format!("{}.{:03}ms", us / 1_000, us % 1_000)
}

/// Formats a margin in milliseconds, rounded down to the microsecond.
pub(crate) fn ms_floor(duration: Duration) -> String {
    let us = duration.ns() / 1_000;
    format!("{}.{:03}ms", us / 1_000, us % 1_000)
}

/// Formats an optional bound; `-` if there is none.
pub fn bound(bound: Option<Duration>) -> String {
    bound.map_or_else(|| "-".to_owned(), ms_ceil)
}

/// Formats megabytes per second with one decimal, or kilobytes per second below 1 MB/s.
pub fn throughput(bytes_per_s: u64) -> String {
    match bytes_per_s {
        1_000..1_000_000 => format!("{}kB/s", bytes_per_s / 1_000),
        _ => format!("{}.{}MB/s", bytes_per_s / 1_000_000, bytes_per_s / 100_000 % 10),
    }
}

/// States that all deadlines were kept; `deadlines` is their number.
pub(crate) fn kept_all(deadlines: &str) -> String {
    match deadlines {
        "1" => "kept its deadline".to_owned(),
        all => format!("kept all {all} deadlines"),
    }
}

/// Formats a number with separators, for example `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a size in decimal units, as on disk labels, for example `9.1 GB`.
pub fn decimal(size: Bytes) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB")];
    let unit = units.into_iter().find(|&(unit, _)| size.get() >= unit);
    let Some((unit, name)) = unit else { return size.to_string() };
    // Each unit is a multiple of ten bytes, so the division is exact.
    let tenths = (size.get() + unit / 20) / (unit / 10);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_as_disks_are_sold() {
        let told = [512, 999_999, 1_049_999_999, 9_105_024_000, 2_000_000_000_000];
        let told = told.map(|size| decimal(Bytes::new(size)));
        assert_eq!(told, ["512B", "999999B", "1.0 GB", "9.1 GB", "2.0 TB"]);
    }
}
