// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds changes with which an unproved set of contracts would be proved.

use std::time::{Duration as Wall, Instant};

use tidegate_analysis::{Answer, assess};
use tidegate_model::{Duration, ExportContract, ExportSpec, Workload};

/// The size of the largest set in which the search tries to leave out each contract.
const CONTRACTS_TRIED_MAX: usize = 64;

/// The time limit of the search, because a user waits for the reply.
const TRIED_FOR: Wall = Wall::from_secs(2);

/// The number of times that the period is doubled.
const DOUBLINGS: u32 = 6;

/// Returns changes that would make the set provable: leaving out one contract, or giving a contract
/// that is not kept a longer deadline, fewer requests or a longer period. One entry per change;
/// empty if the policy has no bound at all.
///
/// # Complexity
/// One assessment for each of up to 64 contracts, plus as many as fit into two seconds.
pub(super) fn of_set(
    workload: &Workload,
    exports: &[ExportSpec],
    is_proven: impl Fn(&[ExportSpec]) -> bool,
) -> Vec<String> {
    let (tasks, begun) = (&workload.tasks, Instant::now());
    let assessment = assess(workload, workload.policy);
    let with_contract = exports.iter().enumerate().filter(|(_, export)| export.contract.is_some());
    let mut found = Vec::new();
    for ((task, assessed), (index, _)) in tasks.iter().zip(&assessment.tasks).zip(with_contract) {
        if assessed.is_deadline_met {
            continue;
        }
        if let Some((response, _)) = assessed.response_max {
            let deadline = up_to_us(response);
            found.push(format!("`{}` with a deadline of {deadline} or more", task.name));
        }
        found.extend(changed(exports, index, begun, &is_proven));
    }
    if tasks.len() > 1 && tasks.len() <= CONTRACTS_TRIED_MAX {
        for index in 0..tasks.len() {
            let mut fewer = workload.clone();
            let left_out = fewer.tasks.remove(index);
            if assess(&fewer, fewer.policy).answer == Answer::Proven {
                found.push(format!("all but `{}`", left_out.name));
            }
        }
    }
    if found.is_empty() && !matches!(assessment.answer, Answer::NotApplicable { .. }) {
        found.push(
            "none of the changes that were tried: fewer requests of an export, a longer period"
                .to_owned(),
        );
    }
    found
}

/// Returns changes to the export at that index with which the whole set would be proved, as far as
/// they were found in time.
pub(super) fn of_newcomer(
    exports: &[ExportSpec],
    newcomer: usize,
    is_proven: impl Fn(&[ExportSpec]) -> bool,
) -> Vec<String> {
    let export = &exports[newcomer];
    if export.contract.is_none() {
        return Vec::new();
    }
    let mut found = changed(exports, newcomer, Instant::now(), is_proven);
    found.push(format!("`{}` as best effort", export.name));
    found
}

/// Tries fewer requests or a longer period for the export at that index, which must have a
/// contract.
fn changed(
    exports: &[ExportSpec],
    index: usize,
    begun: Instant,
    is_proven: impl Fn(&[ExportSpec]) -> bool,
) -> Vec<String> {
    let export = &exports[index];
    let Some(contract) = &export.contract else { return Vec::new() };
    let mut tried = exports.to_vec();
    let mut would = |contract: ExportContract| {
        tried[index].contract = Some(contract);
        begun.elapsed() < TRIED_FOR && is_proven(&tried)
    };
    let mut found = Vec::new();
    if let Some(requests) =
        most(contract.requests, |requests| would(ExportContract { requests, ..contract.clone() }))
    {
        found.push(format!("`{}` with {requests} requests per period", export.name));
    }
    let longer = (1..=DOUBLINGS).filter_map(|doublings| stretched(contract, 1 << doublings));
    for contract in longer {
        let (period, deadline) = (contract.period, contract.deadline);
        if would(contract) {
            found.push(format!(
                "`{}` with a period of {period} and a deadline of {deadline}",
                export.name
            ));
            break;
        }
    }
    found
}

/// Returns the largest number below `count` that passes the test; `None` if 1 already fails.
fn most(count: u32, mut will_do: impl FnMut(u32) -> bool) -> Option<u32> {
    let (mut least, mut too_many) = (0, count);
    while too_many - least > 1 {
        let middle = least + (too_many - least) / 2;
        if will_do(middle) { least = middle } else { too_many = middle }
    }
    (least > 0).then_some(least)
}

fn stretched(contract: &ExportContract, factor: u64) -> Option<ExportContract> {
    let stretch = |time: Duration| time.ns().checked_mul(factor).map(Duration::from_ns);
    let (period, deadline) = (stretch(contract.period)?, stretch(contract.deadline)?);
    Some(ExportContract { period, deadline, ..contract.clone() })
}

/// Rounds up to the next microsecond, for display.
pub(super) fn up_to_us(time: Duration) -> Duration {
    Duration::from_us(time.ns().div_ceil(1_000))
}
