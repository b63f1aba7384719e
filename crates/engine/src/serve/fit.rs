// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds changes with which an unproved set of contracts would be proved.

use std::time::{Duration as Wall, Instant};

use tidegate_analysis::fit::{Change, Terms, up_to_us};
use tidegate_analysis::{Answer, assess};
use tidegate_model::{ExportContract, ExportSpec, Workload};

/// The size of the largest set in which the search tries to leave out each contract.
const CONTRACTS_TRIED_MAX: usize = 64;

/// The time limit of the search, because a user waits for the reply.
const TRIED_FOR: Wall = Wall::from_secs(2);

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
            let (name, deadline) = (task.name.clone(), up_to_us(response));
            found.push(Change::Deadline { name, deadline }.to_string());
        }
        found.extend(changed(exports, index, begun, &is_proven));
    }
    if tasks.len() > 1 && tasks.len() <= CONTRACTS_TRIED_MAX {
        for index in 0..tasks.len() {
            let mut fewer = workload.clone();
            let left_out = fewer.tasks.remove(index);
            if assess(&fewer, fewer.policy).answer == Answer::Proven {
                found.push(Change::Without { name: left_out.name }.to_string());
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
    found.push(Change::AsBestEffort { name: export.name.clone() }.to_string());
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
    let would = |Terms { requests, period, deadline }: Terms| {
        let changed = ExportContract { requests, period, deadline, ..contract.clone() };
        tried[index].contract = Some(changed);
        begun.elapsed() < TRIED_FOR && is_proven(&tried)
    };
    let ExportContract { requests, period, deadline, .. } = *contract;
    let changes = Terms { requests, period, deadline }.changes(&export.name, would);
    changes.iter().map(Change::to_string).collect()
}
