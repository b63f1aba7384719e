// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests drive files: values read, values written back, and refused values with their position.

use crate::common::Fault;
use tidegate_model::{DriveFile, DriveKind, Duration, Grade, PremiseCode};

const FULL: &str = r#"
name = "disk"
kind = "recorded"
depth = 2
starvation_ns_max = 2_030_000_000
flush_ns_max = 40_000_000

[identity]
model = "a disk"
firmware = "1"
when = "2026-11-20"
where = "a desk"
how = "by hand"
host = ["scheduler none"]

[[premise]]
code = "few_samples"
subject = "1,000 samples"
text = "1,000 samples of each batch"

[[batch]]
op = "read"
size = "128KiB"
samples = 1000
confidence = "99 % that the maximum lies above the 99.54 % quantile"
ns_max = [9, 12]
ns_p999 = [8, 11]
ns_p99 = [7, 10]
ns_p90 = [6, 9]
ns_p50 = [5, 8]
ns_p10 = [4, 7]
ns_min = [3, 6]

[[drain]]
op = "read"
size = "128KiB"
ns_max = [9, 20]

[mechanics]
rpm = 10_000
surfaces = 1
cylinders = 1
sectors = 100
head_switch_ns = 0

[mechanics.seek]
points = [[1, 1_000_000]]

[[mechanics.layout.zones.zone]]
cylinder_first = 0
cylinder_last = 0
sectors_per_track = 100
"#;

fn refused(text: &str) -> Fault {
    Fault::of(text, DriveFile::parse)
}

#[test]
fn a_drive_file_is_written_back_as_it_was_read() {
    let drive = DriveFile::parse(FULL).unwrap();
    assert_eq!((drive.kind, drive.depth), (DriveKind::Recorded, 2));
    assert_eq!(drive.starvation_max, Some(Duration::from_ms(2030)));
    assert_eq!(drive.batch[0].quantiles_ns[5], [8, 11]);
    assert_eq!(drive.drain[0].ns_max, [9, 20]);
    let codes: Vec<_> = drive.premises.iter().map(|premise| premise.code).collect();
    assert_eq!((codes, drive.premises.grade()), (vec![PremiseCode::FewSamples], Grade::Weak));
    assert_eq!(DriveFile::parse(&drive.to_toml()).unwrap(), drive);
}

#[test]
fn a_dip_in_the_table_is_kept_as_measured_and_raised_for_use() {
    let drive = DriveFile::parse(&FULL.replace("ns_max = [9, 12]", "ns_max = [12, 9]")).unwrap();
    assert_eq!(drive.batch[0].ns_max, [12, 9]);
    assert_eq!(drive.batch[0].table.time_max(2), Duration::from_ns(12));
    assert_eq!(drive.batch[0].table.raised(), [2]);
}

#[test]
fn faults_are_refused_with_their_place() {
    for (from, to, message, place) in [
        ("depth = 2", "depth = 1", "2 entries, but the drive accepts 1", "[9, 12]"),
        ("depth = 2", "depth = 0", "depth is 0", "0"),
        ("ns_max = [9, 12]", "ns_max = []", "at least b(1)", "[]"),
        ("ns_max = [9, 12]", "ns_max = [9, 0]", "b(2) is 0", "[9, 0]"),
        ("ns_max = [9, 12]", "ns_max = [9, -12]", "invalid value", "-12"),
        ("ns_p999 = [8, 11]", "ns_p999 = [8]", "1 entries, but ns_max has 2", "[8]"),
        ("op = \"read\"", "op = \"trim\"", "unknown variant `trim`", "\"trim\""),
        ("size = \"128KiB\"", "size = 128", "has no unit", "128"),
        ("kind = \"recorded\"", "kind = \"tape\"", "unknown variant `tape`", "\"tape\""),
        ("[[drain]]", "[[drian]]", "unknown field `drian`", "drian"),
        ("rpm = 10_000", "rqm = 10_000", "unknown field `rqm`", "rqm"),
        (
            "rpm = 10_000",
            "rpm = 0",
            "[mechanics] rpm: no disk turns 0 times a minute",
            "[mechanics]",
        ),
    ] {
        refused(&FULL.replacen(from, to, 1)).says(message, place, "");
    }
}

/// A premise that is not understood must not be lost: it could void the verdict.
#[test]
fn an_unknown_premise_is_refused_with_the_list() {
    let unknown = refused(&FULL.replacen("\"few_samples\"", "\"few_sample\"", 1));
    let known = "write one of places_set_unmeasured, prediction_unmeasured, host_time_too_long";
    unknown.says("`few_sample` is no code of a premise", "\"few_sample\"", known);
    let more = refused(&FULL.replacen("subject =", "weight = \"note\"\nsubject =", 1));
    more.says("unknown field `weight`", "weight", "");
}

#[test]
fn two_tables_of_one_kind_are_refused() {
    let again = format!("{FULL}\n[[batch]]\nop = \"read\"\nsize = \"128KiB\"\nns_max = [1]\n");
    let Fault { message, .. } = refused(&again);
    assert!(message.contains("a second [[batch]] table for read of 128KiB"), "{message}");
}

#[test]
fn a_drive_without_a_batch_table_is_refused() {
    let Fault { message, .. } = refused("name = \"x\"\nkind = \"pseudo\"\ndepth = 1\n");
    assert!(message.contains("no [[batch]] table"), "{message}");
}
