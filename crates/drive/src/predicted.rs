// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adds to a workload the times that follow from the parts of its drive: predictions and ceilings.
//!
//! The model crate binds a workload to the tables of a drive file, but only this crate models the
//! movements of a disk.

use tidegate_model::drive_file::Parts;
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{
    BatchTable, Bytes, Ceilings, ContractPremise, DriveContract, DriveFile, DriveKind, Duration,
    Op, Premise, PremiseCode, ServicePrediction, Workload,
};

use crate::mechanical::{BatchCeiling, Ceiling};
use crate::ssd;

/// Returns the workload with the times that follow from the parts of `file`:
///
/// - The longest time that `[mechanics]` can predict for one request, and the largest measured
///   error of its predictions. Without valid mechanics, and for writes that a drive's memory takes,
///   nothing is predicted.
/// - b(1), raised to this time unless the drive is `pseudo`, which is defined by its tables alone.
///   If the mechanics were measured, the largest error is added.
/// - The ceilings of a drive that is simulated from its parts.
///
/// # Complexity
/// As [`Ceiling::of`], for each operation.
#[must_use]
pub fn with_prediction(mut workload: Workload, file: &DriveFile) -> Workload {
    workload.contracts.prediction = prediction(&workload.contracts.covered, file);
    // The parts of a real device were inferred from measurements, so they are not exact.
    let is_exact = file.parts_of(file.kind).is_some()
        && file.premises.of_code(PremiseCode::Simulated).next().is_some();
    workload.contracts.ceilings = if is_exact { ceilings(&workload, file) } else { None };
    let stands_for_tables = match file.kind {
        DriveKind::Pseudo => true,
        DriveKind::Mechanical | DriveKind::Ssd | DriveKind::Recorded => false,
    };
    if let Some(ServicePrediction { ceiling, late_max }) = workload.contracts.prediction
        && !stands_for_tables
    {
        let error = late_max.filter(|_| !is_exact);
        join_one(&mut workload, ceiling + error.unwrap_or_default());
    }
    workload
}

fn prediction(requests: &[(Op, Bytes)], file: &DriveFile) -> Option<ServicePrediction> {
    let mechanics = file.mechanics.as_deref()?;
    // A disk with random faults is not predicted, so there is no prediction error to look up.
    let is_predicted = mechanics.faults.is_none();
    let mut longest = ServicePrediction { ceiling: Duration::ZERO, late_max: Some(Duration::ZERO) };
    for &(op, size) in requests {
        let ceiling = Ceiling::of(mechanics, op, size).ok()??.total();
        longest.ceiling = longest.ceiling.max(ceiling);
        if is_predicted {
            let late_max = file.late_max(op, size);
            longest.late_max = longest.late_max.and_then(|late| Some(late.max(late_max?)));
        }
    }
    Some(longest)
}

/// Raises b(1), and every contract that covers a batch of one, to the ceiling of a request.
fn join_one(workload: &mut Workload, ceiling: Duration) {
    let measured = workload.table.time_max(1);
    let ceiling = ceiling + workload.contracts.flush_max.unwrap_or_default();
    let Some(excess) = ceiling.checked_sub(measured).filter(|excess| !excess.is_zero()) else {
        return;
    };
    let one = BatchTable::new(&[ceiling]).expect("a request takes some time");
    workload.table = workload.table.at_least(&one);
    let contracts = &mut workload.contracts;
    let raised = |table: &BatchTable| table.at_least(&one);
    contracts.drain = contracts.drain.as_ref().map(raised);
    contracts.priority = contracts.priority.as_ref().map(raised);
    contracts.starvation_max = contracts.starvation_max.map(|time| time.max(ceiling));
    if let Some(costs) = &mut contracts.costs {
        costs.positioning_max += excess;
    }
    let text = format!(
        "b(1) is {ceiling}, the ceiling of one request by [mechanics]; the longest that was measured \
         is {measured}"
    );
    let premise = Premise::new(PremiseCode::RaisedContract, "b(1) raised", text);
    contracts.premises.push(ContractPremise { contract: DriveContract::Batches, premise });
}

/// Returns the times that the simulated drive cannot exceed with the requests of the workload.
fn ceilings(workload: &Workload, file: &DriveFile) -> Option<Ceilings> {
    let kinds = &workload.contracts.covered;
    let count = file.depth.max(workload.table.batch_max());
    match file.parts_of(file.kind)? {
        Parts::Mechanics(mechanics) => of_disk(mechanics, kinds, workload, count),
        Parts::Ssd(ssd) => {
            let time = |requests| ssd::ceiling::of_reads(ssd, kinds, requests);
            let times = (1..=count).map(time).collect::<Option<Vec<_>>>()?;
            let table = with_flushes(&times, workload)?;
            Some(Ceilings { batches: table.clone(), drain: table, starvation_max: None })
        }
    }
}

fn of_disk(
    mechanics: &Mechanics,
    kinds: &[(Op, Bytes)],
    workload: &Workload,
    count: u32,
) -> Option<Ceilings> {
    let ceiling = BatchCeiling::of(mechanics, kinds).ok()??;
    let drains: Vec<Duration> = (1..=count).map(|it| ceiling.in_any_order(it)).collect();
    Some(Ceilings {
        batches: with_flushes(&ceiling.batches(count), workload)?,
        drain: with_flushes(&drains, workload)?,
        starvation_max: ceiling
            .starvation(count)
            .filter(|_| workload.contracts.flush_max.is_none()),
    })
}

/// Returns the table of these times with one flush added for each request; `None` if a flush can
/// have data to write, because the time of such a flush has no ceiling.
fn with_flushes(times: &[Duration], workload: &Workload) -> Option<BatchTable> {
    const OF_NOTHING: Duration = Duration::from_us(1);
    let flush = workload.contracts.flush_max.unwrap_or_default();
    let with = |(requests, &time): (u64, &Duration)| time + flush * requests;
    let times: Vec<Duration> = (1..).zip(times).map(with).collect();
    BatchTable::new(&times).ok().filter(|_| flush <= OF_NOTHING)
}
