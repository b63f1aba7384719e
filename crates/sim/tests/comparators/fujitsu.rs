// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One real-time task beside 450 requests of best effort on the Fujitsu MAX3036RC.
//!
//! Goal: what RTAS'08 (sections 2 to 4) and the dissertation (8.4) report of Linux schedulers.
//! Method: reads of 256 KiB at random places on the mechanical model, the task once each
//! 160 ms, 20 s of virtual time. The 450 requests are one source, and for `cfq` also 450
//! sources of one request each, as the paper's threads were.

use drive::builtin;
use model::workload_file::WorkloadFile;
use model::{DriveKind, Duration, Plan, PolicyName, Workload};
use sim::{Length, SimParams, simulate};

const DRIVE: &str = "fujitsu-max3036rc";

/// `sources` loads that keep `outstanding` requests each.
fn workload(sources: usize, outstanding: u32) -> Workload {
    let load = |index: usize| {
        format!(
            "[[best_effort]]\nname = \"load-{index}\"\noutstanding = {outstanding}\nsize = \
             \"256KiB\"\n"
        )
    };
    let loads: Vec<String> = (0..sources).map(load).collect();
    let text = format!(
        "drive = \"{DRIVE}\"\n[[task]]\nname = \"task\"\nperiod = \"160ms\"\nsize = \"256KiB\"\n{}",
        loads.concat()
    );
    WorkloadFile::parse(&text).unwrap().bind(&builtin::load(DRIVE).unwrap()).unwrap()
}

/// The longest response of the task in ms, and what best effort gets in MB/s.
#[derive(Debug, Clone, Copy)]
struct Seen {
    response_ms_max: u64,
    response_ms_mean: u64,
    best_effort_mb_per_s: u64,
}

fn run(name: PolicyName, workload: &Workload) -> Seen {
    let file = builtin::load(DRIVE).unwrap();
    let drive = drive::build(DriveKind::Mechanical, workload, Some(&file), 1).unwrap();
    let plan = Plan::of(workload);
    let policy = policy::build(name, &plan, None).unwrap();
    let params = SimParams {
        capacity: file.capacity().unwrap(),
        ..SimParams::new(workload, Length::Duration(Duration::from_ms(20_000)))
    };
    let run = simulate(&params, policy, drive, &mut ());
    let responses = &run.metrics.tasks()[0].responses;
    let ms = |time: Option<Duration>| time.unwrap().ns() / 1_000_000;
    let seen = Seen {
        response_ms_max: ms(responses.max()),
        response_ms_mean: ms(responses.mean()),
        best_effort_mb_per_s: run.metrics.best_effort().throughput_bytes_per_s().unwrap()
            / 1_000_000,
    };
    println!("{name}: {seen:?}");
    seen
}

#[test]
fn schedulers_of_linux_beside_each_other() {
    let one_source = workload(1, 450);
    let threads = workload(450, 1);
    println!("one source");
    let all = [
        PolicyName::Noop,
        PolicyName::Dqf,
        PolicyName::Deadline,
        PolicyName::CfqGrouped,
        PolicyName::MqDeadline,
        PolicyName::Cfq,
        PolicyName::BfqStrict,
    ];
    all.map(|name| run(name, &one_source));
    println!("threads");
    run(PolicyName::Cfq, &threads);
    run(PolicyName::BfqStrict, &threads);
}
