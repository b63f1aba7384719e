// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of building simulated drives: the table used, and the errors.

use super::common::{at, finish, measured, requests, table};
use tidegate_drive::{
    BuildError, Drive, build, builtin, for_any_requests, from_parts, kinds, measured_table,
};
use tidegate_model::drive_file::Parts;
use tidegate_model::{BestEffort, Bytes, DriveFile, DriveKind, Intensity, Op, Workload};

const ROW: [u64; 7] = [100, 200, 300, 500, 700, 800, 900];

fn load(op: Op, kib: u64) -> BestEffort {
    let name = format!("{}-{kib}", op.name());
    let reads = BestEffort::reads(name, Intensity::Outstanding(1), Bytes::from_kib(kib));
    BestEffort { op, ..reads }
}

fn workload(best_effort: Vec<BestEffort>) -> Workload {
    Workload { tasks: Vec::new(), best_effort, ..Workload::new("test", 4, table(&[10, 16])) }
}

fn file(tables: &[(Op, u64, [u64; 7])]) -> DriveFile {
    let mut file = builtin::load("maxtor-atlas-10k-v").unwrap();
    "test".clone_into(&mut file.name);
    file.batch = tables
        .iter()
        .map(|&(op, kib, row)| measured(Some(op), Some(Bytes::from_kib(kib)), &[row]))
        .collect();
    file
}

fn refusal(workload: &Workload, file: Option<&DriveFile>) -> BuildError {
    build(DriveKind::Recorded, workload, file, 1).err().expect("it is refused")
}

#[test]
fn pseudo_uses_the_table_of_the_workload() {
    let workload = workload(vec![load(Op::Read, 4)]);
    let mut drive = build(DriveKind::Pseudo, &workload, None, 1).unwrap();
    drive.submit(at(0), &requests(0, 2));
    assert_eq!(finish(&mut drive).last().unwrap().at, at(16));
}

#[test]
fn size_is_covered_by_the_next_larger() {
    let file = file(&[(Op::Read, 128, ROW), (Op::Read, 64, ROW), (Op::Write, 32, ROW)]);
    let covering =
        |op, kib| measured_table(&file, op, Bytes::from_kib(kib)).and_then(|table| table.size);
    assert_eq!(covering(Op::Read, 4), Some(Bytes::from_kib(64)));
    assert_eq!(covering(Op::Read, 64), Some(Bytes::from_kib(64)));
    assert_eq!(covering(Op::Read, 65), Some(Bytes::from_kib(128)));
    assert_eq!(covering(Op::Read, 129), None);
    assert_eq!(covering(Op::Write, 4), Some(Bytes::from_kib(32)));
}

#[test]
fn recorded_draws_from_the_table_of_the_largest_request() {
    let file = file(&[(Op::Read, 64, ROW), (Op::Read, 128, [5; 7])]);
    let workload = workload(vec![load(Op::Read, 4), load(Op::Read, 100)]);
    let mut drive = build(DriveKind::Recorded, &workload, Some(&file), 1).unwrap();
    drive.submit(at(0), &requests(0, 1));
    assert_eq!(finish(&mut drive)[0].at, at(5));
}

#[test]
fn recorded_needs_a_drive_file() {
    let error = refusal(&workload(vec![load(Op::Read, 4)]), None);
    assert_eq!(error, BuildError::NothingRecorded);
}

#[test]
fn recorded_needs_a_table_for_each_operation() {
    let file = file(&[(Op::Read, 64, ROW)]);
    let error = refusal(&workload(vec![load(Op::Read, 4), load(Op::Write, 8)]), Some(&file));
    let expected = BuildError::NotMeasured {
        drive: "test".to_owned(),
        op: Op::Write,
        size: Bytes::from_kib(8),
    };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("never measured with write of 8KiB or more"));
}

#[test]
fn recorded_needs_quantiles() {
    let mut file = file(&[(Op::Read, 64, ROW), (Op::Write, 64, ROW)]);
    file.batch[1].quantiles_ns = Default::default();
    let error = refusal(&workload(vec![load(Op::Read, 4), load(Op::Write, 4)]), Some(&file));
    assert!(matches!(error, BuildError::QuantilesMissing { op: Op::Write, .. }), "{error}");
    assert!(error.to_string().starts_with("drive `test`, write of 4KiB or more: the table has no"));
}

/// Goal: one rule chooses the kind of a drive if the caller names none. Mechanics come before
/// chips, and chips before tables; tables alone are no parts.
#[test]
fn parts_come_before_tables_and_tables_are_no_parts() {
    let tables = DriveFile { mechanics: None, ssd: None, ..file(&[(Op::Read, 64, ROW)]) };
    let mechanics = builtin::load("fujitsu-max3036rc").unwrap().mechanics;
    let ssd = builtin::load("sata-ssd").unwrap().ssd;
    let chips = DriveFile { ssd: ssd.clone(), ..tables.clone() };
    let both = DriveFile { mechanics, ..chips.clone() };
    let cases = [
        (&tables, None, DriveKind::Pseudo, Some(Bytes::from_kib(64))),
        (&chips, Some(DriveKind::Ssd), DriveKind::Ssd, None),
        (&both, Some(DriveKind::Mechanical), DriveKind::Mechanical, None),
    ];
    for (file, parts, kind, request_max) in cases {
        let made = for_any_requests(file, 1).unwrap();
        assert_eq!(
            (file.parts().map(Parts::kind), made.kind, made.request_max),
            (parts, kind, request_max)
        );
    }
    let refused = from_parts(DriveKind::Mechanical, &tables, 1).err();
    assert!(matches!(refused, Some(BuildError::SectionMissing { section: "mechanics", .. })));
    let nothing = DriveFile { batch: Vec::new(), ..tables };
    let refused = for_any_requests(&nothing, 1).err();
    assert!(matches!(refused, Some(BuildError::NothingKnown { .. })));
}

#[test]
fn the_kinds_of_a_built_in_drive_are_those_it_has_data_for() {
    let mut file = builtin::load("sata-ssd").unwrap();
    assert_eq!(kinds(&file), [DriveKind::Ssd, DriveKind::Recorded, DriveKind::Pseudo]);
    file.kind = DriveKind::Pseudo;
    assert_eq!(kinds(&file), [DriveKind::Pseudo, DriveKind::Ssd, DriveKind::Recorded]);
    file.batch.clear();
    assert_eq!(kinds(&file), [DriveKind::Ssd]);
}
