// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures, in virtual time, the batch tables that a simulated drive lacks for a workload.

use std::sync::atomic::AtomicBool;

use tidegate_measure::{
    Experiment, Kind, Measurable as _, ProfileParams, Selection, SimulatedTarget,
};
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{BatchTable, Bytes, DriveFile, Duration, Op, Premise, PremiseCode};

/// Returns the drive with added tables for these requests. `None` if it must not be measured by
/// simulation: this is done only for drives whose times are simulated, never for a model of a real
/// device.
///
/// The requests are measured like `tidegate profile DRIVE --only batch` with seed 1. No time is
/// below the file's time for a smaller request, which may have been measured in another way.
///
/// Takes a second or two.
pub(crate) fn with_tables(drive: &DriveFile, requests: &[(Op, Bytes)]) -> Option<DriveFile> {
    let is_simulated = drive.premises.of_code(PremiseCode::Simulated).next().is_some();
    if requests.is_empty() || drive.parts().is_none() || !(is_simulated || drive.batch.is_empty()) {
        return None;
    }
    let kind = SimulatedTarget::kind_of(drive, None);
    let batch = Experiment::from_name("batch")?;
    let selection = Selection { only: &[batch], is_quick: false };
    let defaults = SimulatedTarget::params(drive, kind, selection);
    let kinds = requests.iter().map(|&(op, size)| Kind { op, size }).collect();
    let params = ProfileParams { kinds, seed: 1, ..defaults };
    let mut target = SimulatedTarget::new(drive.clone(), kind, &params).ok()?;
    let never = AtomicBool::new(false);
    let mut measured = target.measure(&params, &mut |_| (), &never, None).ok()?;
    let whole = target.conclude(&mut measured, false);
    let mut drive = drive.clone();
    for &(op, size) in requests {
        let mut table =
            whole.batch.iter().find(|it| it.op == Some(op) && it.size == Some(size))?.clone();
        if let Some(smaller) = largest(&drive, op) {
            raise(&mut table, smaller);
        }
        let text = format!(
            "{}s of {size} were measured on the simulated drive for this answer",
            op.name()
        );
        drive.premises.push(Premise::new(PremiseCode::Simulated, "simulated times", text));
        drive.batch.push(table);
    }
    Some(drive)
}

/// Returns the table with the largest requests of this operation.
fn largest(drive: &DriveFile, op: Op) -> Option<&MeasuredTable> {
    drive.batch.iter().filter(|table| table.op == Some(op)).max_by_key(|table| table.size)
}

/// Raises each time to at least the time of a smaller request.
fn raise(table: &mut MeasuredTable, smaller: &MeasuredTable) {
    for (time, &least) in table.ns_max.iter_mut().zip(&smaller.ns_max) {
        *time = (*time).max(least);
    }
    let times: Vec<Duration> = table.ns_max.iter().copied().map(Duration::from_ns).collect();
    table.table = BatchTable::new(&times).expect("no time became shorter");
}

#[cfg(test)]
mod tests {
    use tidegate_model::{DriveKind, Premises};

    use super::*;

    fn read(kib: u64) -> (Op, Bytes) {
        (Op::Read, Bytes::from_kib(kib))
    }

    /// Goal: a simulated drive serves requests of any size, and larger requests no faster than
    /// smaller ones. Method: a disk with computed tables, and the same disk without tables.
    #[test]
    fn a_simulated_drive_is_measured_for_any_size() {
        let maxtor = tidegate_drive::builtin::load("maxtor-atlas-10k-v").unwrap();
        let longer = with_tables(&maxtor, &[read(256)]).unwrap();
        let [known, new] = [&longer.batch[1], &longer.batch[2]];
        assert_eq!((new.op, new.size), (Some(Op::Read), Some(Bytes::from_kib(256))));
        assert!(new.ns_max.iter().zip(&known.ns_max).all(|(new, known)| new >= known));
        let mut bare = DriveFile::new("bare", DriveKind::Mechanical, 16);
        bare.mechanics.clone_from(&maxtor.mechanics);
        let measured = with_tables(&bare, &[read(64), (Op::Write, Bytes::from_kib(64))]).unwrap();
        assert_eq!(measured.batch.len(), 2);
        assert_eq!(measured.premises.of_code(PremiseCode::Simulated).count(), 2);
    }

    /// Goal: no simulation replaces a measurement of a real device. Method: a drive file with
    /// tables that were not simulated, and a drive file without mechanics or chips.
    #[test]
    fn a_real_drive_is_not_simulated() {
        let mut real = tidegate_drive::builtin::load("maxtor-atlas-10k-v").unwrap();
        real.premises = Premises::default();
        assert_eq!(with_tables(&real, &[read(256)]), None);
        let simulated = tidegate_drive::builtin::load("maxtor-atlas-10k-v").unwrap();
        assert_eq!(
            with_tables(&DriveFile { mechanics: None, ..simulated.clone() }, &[read(256)]),
            None
        );
        assert_eq!(with_tables(&simulated, &[]), None);
    }
}
