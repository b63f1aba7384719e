// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One real-time task beside 450 requests of best effort on the Fujitsu MAX3036RC.
//!
//! Goal: the simulation reproduces the figures for Linux schedulers in RTAS'08 (sections 2 to 4)
//! and the dissertation (8.4).
//! Method: reads of 256 KiB at random places on the mechanical model, one job of the task every 160
//! ms, 20 s of virtual time. The 450 requests come from one source, and for `cfq` also from 450
//! sources of one request each, like the paper's threads.

use tidegate_drive::builtin;
use tidegate_model::{DriveKind, Duration, Plan, PolicyName, Workload};
use tidegate_sim::{Length, SimParams, simulate};

use crate::workload_on;

const DRIVE: &str = "fujitsu-max3036rc";

/// Returns `sources` loads that keep `outstanding` requests each in flight.
fn workload(sources: usize, outstanding: u32) -> Workload {
    let load = |index: usize| {
        format!(
            "[[best_effort]]\nname = \"load-{index}\"\noutstanding = {outstanding}\nsize = \
             \"256KiB\"\n"
        )
    };
    let loads: Vec<String> = (0..sources).map(load).collect();
    let task = "[[task]]\nname = \"task\"\nperiod = \"160ms\"\nsize = \"256KiB\"\n";
    workload_on(DRIVE, &format!("{task}{}", loads.concat()))
}

/// Response times of the task, and the throughput of best effort.
#[derive(Clone, Copy)]
struct Seen {
    response_ms_max: u64,
    response_ms_mean: u64,
    best_effort_mb_per_s: u64,
}

fn run(name: PolicyName, workload: &Workload) -> Seen {
    let file = builtin::load(DRIVE).unwrap();
    let drive = tidegate_drive::build(DriveKind::Mechanical, workload, Some(&file), 1).unwrap();
    let plan = Plan::of(workload);
    let policy = tidegate_policy::build(name, &plan, None).unwrap();
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
    println!(
        "{name}: longest {} ms, mean {} ms; best effort {} MB/s",
        seen.response_ms_max, seen.response_ms_mean, seen.best_effort_mb_per_s
    );
    seen
}

/// The published figures: 1.9 s and 40 MB/s for a scheduler like `noop`; beyond 2 s for `deadline`
/// and `cfq`; beyond 2 s and 51 MB/s for `cfq-grouped`; 17 ms and 18 MB/s for `cfq` with
/// preemption.
#[test]
fn linux_schedulers_delay_real_time_or_give_throughput_away() {
    let (one_source, threads) = (workload(1, 450), workload(450, 1));
    println!("450 requests of one source");
    let noop = run(PolicyName::Noop, &one_source);
    let deadline = run(PolicyName::Deadline, &one_source);
    let grouped = run(PolicyName::CfqGrouped, &one_source);
    let drained = run(PolicyName::MqDeadline, &one_source);
    run(PolicyName::Cfq, &one_source);
    let alone = run(PolicyName::BfqStrict, &one_source);
    println!("450 sources of one request");
    let cfq = run(PolicyName::Cfq, &threads);
    let bfq = run(PolicyName::BfqStrict, &threads);

    for undrained in [noop, deadline, grouped] {
        assert!(undrained.response_ms_max > 5 * drained.response_ms_max);
    }
    // Sorting compensates for requests that the drive could not see.
    assert!(grouped.best_effort_mb_per_s > noop.best_effort_mb_per_s);
    // One request at a time at random places loses a good third of the throughput.
    for one_at_a_time in [cfq, bfq] {
        assert!(one_at_a_time.best_effort_mb_per_s * 3 < noop.best_effort_mb_per_s * 2);
    }
    // `cfq` waits for another thread's slice; `bfq-strict` waits only for its request.
    assert!(cfq.response_ms_max > bfq.response_ms_max);
    assert!(alone.response_ms_max < drained.response_ms_max);
}
