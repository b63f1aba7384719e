// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests cost models: the section of the drive file, the envelope, and which workloads have one.

use crate::common::Fault;
use tidegate_model::cost::CostModel;
use tidegate_model::{Bytes, DriveFile, Duration, Op, Random};

fn drive(tables: &[(&str, &str, &[u64])], cost: &str) -> String {
    let head = "name = \"d\"\nkind = \"pseudo\"\ndepth = 64\n".to_owned();
    let batches = tables.iter().map(|(op, size, ns_max)| {
        format!("[[batch]]\nop = \"{op}\"\nsize = \"{size}\"\nns_max = {ns_max:?}\n")
    });
    head + &batches.collect::<String>() + cost
}

const COST: &str = r#"
[cost]
positioning_ns_max = 10
switch_ns_max = 4
fua_ns_max = 6
samples = 100
how = "by hand"

[[cost.request]]
op = "read"
size = "4KiB"
ns_max = 3

[[cost.request]]
op = "read"
size = "128KiB"
ns_max = 5
"#;

fn refused(text: &str) -> Fault {
    Fault::of(text, DriveFile::parse)
}

#[test]
fn the_section_is_read_and_written_back() {
    let text = drive(&[("read", "4KiB", &[13, 16])], COST);
    let file = DriveFile::parse(&text).unwrap();
    let cost = file.cost.as_ref().unwrap();
    let of = |op, kib| cost.cost(op, Bytes::from_kib(kib)).map(Duration::ns);
    assert_eq!((of(Op::Read, 4), of(Op::Read, 5)), (Some(3), Some(5)), "the next larger size");
    assert_eq!((of(Op::Read, 129), of(Op::Write, 4)), (None, None), "above all, and unknown");
    assert_eq!(cost.switch_max, Some(Duration::from_ns(4)));
    assert_eq!((cost.fua_max, cost.samples), (Some(Duration::from_ns(6)), Some(100)));
    assert_eq!(DriveFile::parse(&file.to_toml()).unwrap(), file);
}

/// Canary: a model that is one nanosecond below a measured batch is refused.
#[test]
fn a_model_that_a_measured_batch_exceeds_is_refused() {
    let Fault { message, .. } = refused(&drive(&[("read", "4KiB", &[13, 17])], COST));
    assert!(message.contains("2 reads of 4KiB take at most 16 ns"), "{message}");
}

#[test]
fn faults_are_refused_with_their_place() {
    let tables: &[(&str, &str, &[u64])] = &[("read", "4KiB", &[13])];
    for (from, to, said, place) in [
        ("ns_max = 5", "ns_max = 0", "ns_max is 0 ns", "0"),
        ("size = \"128KiB\"", "size = \"4KiB\"", "a second [[cost.request]]", "\"4KiB\""),
        ("size = \"128KiB\"", "size = \"0B\"", "size is 0", "\"0B\""),
        ("fua_ns_max", "fua_ns", "unknown field", "fua_ns"),
    ] {
        refused(&drive(tables, &COST.replacen(from, to, 1))).says(said, place, "");
    }
}

/// Goal: the envelope covers every entry, and no cheaper model with the same A does. Method: random
/// tables; c lowered by 1 ns must fail to cover, which also shows that the check can fail.
#[test]
fn the_envelope_covers_every_entry_and_not_more_than_it_must() {
    let mut random = Random::new(1, Random::DRIVE_STREAM);
    for _ in 0..300 {
        let mut times = |largest: u64| -> Vec<u64> {
            let count = random.bits() % 20 + 1;
            (0..count).map(|_| random.bits() % largest + 1).collect()
        };
        let (reads, writes) = (times(1_000), times(100_000));
        let text = drive(&[("read", "4KiB", &reads), ("write", "128KiB", &writes)], "");
        let file = DriveFile::parse(&text).unwrap();
        let tables: Vec<_> = file.batch.iter().collect();
        let model = CostModel::envelope(&tables, &[random.bits() % 9, 3]).unwrap();
        assert_eq!(model.first_uncovered(&file.batch), None, "{text}");
        for kind in 0..2 {
            let mut canary = model.clone();
            let ns = canary.requests[kind].time_max.ns();
            canary.requests[kind].time_max = Duration::from_ns(ns - 1);
            assert!(ns == 1 || canary.first_uncovered(&file.batch).is_some(), "{text}");
        }
        let with_cost = DriveFile { cost: Some(model), ..file };
        assert_eq!(DriveFile::parse(&with_cost.to_toml()).unwrap(), with_cost);
    }
}

/// Computed by hand: A = 10 covers 10 + 3 n and 10 + 7 n exactly.
#[test]
fn affine_tables_with_a_common_start_are_covered_without_excess() {
    let line = |slope: u64| (1..=5).map(|n| 10 + slope * n).collect::<Vec<u64>>();
    let text = drive(&[("read", "4KiB", &line(3)), ("write", "4KiB", &line(7))], "");
    let file = DriveFile::parse(&text).unwrap();
    let model = CostModel::envelope(&file.batch.iter().collect::<Vec<_>>(), &[3, 3]).unwrap();
    assert_eq!(model.positioning_max.ns(), 10);
    assert_eq!(model.requests.iter().map(|cost| cost.time_max.ns()).collect::<Vec<_>>(), [3, 7]);
    assert_eq!(model.batch_max, Some(5));
}
