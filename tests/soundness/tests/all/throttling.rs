// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RTAS 2008 again: each policy keeps its bound on the paper's disk; the test measures the cost in
//! throughput.
//!
//! A response may exceed its bound only by as much as the drive exceeded the bound's table, because
//! the table is the maximum of finitely many samples. The figures with more jobs are in
//! docs/evidence/policies.md; `TIDEGATE_JOBS=100000` repeats them.

use tidegate_model::{Duration, PolicyName};
use tidegate_soundness::disk::Outcome;
use tidegate_soundness::throttling::run;

/// Returns the number of jobs of all tasks together.
fn jobs() -> u64 {
    std::env::var("TIDEGATE_JOBS").map_or(2_500, |jobs| jobs.parse().expect("a number of jobs"))
}

fn try_out(policy: PolicyName, deadline_ms: u64, count: u32) -> Outcome {
    let deadline = Duration::from_ms(deadline_ms);
    let outcome = run(policy, deadline, count, jobs() / u64::from(count));
    println!("{policy:15} {count} x {deadline_ms:3} ms: {outcome}");
    assert_eq!(outcome.excess(), None, "{policy} at {deadline_ms} ms");
    let is_proven = outcome.assessment.answer == tidegate_analysis::Answer::Proven;
    assert!(!is_proven || outcome.misses <= outcome.overruns, "{policy} at {deadline_ms} ms");
    outcome
}

/// Returns the throughput as a share of the throughput of `rtio` without a limit, in percent.
fn percent(outcome: &Outcome, unlimited: &Outcome) -> u64 {
    outcome.throughput_bytes_per_s * 100 / unlimited.throughput_bytes_per_s
}

#[test]
fn draining_at_160_ms_keeps_the_deadline_and_nearly_all_throughput() {
    let unlimited = try_out(PolicyName::Rtio, 160, 1);
    for policy in [PolicyName::RtioDrain, PolicyName::RtioLimit] {
        let drained = try_out(policy, 160, 1);
        assert_eq!(drained.assessment.best_effort_depth, 19, "as in the paper");
        assert_eq!(drained.assessment.answer, tidegate_analysis::Answer::Proven);
        assert!(percent(&drained, &unlimited) >= 95, "{policy}");
    }
}

#[test]
fn limit_at_75_ms_keeps_the_deadline_and_four_fifths_of_the_throughput() {
    let unlimited = try_out(PolicyName::Rtio, 75, 1);
    let limited = try_out(PolicyName::RtioLimit, 75, 1);
    assert_eq!(limited.assessment.best_effort_depth, 7, "as in the paper");
    assert_eq!(limited.assessment.answer, tidegate_analysis::Answer::Proven);
    assert!(percent(&limited, &unlimited) >= 80);
    // Canary of the bound: without a limit the same deadline is missed.
    assert!(try_out(PolicyName::RtioDrain, 75, 1).misses > 0);
}

#[test]
fn adaptive_drain_is_never_below_the_fixed_limit() {
    for deadline_ms in [40, 60, 75, 100, 130, 160, 200] {
        let limited = try_out(PolicyName::RtioLimit, deadline_ms, 1);
        for policy in [PolicyName::AdaptiveDrain, PolicyName::GatedDrain] {
            let flowing = try_out(policy, deadline_ms, 1);
            assert_eq!(flowing.assessment.answer, tidegate_analysis::Answer::Proven);
            let [flowing, limited] = [&flowing, &limited].map(|it| it.throughput_bytes_per_s);
            assert!(flowing >= limited, "{policy} at {deadline_ms} ms: {flowing} < {limited}");
        }
    }
}

/// Goal: with known positions a deadline costs no throughput. `das.rs` tests the limits of a model
/// with errors.
#[test]
fn das_at_75_ms_costs_nothing() {
    let unlimited = try_out(PolicyName::Rtio, 75, 1);
    let das = try_out(PolicyName::Das, 75, 1);
    assert_eq!(das.assessment.answer, tidegate_analysis::Answer::Proven);
    assert!(percent(&das, &unlimited) >= 100);
}

/// Section 5: four tasks at 75 ms, released 18.75 ms apart.
#[test]
fn gated_drain_serves_four_tasks_better_than_reserved_slots() {
    let slots = try_out(PolicyName::RtioSlots, 75, 4);
    let gated = try_out(PolicyName::GatedDrain, 75, 4);
    assert_eq!(gated.assessment.answer, tidegate_analysis::Answer::Proven);
    assert_eq!(gated.misses, 0);
    assert!(gated.throughput_bytes_per_s > slots.throughput_bytes_per_s);
    assert_eq!(slots.assessment.best_effort_depth, 4, "as in the paper");
}

/// Goal: the other bounds hold on a disk that was not made for them. Method: three tasks of 300 ms,
/// and `rtio` with only the drive's starvation bound at 2.5 s.
#[test]
fn every_other_bound_holds_on_the_mechanical_disk() {
    let policies = [
        PolicyName::Dqf,
        PolicyName::DqfElastic,
        PolicyName::DqEdf,
        PolicyName::Edf,
        PolicyName::ScanEdf,
        PolicyName::RtioDrain,
        PolicyName::RtioLimit,
        PolicyName::Das,
    ];
    for policy in policies {
        let outcome = try_out(policy, 300, 3);
        assert_eq!(outcome.assessment.answer, tidegate_analysis::Answer::Proven, "{policy}");
    }
    let starving = try_out(PolicyName::Rtio, 2_500, 1);
    assert_eq!(starving.assessment.answer, tidegate_analysis::Answer::Proven);
    assert_eq!(starving.misses, 0);
}
