// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests disks whose cache writes back: a workload that `check` calls proven there keeps its
//! bounds, and the drive (nearly) never takes longer than its tables say.
//!
//! Goal: a proof is worthless if the drive breaks its condition dozens of times. Method: the
//! built-in disks with a write cache, simulated from their mechanics; tasks and best effort that
//! read, write or both; the test counts overruns of the contract behind the bounds. Canary: the
//! same, with a drive that is declared not to defer its writes.

use tidegate_analysis::{Answer, assess};
use tidegate_drive::builtin;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{DeferredWrites, DriveKind, PolicyName, Workload};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{ContractWatch, Length, SimParams};

const DISKS: [&str; 2] = ["nearline-7200", "seagate-st340810a"];
const POLICIES: [PolicyName; 4] =
    [PolicyName::Dqf, PolicyName::Fifo, PolicyName::RtioLimit, PolicyName::GatedDrain];
const OPS: [&str; 2] = ["read", "write"];
/// One dispatch of this many may take longer, because a table is the maximum of finitely many
/// samples.
const OVERRUNS_PER: u64 = 1_000;
const JOBS: u64 = 60;

/// Returns one task beside best effort of this operation.
fn workload(disk: &str, op: &str, load: &str, seed: u64) -> Workload {
    let period_ms = 300 + 100 * (seed % 4);
    let text = format!(
        "drive = \"{disk}\"\n[[task]]\nname = \"t\"\nperiod = \"{period_ms}ms\"\nsize = \"64KiB\"\n\
         op = \"{op}\"\n[[best_effort]]\nname = \"b\"\noutstanding = {}\nsize = \"64KiB\"\n\
         op = \"{load}\"\n",
        4 + seed
    );
    WorkloadFile::parse(&text).unwrap().bind(&builtin::load(disk).unwrap()).unwrap()
}

/// The results of proven workloads.
#[derive(Default)]
struct Seen {
    proven: u64,
    observed: u64,
    overruns: u64,
    exceeded: u64,
}

fn run(workload: &Workload, policy: PolicyName, seed: u64, out: &mut Seen) {
    let assessment = assess(workload, policy);
    if assessment.answer != Answer::Proven {
        return;
    }
    let file = builtin::load(&workload.drive_name).unwrap();
    let plan = assessment.plan(workload);
    let drive = tidegate_drive::build(DriveKind::Mechanical, workload, Some(&file), seed).unwrap();
    let built = tidegate_policy::build(policy, &plan, None).unwrap();
    let params = SimParams {
        seed,
        capacity: file.capacity().unwrap(),
        ..SimParams::new(workload, Length::Jobs(JOBS))
    };
    let watch = ContractWatch::new(workload.table.clone(), &workload.contracts);
    let mut observers = (Checkers::of_policy(policy, &plan), watch);
    let run = tidegate_sim::simulate(&params, built, drive, &mut observers);
    let kept = observers.1.overruns(policy.facts().contract()).expect("the proof rests on it");
    let response_max = run.metrics.tasks()[0].responses.max().unwrap();
    let bound = assessment.tasks[0].response_max.unwrap().0;
    if kept.overruns == 0 {
        assert!(response_max <= bound, "{policy}: {response_max} where {bound} is proven");
    }
    out.proven += 1;
    out.observed += kept.observed;
    out.overruns += kept.overruns;
    out.exceeded += u64::from(response_max > bound);
}

fn run_all(change: impl Fn(&mut Workload)) -> Seen {
    let mut seen = Seen::default();
    for disk in DISKS {
        for (op, load) in OPS.into_iter().flat_map(|op| OPS.map(|load| (op, load))) {
            for (policy, seed) in POLICIES.into_iter().zip(1..) {
                let mut workload = workload(disk, op, load, seed);
                change(&mut workload);
                run(&workload, policy, seed, &mut seen);
            }
        }
    }
    seen
}

#[test]
fn proven_on_a_disk_that_writes_back_is_kept_by_it() {
    let seen = run_all(|_| ());
    assert!(seen.proven >= 10, "{} proven: the test shows nothing", seen.proven);
    assert_eq!(seen.exceeded, 0);
    assert!(
        seen.overruns * OVERRUNS_PER <= seen.observed,
        "{} of {} took longer than the tables say",
        seen.overruns,
        seen.observed
    );
}

/// Canary: reads beside deferred writes are proven as if the tables included such writes.
#[test]
fn tables_measured_without_deferred_writes_are_caught() {
    let seen = run_all(|workload| workload.contracts.deferred_writes = DeferredWrites::None);
    assert!(seen.exceeded > 0, "no bound was exceeded");
    assert!(
        seen.overruns * OVERRUNS_PER > seen.observed,
        "only {} of {} took longer",
        seen.overruns,
        seen.observed
    );
}
