// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The host's time under measured interference: response times are computed from execution times,
//! and profiles that do not show everything are refused.

use tidegate_cpu_analysis::under_interference;
use tidegate_cpu_model::CpuProfile;
use tidegate_model::{
    Duration, FileError, HostInterference, HostSection, HostTime, InterferenceBound, PremiseCode,
};

/// Returns a profile with 20 us stolen in each 100 us, measured at this priority; `None` means
/// without a real-time priority.
fn profile(priority: Option<u32>) -> CpuProfile {
    let priority = priority.map_or(String::new(), |priority| format!("priority = {priority}\n"));
    CpuProfile::parse(&format!(
        "name = \"thief\"\n[conditions]\ncpu = 1\n{priority}[stolen]\n\
         interval_ns = [20_000, 100_000, 120_000, 200_000]\n\
         ns_max = [20_000, 20_000, 40_000, 40_000]\n"
    ))
    .unwrap()
}

fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

fn interference(bound: InterferenceBound, margin: Duration) -> HostInterference {
    let (span, priority_span) = (1..2, 3..4);
    HostInterference { file: "t".into(), span, priority: 50, priority_span, bound, margin }
}

const EXECUTIONS: HostTime = HostTime {
    release: Duration::from_us(10),
    submit: Duration::from_us(80),
    complete: Duration::from_us(90),
    reply: Duration::ZERO,
};

fn of(profile: &CpuProfile, margin: Duration) -> Result<HostSection, FileError> {
    under_interference(EXECUTIONS, &interference(InterferenceBound::Points, margin), profile)
}

/// Computed by hand: 10 of work with 20 stolen is done by 30; 80 + 20 = 100; 90 + 20 = 110 reaches
/// the next stolen time, so 90 + 40 = 130. No work takes no time.
#[test]
fn a_step_waits_for_what_is_stolen_until_it_is_done() {
    let found = of(&profile(Some(40)), Duration::ZERO).unwrap();
    let times = found.times.steps().map(|(_, time)| time);
    assert_eq!(times, [us(30), us(100), us(130), us(0)]);
    assert_eq!(found.interference, None);
    let codes: Vec<_> = found.premises.iter().map(|premise| premise.code).collect();
    assert_eq!(codes, [PremiseCode::CpuDemandMeasured]);
    let wider = of(&profile(Some(40)), us(5)).unwrap();
    assert_eq!(wider.times.release, us(35));
}

/// Submission and completion are two windows, and each can lose everything that is stolen in a
/// short window: 10 + 20 in each, but 20 + 20 in a single one.
#[test]
fn two_windows_lose_more_than_one_of_both() {
    let of = |executions: HostTime| {
        let points = interference(InterferenceBound::Points, Duration::ZERO);
        let found = under_interference(executions, &points, &profile(Some(40))).unwrap();
        found.times.of_batch()
    };
    let apart = HostTime { submit: us(10), complete: us(10), ..HostTime::default() };
    let together = HostTime { submit: us(20), ..HostTime::default() };
    assert_eq!((of(apart), of(together)), (us(60), us(40)));
}

#[test]
fn profiles_that_do_not_show_everything_are_refused() {
    let refused = |profile: &CpuProfile, bound| {
        under_interference(EXECUTIONS, &interference(bound, Duration::ZERO), profile).unwrap_err()
    };
    let at = |priority| refused(&profile(priority), InterferenceBound::Points);
    assert!(at(Some(50)).message.contains("measured at priority 50"));
    assert_eq!((at(Some(50)).span, at(None).span), (3..4, 1..2));
    assert!(at(None).message.contains("without a real-time priority"));
    let no_fit = refused(&profile(Some(40)), InterferenceBound::Demand);
    assert!(no_fit.message.contains("no fit `demand`"), "{no_fit:?}");
}

#[test]
fn a_processor_that_is_taken_whole_leaves_no_time() {
    let text = "name = \"all\"\n[conditions]\ncpu = 1\npriority = 1\n[stolen]\n\
                interval_ns = [1_000]\nns_max = [1_000]\n";
    let profile = CpuProfile::parse(text).unwrap();
    assert!(of(&profile, Duration::ZERO).unwrap_err().message.contains("no time"));
}
