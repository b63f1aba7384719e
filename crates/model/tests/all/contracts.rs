// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests a drive's contracts that contradict each other, and drives that defer writes.

use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{BatchTable, DeferredWrites, DriveContract, DriveFile, Duration, Workload};

const TASK: &str = "[[task]]\nname = \"a\"\nperiod = \"1s\"\nsize = \"4KiB\"\n";

fn inline(lines: &str) -> Workload {
    let text = format!(
        "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [5_000, 8_000, 11_000]\n{lines}\n{TASK}"
    );
    let file = WorkloadFile::parse(&text).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { panic!("an inline drive") };
    file.bind(drive).unwrap()
}

fn times(table: Option<&BatchTable>) -> Vec<u64> {
    let table = table.expect("it was measured");
    (1..=table.batch_max()).map(|requests| table.time_max(requests).ns()).collect()
}

fn texts(workload: &Workload, contract: DriveContract) -> Vec<&str> {
    let of_contract = workload.contracts.premises_of(contract);
    of_contract.map(|premise| premise.text.as_str()).collect()
}

/// A batch sent to an idle drive is a case of a drain, and of a batch with priority.
#[test]
fn what_is_measured_below_a_batch_that_is_a_case_of_it_is_raised_and_said() {
    let raised = inline("drain_ns_max = [1_000, 9_000, 4_000]\npriority_ns_max = [6_000, 7_000]");
    assert_eq!(times(raised.contracts.drain.as_ref()), [5_000, 9_000, 11_000]);
    assert_eq!(times(raised.contracts.priority.as_ref()), [6_000, 8_000]);
    let [text] = texts(&raised, DriveContract::Drain)[..] else { panic!("one premise") };
    assert!(text.contains("drain(1), drain(3)") && text.contains("0.004ms"), "{text}");
    assert_eq!(texts(&raised, DriveContract::Priority).len(), 1);
}

#[test]
fn contracts_that_agree_stay_as_they_are() {
    let lines = "drain_ns_max = [5_000, 9_000, 11_000, 13_000]\npriority_ns_max = [5_000]\n\
                 depth = 4\nstarvation_ns_max = 11_000";
    let agreeing = inline(lines);
    assert_eq!(times(agreeing.contracts.drain.as_ref()), [5_000, 9_000, 11_000, 13_000]);
    assert_eq!(agreeing.contracts.starvation_max, Some(Duration::from_ns(11_000)));
    assert_eq!(agreeing.contracts.premises, []);
}

/// The last request of the longest batch is on the drive for the time of this batch.
#[test]
fn starvation_is_no_less_than_the_longest_batch() {
    let workload = inline("starvation_ns_max = 10_999");
    assert_eq!(workload.contracts.starvation_max, Some(Duration::from_ns(11_000)));
    assert_eq!(texts(&workload, DriveContract::Starvation).len(), 1);
}

/// Returns a drive that was measured with its write cache on.
fn caching(cost: &str) -> DriveFile {
    let table = |section: &str, op: &str, ns: &str| {
        format!("[[{section}]]\nop = \"{op}\"\nsize = \"4KiB\"\nns_max = {ns}\n")
    };
    let tables = table("batch", "read", "[10, 20]") + &table("batch", "write", "[5, 9]");
    let text = format!(
        "name = \"d\"\nkind = \"recorded\"\ndepth = 2\n[identity]\n\
         host = [\"kernel 6\", \"write cache: write back\"]\n{tables}{}{}{cost}",
        table("drain", "read", "[10, 15]"),
        table("drain", "write", "[6, 7]")
    );
    DriveFile::parse(&text).unwrap()
}

fn bound(drive: &DriveFile, ops: &[&str]) -> Workload {
    let tasks: String = ops
        .iter()
        .enumerate()
        .map(|(n, op)| TASK.replace("\"a\"", &format!("\"t{n}\"")) + &format!("op = \"{op}\"\n"))
        .collect();
    WorkloadFile::parse(&format!("drive = \"d\"\n{tasks}")).unwrap().bind(drive).unwrap()
}

/// Each operation is raised before the two are mixed: drain(n) is the maximum over i + j = n of
/// reads(i) + writes(j).
#[test]
fn mixed_drains_are_raised_kind_by_kind() {
    let workload = bound(&caching(""), &["read", "write"]);
    assert_eq!(times(workload.contracts.drain.as_ref()), [10, 20]);
}

#[test]
fn writes_are_deferred_where_the_drive_says_so_and_the_workload_writes() {
    let deferred = |ops: &[&str]| bound(&caching(""), ops).contracts.deferred_writes;
    assert_eq!(deferred(&["read"]), DeferredWrites::None);
    assert_eq!(deferred(&["write"]), DeferredWrites::Unmeasured);
    assert_eq!(deferred(&["read", "write"]), DeferredWrites::Unmeasured);
    let mut through = caching("");
    through.identity.host.clear();
    assert_eq!(bound(&through, &["read", "write"]).contracts.deferred_writes, DeferredWrites::None);
}

/// A starvation bound that was measured with reads covers neither writes nor larger requests. A
/// bound without the measured requests holds for all.
#[test]
fn starvation_holds_for_requests_like_those_it_was_measured_with() {
    let drive = |of: &str| {
        let mut drive = caching("");
        drive.starvation_max = Some(Duration::from_ns(100));
        let of = toml::from_str::<StarvedOf>(of).unwrap();
        drive.starvation_of = of.starvation_of;
        drive
    };
    let known = |of: &str, ops: &[&str]| bound(&drive(of), ops).contracts.starvation_max.is_some();
    assert!(known("", &["read", "write"]));
    let reads = "starvation_of = [{ op = \"read\", size = \"64KiB\" }]";
    assert!(
        known(reads, &["read"]) && !known(reads, &["write"]) && !known(reads, &["read", "write"])
    );
    let small = "starvation_of = [{ op = \"read\", size = \"512B\" }]";
    assert!(!known(small, &["read"]));
}

/// A drive file records the number of requests on the drive when a contract was measured. Without
/// it, this is the number that the drive accepts.
#[test]
fn contracts_say_how_deep_they_were_measured() {
    let of = |depth: &str| {
        let kind = |op: &str, depth: &str| format!("{{ op = \"{op}\", size = \"4KiB\"{depth} }}");
        let lines = format!("starvation_of = [{}, {}]\n", kind("read", depth), kind("write", ""));
        let priority = |op: &str, depth: &str| {
            format!("[[priority]]\nop = \"{op}\"\nsize = \"4KiB\"\nns_max = [30]\n{depth}\n")
        };
        let depth = depth.trim_start_matches(", ");
        let tables = priority("read", depth) + &priority("write", "");
        let text = caching("").to_toml();
        let text =
            text.replacen("depth = 2", &format!("depth = 9\nstarvation_ns_max = 50\n{lines}"), 1);
        let drive = DriveFile::parse(&(text + &tables)).unwrap();
        assert_eq!(DriveFile::parse(&drive.to_toml()).unwrap(), drive);
        let of = |ops: &[&str]| {
            let contracts = bound(&drive, ops).contracts;
            (contracts.starvation_depth, contracts.priority_depth)
        };
        [of(&["read"]), of(&["write"]), of(&["read", "write"])]
    };
    assert_eq!(of(", depth = 3"), [(Some(3), Some(3)), (Some(9), None), (Some(3), Some(3))]);
    assert_eq!(of(""), [(Some(9), None); 3]);
}

#[test]
fn a_drive_that_starves_without_end_has_no_starvation_bound() {
    let text = caching("").to_toml();
    let with = |line: &str| text.replacen("depth = 2", &format!("depth = 2\n{line}"), 1);
    let drive = DriveFile::parse(&with("starvation_endless = true")).unwrap();
    assert_eq!(DriveFile::parse(&drive.to_toml()).unwrap(), drive);
    assert_eq!(bound(&drive, &["read"]).contracts.starvation_max, None);
    assert!(DriveFile::parse(&with("starvation_endless = true\nstarvation_ns_max = 9")).is_err());
    assert!(DriveFile::parse(&with("starvation_endless = false\nstarvation_ns_max = 9")).is_ok());
}

#[derive(serde::Deserialize)]
struct StarvedOf {
    #[serde(default)]
    starvation_of: Vec<tidegate_model::drive_file::StarvedKind>,
}

/// The table is A + n c of the most expensive kind, plus a change of direction between any two.
#[test]
fn measured_costs_of_mixed_batches_raise_the_table() {
    let cost = "[cost]\npositioning_ns_max = 100\nswitch_ns_max = 7\n\
                request = [{ op = \"read\", size = \"4KiB\", ns_max = 30 }, \
                { op = \"write\", size = \"4KiB\", ns_max = 20 }]\n";
    let workload = bound(&caching(cost), &["read", "write"]);
    assert_eq!(workload.contracts.deferred_writes, DeferredWrites::Measured);
    assert_eq!(times(Some(&workload.table)), [130, 167]);
}
