// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a run that exceeds the target's limits is refused before it starts, with the reason.
//! Method: one workload per limit.

use super::common::*;
use tidegate_engine::{Length, RunError};
use tidegate_model::{Bytes, Op, Place, PolicyName};

const ONE_JOB: Length = Length::Jobs(1);

#[test]
fn workload_that_the_target_cannot_carry_is_refused_before_anything_starts() {
    let refusal = |change: fn(&mut tidegate_model::Task), length| {
        let mut workload = workload(vec![task("a", 10, 1)], Vec::new());
        change(&mut workload.tasks[0]);
        let setting = Setting::new(PolicyName::Dqf, length);
        let log = setting.backend.log.clone();
        let error = setting.run(&workload).unwrap_err();
        assert!(log.borrow().is_empty());
        error
    };
    let error = refusal(|task| task.op = Op::Write, ONE_JOB);
    assert!(matches!(&error, RunError::WritesNotAllowed { source_name } if source_name == "a"));
    assert!(error.to_string().contains("opened for reading only"));
    let error = refusal(|task| task.size = Bytes::new(6 << 10), ONE_JOB);
    assert!(matches!(error, RunError::SizeUnaligned { .. }));
    assert!(error.to_string().contains("a multiple of 4KiB, the target's alignment"), "{error}");
    let error = refusal(|task| task.size = Bytes::from_kib(256), ONE_JOB);
    assert!(matches!(error, RunError::SizeAboveBuffer { .. }));
    let narrow =
        |task: &mut tidegate_model::Task| task.place = Place::Range { from_ppm: 1, to_ppm: 2 };
    assert!(matches!(refusal(narrow, ONE_JOB), RunError::PlaceTooSmall { .. }));
    let never = refusal(|_| (), Length::Jobs(u64::MAX));
    assert!(matches!(never, RunError::LengthBeyondTime { .. }));
    let sporadic = |task: &mut tidegate_model::Task| {
        let extra_max = task.period;
        task.arrivals = tidegate_model::Arrivals::Sporadic { extra_max };
    };
    // With releases 10 ms apart, the jobs end after 365 years; with releases up to 20 ms apart,
    // after 730 years.
    let never = refusal(sporadic, Length::Jobs(1_152 * 1_000_000_000));
    assert!(matches!(never, RunError::LengthBeyondTime { .. }));
}

#[test]
fn other_refusals_say_what_is_wrong() {
    let tasks = workload(vec![task("a", 10, 1)], Vec::new());
    let mut setting = Setting::new(PolicyName::Noop, ONE_JOB);
    setting.limits.in_flight_max = 7;
    assert!(matches!(setting.run(&tasks), Err(RunError::DepthAboveBackend { .. })));
    let setting = Setting::new(PolicyName::Noop, Length::Jobs(0));
    assert!(matches!(setting.run(&tasks), Err(RunError::LengthZero)));
}

#[test]
fn writes_go_through_where_they_are_allowed() {
    let mut workload = workload(vec![task("a", 10, 1)], Vec::new());
    workload.tasks[0].op = Op::Write;
    let mut setting = Setting::new(PolicyName::Dqf, ONE_JOB);
    setting.limits.is_writable = true;
    assert_eq!(setting.run(&workload).unwrap().run.metrics.tasks()[0].jobs(), 1);
}
