// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for workloads on drives that accept writes into memory and carry them out later.
//!
//! Every contract of such a drive except `[cost]` was measured for one kind of request at a time.
//! On such a drive a read may wait behind writes that completed long before, and behind more of
//! them than the table covers, because the memory holds many. So a workload that reads and writes
//! gets a promise only if `[cost]` gives the times of mixed batches, and only under policies whose
//! contract is b(i). In a workload of writes alone, writes always wait behind earlier writes, as
//! they did in the measurement; so write tables hold for writes that are issued as the measured
//! ones were.

use tidegate_model::{
    DeferredWrites, DriveContract, Knowledge, Op, Premise, PremiseCode, Theorem, Workload,
};

const UNMEASURED: &str = "the drive's memory takes writes and carries them out later, so a read may wait \
     for writes that completed before, and no table gives the time; switch the drive's write \
     cache off and measure it again, or measure mixed batches";

const NOT_BY_COST: &str = "the drive's memory takes writes and carries them out later, and of its contracts \
     only batch times were measured with reads and writes mixed; switch the drive's write \
     cache off and measure it again, or use dqf, for which [cost] is enough";

const UNFORESEEN: &str = "das needs the service time of each request, which is unknown on a drive whose \
     memory takes writes and carries them out later; switch the drive's write cache off and \
     measure it again, or use dqf";

/// Returns the reason why deferred writes void the theorem for this workload, if they do.
pub(crate) fn objection(workload: &Workload, theorem: Theorem) -> Option<&'static str> {
    let facts = theorem.facts();
    let of_mixed = match workload.contracts.deferred_writes {
        DeferredWrites::None => return None,
        DeferredWrites::Measured if rests_on_batches(facts.contract) => None,
        DeferredWrites::Measured => Some(NOT_BY_COST),
        DeferredWrites::Unmeasured => Some(UNMEASURED),
    };
    match facts.needs {
        Knowledge::AccessTimes => Some(UNFORESEEN),
        Knowledge::Nothing | Knowledge::DrainTimes => of_mixed.filter(|_| has_reads(workload)),
    }
}

/// Returns whether b(i) is the only drive contract that a proof assumes.
const fn rests_on_batches(contract: DriveContract) -> bool {
    match contract {
        DriveContract::Batches => true,
        DriveContract::Drain | DriveContract::Starvation | DriveContract::Priority => false,
    }
}

/// Returns the doubt about a proof for a workload of writes alone, if there is one.
pub(crate) fn premise(workload: &Workload) -> Option<Premise> {
    let is_deferred = workload.contracts.deferred_writes != DeferredWrites::None;
    (is_deferred && !has_reads(workload)).then(|| {
        let text = "the drive's memory takes writes and carries them out later: its tables hold for \
                    writes issued as in the measurement, at random places and with no other \
                    requests beside them";
        Premise::new(PremiseCode::DeferredWrites, "deferred writes", text)
    })
}

fn has_reads(workload: &Workload) -> bool {
    let tasks = workload.tasks.iter().map(|task| task.op);
    let mut ops = tasks.chain(workload.best_effort.iter().map(|load| load.op));
    ops.any(|op| op == Op::Read)
}
