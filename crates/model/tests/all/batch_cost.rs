// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests `batch_cost` of `[policy.dqf]`: the charges of requests, and refused values.

use crate::common::Fault;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{
    BatchChoice, Bytes, CostModel, DriveFile, Duration, FileError, Op, RequestCharges, Workload,
};

/// A = 10 ns; reads of 4 KiB cost 3 ns, of 64 KiB 2 ns, of 128 KiB 5 ns; writes of 128 KiB cost 7
/// ns; a change of direction costs 4 ns; batches of up to 8.
const DRIVE: &str = r#"
name = "d"
kind = "pseudo"
depth = 16

[[batch]]
op = "read"
size = "4KiB"
ns_max = [13, 16]

[[batch]]
op = "read"
size = "128KiB"
ns_max = [15, 20]

[[batch]]
op = "write"
size = "128KiB"
ns_max = [17, 24]

[cost]
positioning_ns_max = 10
switch_ns_max = 4
batch_max = 8
request = [
    { op = "read", size = "4KiB", ns_max = 3 },
    { op = "read", size = "64KiB", ns_max = 2 },
    { op = "read", size = "128KiB", ns_max = 5 },
    { op = "write", size = "128KiB", ns_max = 7 },
]
"#;

fn task(name: &str, op: &str, size: &str) -> String {
    format!("[[task]]\nname = \"{name}\"\nperiod = \"1s\"\nop = \"{op}\"\nsize = \"{size}\"\n")
}

fn text(policy: &str, tasks: &[(&str, &str, &str)]) -> String {
    let tasks: String = tasks.iter().map(|(name, op, size)| task(name, op, size)).collect();
    format!("drive = \"d\"\n[policy]\nname = \"dqf\"\n{policy}\n{tasks}")
}

fn bind(text: &str, drive: &str) -> Result<Workload, FileError> {
    WorkloadFile::parse(text)?.bind(&DriveFile::parse(drive).unwrap())
}

fn refused(text: &str, drive: &str) -> Fault {
    Fault::of(text, |text| bind(text, drive))
}

const MIXED: &[(&str, &str, &str)] =
    &[("a", "read", "4KiB"), ("b", "read", "128KiB"), ("c", "write", "128KiB")];

#[test]
fn a_request_is_charged_as_the_dearest_up_to_the_size_that_covers_it() {
    let costs = DriveFile::parse(DRIVE).unwrap().cost.unwrap();
    let charges = RequestCharges::of(&costs, None);
    let of = |op, kib| charges.of_request(op, Bytes::from_kib(kib)).map(Duration::ns);
    for (op, kib) in [(Op::Read, 1), (Op::Read, 4), (Op::Read, 5), (Op::Read, 64), (Op::Read, 65)] {
        let by_model = costs.cost(op, Bytes::from_kib(kib)).map(Duration::ns);
        assert_eq!(of(op, kib), by_model, "{kib} KiB");
    }
    assert_eq!((of(Op::Read, 64), of(Op::Read, 128)), (Some(3), Some(5)));
    assert_eq!((of(Op::Read, 129), of(Op::Write, 4)), (None, Some(7)));
    assert_eq!(charges.positioning_max.ns(), 10);
}

/// The operation with fewer requests carries the changes of direction, two for each request.
#[test]
fn changes_of_direction_are_charged_to_the_rarer_operation() {
    let workload = bind(&text("", MIXED), DRIVE).unwrap();
    let charges = RequestCharges::of_workload(&workload).unwrap();
    let of = |op| charges.of_request(op, Bytes::from_kib(128)).map(Duration::ns);
    assert_eq!((of(Op::Read), of(Op::Write)), (Some(5), Some(7 + 8)));
    let reads = bind(&text("", &MIXED[..2]), DRIVE).unwrap();
    let charges = RequestCharges::of_workload(&reads).unwrap();
    assert_eq!(charges.of_request(Op::Write, Bytes::from_kib(128)).map(Duration::ns), Some(7));
}

#[test]
fn the_parameter_is_read_and_goes_with_a_count() {
    let policy = "batch = 2\n[policy.dqf]\nbatch_cost = \"15ns\"";
    let workload = bind(&text(policy, MIXED), DRIVE).unwrap();
    assert_eq!(workload.parameters.dqf.batch_cost, Some(Duration::from_ns(15)));
    assert_eq!(workload.batch, BatchChoice::Fixed(2));
    assert_eq!(bind(&text("", MIXED), DRIVE).unwrap().parameters.dqf.batch_cost, None);
}

/// Without [cost], the fit over the tables gives the costs.
#[test]
fn a_fit_over_the_tables_is_enough() {
    let without = &DRIVE[..DRIVE.find("[cost]").unwrap()];
    let text = text("[policy.dqf]\nbatch_cost = \"1us\"", MIXED);
    let workload = bind(&text, without).unwrap();
    assert!(workload.contracts.costs.as_ref().is_some_and(|costs: &CostModel| costs.how.is_some()));
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let one_kind = &MIXED[..1];
    for (policy, tasks, said, advice, place) in [
        ("cost = \"1us\"", one_kind, "does not cover this workload", "batch = \"auto\"", "\"1us\""),
        ("cost = \"14ns\"", MIXED, "a write of 128KiB costs", "write at least", "\"14ns\""),
        ("cost = \"40000days\"", MIXED, "exceeds 36 years", "", "\"40000days\""),
        ("cost = 14", MIXED, "14", "write", "14"),
        ("costs = \"1us\"", MIXED, "unknown field", "", "batch_costs"),
    ] {
        let policy = &format!("[policy.dqf]\nbatch_{policy}");
        refused(&text(policy, tasks), DRIVE).says(said, place, advice);
    }
}

/// The costs hold for batches of up to 8; a count beyond 8 is refused.
#[test]
fn a_count_beyond_the_costs_is_refused() {
    let many: Vec<u64> = (1..=16).map(|n| 10 + n).collect();
    let drive =
        DRIVE.replace("[13, 16]", &format!("{many:?}")).replace("[15, 20]", &format!("{many:?}"));
    let policy = "batch = 9\n[policy.dqf]\nbatch_cost = \"1us\"";
    refused(&text(policy, &MIXED[..2]), &drive).says("batches of at most 8", "9", "");
}

#[test]
fn a_limit_of_a_policy_that_is_not_in_use_is_refused() {
    let text = text("[policy.dqf]\nbatch_cost = \"1us\"", MIXED).replace("\"dqf\"", "\"fifo\"");
    let Fault { message, .. } = refused(&text, DRIVE);
    assert!(message.contains("[policy.dqf] changes nothing"), "fifo makes no batches: {message}");
}
