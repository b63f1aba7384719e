// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Drives whose memory takes writes and carries them out later.
//!
//! Every contract here was measured for one kind of request at a time. On such a drive a read
//! may stand behind writes that were complete long before: more than the table knows, for the
//! memory holds many. So nothing is promised to a workload that reads and writes unless what
//! mixed batches take was measured (`[cost]`), and then only by policies that rest on b(i).
//! Writes alone always stand behind earlier writes, when they are measured too: there the tables
//! hold, for writes that come as the measured ones did.

use tidegate_model::{DeferredWrites, DriveContract, Knowledge, Op, PolicyName, Workload};

const UNMEASURED: &str = "the drive's memory takes writes and carries them out later, so a read may wait \
     for writes that were complete before, and no table knows how long; switch the drive's write \
     cache off and measure it again, or measure mixed batches \
     (`tidegate profile --only batch,mixed --op read,write`)";

const NOT_BY_COST: &str = "the drive's memory takes writes and carries them out later, and of what it keeps \
     beside batches nothing was measured with reads and writes mixed; switch the drive's write \
     cache off and measure it again, or use dqf, for which [cost] is enough";

const UNFORESEEN: &str = "das must know how long a request takes, and on a drive whose memory takes writes \
     and carries them out later nobody does; switch the drive's write cache off and measure it \
     again, or use dqf";

/// Why nothing is said of a workload on such a drive, if so.
pub(crate) fn objection(workload: &Workload, policy: PolicyName) -> Option<&'static str> {
    let facts = policy.facts();
    let of_mixed = match workload.contracts.deferred_writes {
        DeferredWrites::None => return None,
        DeferredWrites::Measured if rests_on_batches(facts.contract) => None,
        DeferredWrites::Measured => Some(NOT_BY_COST),
        DeferredWrites::Unmeasured => Some(UNMEASURED),
    };
    match facts.needs {
        Knowledge::AccessTimes => Some(UNFORESEEN),
        Knowledge::Nothing | Knowledge::DrainTimes => of_mixed.filter(|_| is_mixed(workload)),
    }
}

/// Whether b(i) is all that a proof takes for granted of the drive.
fn rests_on_batches(contract: Option<DriveContract>) -> bool {
    contract.is_some_and(|contract| match contract {
        DriveContract::Batches => true,
        DriveContract::Drain | DriveContract::Starvation | DriveContract::Priority => false,
    })
}

/// What a proof for writes alone rests on, if there is one.
pub(crate) fn note(workload: &Workload) -> Option<String> {
    let is_deferred = workload.contracts.deferred_writes != DeferredWrites::None;
    (is_deferred && !is_mixed(workload)).then(|| {
        "the drive's memory takes writes and carries them out later: its tables hold for writes \
         that come as the measured ones did, at random places and nothing else beside them"
            .to_owned()
    })
}

fn is_mixed(workload: &Workload) -> bool {
    let tasks = workload.tasks.iter().map(|task| task.op);
    let mut ops = tasks.chain(workload.best_effort.iter().map(|load| load.op));
    ops.any(|op| op == Op::Read)
}
