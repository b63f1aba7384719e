// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests disks whose cache writes back: a workload that `check` calls proven there keeps its
//! bounds, and the drive (nearly) never takes longer than its tables say.
//!
//! Goal: a drive rarely breaks the condition of a proof, which would otherwise be worthless.
//! Method: the built-in disks with a write cache, simulated from their mechanics; tasks and best
//! effort that read, write or both; the test counts overruns of the contract behind the bounds.
//! Canary: the same, with a drive that is declared not to defer its writes.

use tidegate_analysis::{Answer, assess};
use tidegate_model::{DeferredWrites, PolicyName, Workload};
use tidegate_soundness::disk::{Disk, Outcome};

const DISKS: [&str; 2] = ["nearline-7200", "seagate-st340810a"];
const POLICIES: [PolicyName; 4] =
    [PolicyName::Dqf, PolicyName::Fifo, PolicyName::RtioLimit, PolicyName::GatedDrain];
const OPS: [&str; 2] = ["read", "write"];
/// The number of dispatches of which at most one may take longer than the tables say. A table is
/// the maximum of finitely many samples, so overruns can happen.
const OVERRUNS_PER: u64 = 1_000;
/// The number of jobs in each run.
const JOBS: u64 = 60;

/// Returns a disk with one task of operation `op` and best effort of operation `load`.
fn disk(name: &str, op: &str, load: &str, seed: u64) -> Disk {
    let period_ms = 300 + 100 * (seed % 4);
    let sources = format!(
        "[[task]]\nname = \"t\"\nperiod = \"{period_ms}ms\"\nsize = \"64KiB\"\n\
         op = \"{op}\"\n[[best_effort]]\nname = \"b\"\noutstanding = {}\nsize = \"64KiB\"\n\
         op = \"{load}\"\n",
        4 + seed
    );
    Disk { drive_seed: seed, seed, ..Disk::new(name, &sources) }
}

/// The results of proven workloads.
#[derive(Default)]
struct Seen {
    proven: u64,
    observed: u64,
    overruns: u64,
    exceeded: u64,
}

impl Seen {
    fn note(&mut self, outcome: &Outcome) {
        if outcome.overruns == 0 {
            assert_eq!(outcome.excess(), None, "{outcome}");
        }
        self.proven += 1;
        self.observed += outcome.observed;
        self.overruns += outcome.overruns;
        self.exceeded += u64::from(Some(outcome.response_max) > outcome.bound_max());
    }
}

fn run_all(change: impl Fn(&mut Workload)) -> Seen {
    let mut seen = Seen::default();
    for name in DISKS {
        for (op, load) in OPS.into_iter().flat_map(|op| OPS.map(|load| (op, load))) {
            for (policy, seed) in POLICIES.into_iter().zip(1..) {
                let mut disk = disk(name, op, load, seed);
                change(&mut disk.workload);
                if assess(&disk.workload, policy).answer == Answer::Proven {
                    seen.note(&disk.outcome(policy, JOBS));
                }
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
