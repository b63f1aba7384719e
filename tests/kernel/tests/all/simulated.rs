// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the kernel makes the same decisions as the Rust policies on the events of simulated
//! workloads. Method: both decide in simulations of mechanical disks, with the plans that the
//! analysis makes.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_analysis::assess;
use tidegate_drive::builtin;
use tidegate_kernel::duel::{Duel, Score};
use tidegate_kernel::kernel_policy::{KernelPolicy, ORDERS, POLICIES};
use tidegate_kernel::library::{Library, Objects};
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{Duration, PolicyName, RegulatorName, Workload};
use tidegate_sim::{Length, SimParams, simulate};

const DISKS: [&str; 2] = ["maxtor-atlas-10k-v", "nearline-7200"];

/// The requests have one size, so that cost does not limit batches.
const SOURCES: [&str; 3] = [
    r#"
    [[task]]
    name = "recorder"
    period = "400ms"
    size = "128KiB"
    [[best_effort]]
    name = "backup"
    outstanding = 32
    size = "128KiB"
    "#,
    r#"
    [[task]]
    name = "camera"
    count = 6
    period = "900ms"
    deadline = "700ms"
    size = "128KiB"
    offset = { step = "40ms" }
    class = "soft"
    [[task]]
    name = "player"
    period = "1200ms"
    requests = 3
    size = "128KiB"
    [[best_effort]]
    name = "backup"
    outstanding = 128
    size = "128KiB"
    "#,
    r#"
    [host]
    release = "200us"
    submit = "300us"
    complete = "100us"
    reply = "400us"
    [[task]]
    name = "camera"
    count = 3
    period = "700ms"
    size = "128KiB"
    [[best_effort]]
    name = "scan"
    rate = "20MB/s"
    size = "128KiB"
    "#,
];

/// Runs both in a simulation of 60 s; returns the score.
fn duel(library: Library, disk: &str, workload: &Workload, policy: PolicyName) -> Score {
    let plan = assess(workload, policy).plan(workload);
    let rust = tidegate_policy::build(policy, &plan, None).expect("the disk has drain times");
    let kernel = KernelPolicy::new(library, policy, &plan).expect("the kernel takes the plan");
    let score = Rc::new(RefCell::new(Score::default()));
    let file = builtin::load(disk).expect("Tidegate includes it");
    let kind = file.parts().expect("mechanics").kind();
    let drive = tidegate_drive::from_parts(kind, &file, 7).expect("mechanics");
    let params = SimParams {
        capacity: file.capacity().expect("the mechanics give it"),
        seed: 11,
        ..SimParams::new(workload, Length::Duration(Duration::from_ms(60_000)))
    };
    simulate(&params, Duel::new(rust, kernel, &score), drive, &mut ());
    score.take()
}

/// Returns variants of the workload on this disk: every order of best effort, without and with
/// tokens.
fn variants(disk: &str, sources: &str) -> Vec<Workload> {
    let file = builtin::load(disk).expect("Tidegate includes it");
    let parsed = WorkloadFile::parse(&format!("drive = \"{disk}\"\n{sources}")).expect("valid");
    let workload = parsed.bind(&file).expect("the drive was measured for these requests");
    let tokens = [Vec::new(), vec![RegulatorName::TokensPerTask]];
    let of_order = |order| {
        tokens.clone().map(|regulators| Workload {
            best_effort_order: Some(order),
            regulators,
            ..workload.clone()
        })
    };
    ORDERS.into_iter().flat_map(of_order).collect()
}

#[test]
fn kernel_decides_as_the_policies_do_on_simulated_disks() {
    let Some(objects) = Objects::compile() else { return println!("skipped: cc is not installed") };
    let library = objects.load();
    let mut total = Score::default();
    for (disk, sources) in DISKS.into_iter().flat_map(|disk| SOURCES.map(|text| (disk, text))) {
        for workload in variants(disk, sources) {
            for policy in POLICIES {
                let score = duel(library, disk, &workload, policy);
                if let Some(difference) = &score.difference {
                    panic!("{policy} on {disk}: {difference}\n{sources}");
                }
                assert!(score.sent > 50, "{policy} on {disk} sent {}:\n{sources}", score.sent);
                total.count(&score);
            }
        }
    }
    println!("{} sent, {} timed, {} awaited", total.sent, total.timed, total.awaited);
}
