// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The run loop in virtual time: exact responses in scenarios worked out by hand.
//!
//! The drive serves one request after the other in 4 ms, so every instant below is a small
//! sum.

mod common;

use std::sync::atomic::Ordering;

use common::*;
use engine::{Length, RunEnd, RunError};
use model::{Bandwidth, Bytes, Intensity, Op, Place, PolicyName};

const ONE_JOB: Length = Length::Jobs(1);

/// Goal: each policy gives the device its batches, and the responses follow from them.
/// Method: three jobs at 0, one at 5 ms; z = 2.
#[test]
fn policies_form_their_batches_and_responses_are_exact() {
    let tasks = vec![task("a", 100, 1), task("b", 100, 1), task("c", 100, 1)];
    let late = offset(task("d", 100, 1), 5);
    let workload = workload([tasks, vec![late]].concat(), Vec::new());
    let expected = [
        (PolicyName::Noop, vec![(at(0), 3), (at(5), 1)]),
        (PolicyName::Fifo, vec![(at(0), 1), (at(4), 1), (at(8), 1), (at(12), 1)]),
        (PolicyName::Dqf, vec![(at(0), 2), (at(8), 2)]),
    ];
    for (policy, expected_batches) in expected {
        let setting = Setting::new(policy, ONE_JOB);
        let log = setting.drive.log.clone();
        let outcome = setting.run(&workload).unwrap();
        assert_eq!(batches(&log), expected_batches, "{policy}");
        let exact = [4, 8, 12, 11].map(|response| (ms(response), ms(response)));
        assert_eq!(responses(&outcome), exact, "{policy}");
        assert_eq!((outcome.end, outcome.wall, outcome.requests), (RunEnd::Complete, ms(16), 4));
        assert!(outcome.is_kept());
    }
}

#[test]
fn all_requests_of_a_job_go_together_and_the_last_one_completes_it() {
    let workload = workload(vec![task("a", 20, 2)], Vec::new());
    let setting = Setting::new(PolicyName::Dqf, Length::Jobs(3));
    let log = setting.drive.log.clone();
    let outcome = setting.run(&workload).unwrap();
    assert_eq!(batches(&log), [(at(0), 2), (at(20), 2), (at(40), 2)]);
    assert_eq!(responses(&outcome), [(ms(8), ms(8))]);
    assert_eq!(outcome.tasks[0].jobs, 3);
}

/// Goal: jobs are released in every period whether or not earlier ones are done (9.3.2), the
/// last ones are waited for, and misses are counted. Method: a period of 10 ms for 12 ms of work.
#[test]
fn overload_releases_on_and_its_last_jobs_are_waited_for() {
    let workload = workload(vec![task("a", 10, 3)], Vec::new());
    let mut setting = Setting::new(PolicyName::Fifo, Length::Jobs(6));
    setting.batch_max = 1;
    let outcome = setting.run(&workload).unwrap();
    // Job k is released at 10 k and done at 12 (k + 1).
    assert_eq!(responses(&outcome), [(ms(12), ms(22))]);
    assert_eq!((outcome.tasks[0].jobs, outcome.tasks[0].misses), (6, 6));
    assert_eq!(outcome.wall, ms(72));
    // Up to the last release at 50: 12 requests of 4 ms each.
    assert_eq!(outcome.real_time.requests, 12);
    assert_eq!(outcome.real_time.bytes, Bytes::from_kib(48));
    assert_eq!(outcome.real_time.throughput_bytes_per_s, Some(48 * 1024 * 20));
    assert!(!outcome.is_kept());
}

/// Goal: lateness of the host is inside the response and told apart from it. Method: the
/// host wakes 3 ms late at the second release and 1 ms late at its completion.
#[test]
fn late_wake_up_is_in_the_response_and_is_told_apart() {
    let workload = workload(vec![task("a", 50, 1)], Vec::new());
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(2));
    setting.lateness_at = Box::new(|wake_at| match wake_at {
        wake_at if wake_at == at(50) => ms(3),
        wake_at if wake_at == at(57) => ms(1),
        _ => ms(0),
    });
    let outcome = setting.run(&workload).unwrap();
    assert_eq!(responses(&outcome), [(ms(4), ms(8))]);
    let lateness = outcome.host_lateness.unwrap();
    assert_eq!((lateness.count, lateness.min, lateness.max), (2, ms(0), ms(3)));
    let device_time = outcome.device_time.unwrap();
    assert_eq!((device_time.min, device_time.max), (ms(4), ms(5)));
}

#[test]
fn host_that_sleeps_through_periods_releases_each_of_them_at_its_nominal_instant() {
    let workload = workload(vec![task("a", 10, 1)], Vec::new());
    let mut setting = Setting::new(PolicyName::Noop, Length::Jobs(4));
    setting.lateness_at = Box::new(|wake_at| if wake_at == at(10) { ms(25) } else { ms(0) });
    let log = setting.drive.log.clone();
    let outcome = setting.run(&workload).unwrap();
    assert_eq!(batches(&log), [(at(0), 1), (at(35), 3)]);
    let released: Vec<_> = log.borrow()[1].1.iter().map(|request| request.released).collect();
    assert_eq!(released, [at(10), at(20), at(30)]);
    // Done at 39, 43 and 47.
    assert_eq!(responses(&outcome), [(ms(4), ms(29))]);
    assert_eq!(outcome.host_lateness.unwrap().max, ms(25));
}

/// Goal: a cancelled run releases nothing more, waits for what is in flight, and returns what it
/// has. Method: cancelled while the host sleeps until 4 ms; one batch of 2 out of 5 is out.
#[test]
fn cancel_waits_for_what_is_in_flight_and_returns_the_results_so_far() {
    let workload = workload(vec![task("a", 7, 1), task("b", 100, 4)], Vec::new());
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(100));
    let (log, cancel) = (setting.drive.log.clone(), setting.cancel.clone());
    setting.lateness_at = Box::new(move |wake_at| {
        cancel.store(wake_at == at(4), Ordering::Relaxed);
        ms(0)
    });
    let outcome = setting.run(&workload).unwrap();
    assert_eq!(batches(&log), [(at(0), 2)]);
    assert_eq!((outcome.end, outcome.wall), (RunEnd::Interrupted, ms(8)));
    // The other request in flight came back and counts, though not for throughput.
    assert_eq!((outcome.requests, outcome.real_time.requests), (2, 0));
    let [a, b] = &outcome.tasks[..] else { panic!("two tasks") };
    assert_eq!((a.jobs, a.jobs_unfinished, a.misses), (1, 0, 0));
    assert_eq!((b.jobs, b.jobs_unfinished, b.misses), (0, 1, 0));
    assert_eq!(b.response, None);
}

#[test]
fn job_that_is_past_its_deadline_when_the_run_is_cancelled_is_a_miss() {
    let workload = workload(vec![task("a", 5, 4)], Vec::new());
    let mut setting = Setting::new(PolicyName::Fifo, Length::Jobs(100));
    let cancel = setting.cancel.clone();
    setting.lateness_at = Box::new(move |wake_at| {
        cancel.store(wake_at >= at(8), Ordering::Relaxed);
        ms(0)
    });
    let outcome = setting.run(&workload).unwrap();
    // Released at 0 and 5, ended at 8.
    assert_eq!((outcome.tasks[0].jobs_unfinished, outcome.tasks[0].misses), (2, 1));
}

/// Goal: requests that fail are counted, and stop nothing.
#[test]
fn failed_requests_are_counted_apart() {
    let workload = workload(vec![task("a", 20, 2)], vec![load(Intensity::Outstanding(1))]);
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(3));
    setting.batch_max = 3;
    setting.best_effort_fill = 3;
    setting.drive.failing = vec![1, 2];
    let outcome = setting.run(&workload).unwrap();
    let a = &outcome.tasks[0];
    assert_eq!((a.jobs, a.jobs_failed, a.misses), (2, 1, 0));
    assert_eq!(a.response.unwrap().count, 2);
    assert_eq!(outcome.requests_failed, 2);
    assert_eq!(outcome.device_time.unwrap().count, outcome.requests - 2);
    assert!(!outcome.is_kept());
}

/// Goal: batches that break the table are counted. Method: the table allows 10 ms for two
/// requests and 3 ms for one; the drive takes 8 and 4.
#[test]
fn batches_that_break_the_table_are_counted() {
    let mut workload = workload(vec![task("a", 50, 2), offset(task("b", 50, 1), 20)], Vec::new());
    workload.table = model::BatchTable::new(&[ms(3), ms(10)]).unwrap();
    let outcome = Setting::new(PolicyName::Dqf, Length::Jobs(5)).run(&workload).unwrap();
    assert_eq!((outcome.batches, outcome.overruns, outcome.overrun_max), (10, 5, ms(1)));
}

#[test]
fn what_joins_a_batch_makes_it_incomparable() {
    let workload = workload(vec![task("a", 50, 2), offset(task("b", 50, 1), 2)], Vec::new());
    let outcome = Setting::new(PolicyName::Noop, Length::Jobs(5)).run(&workload).unwrap();
    assert_eq!((outcome.batches, outcome.overruns), (0, 0));
}

/// Goal: a closed loop keeps its requests under way, and best effort fills what batches leave.
/// Method: z = 3, beta = 3: batches of one real-time request and two of best effort.
#[test]
fn closed_loop_fills_batches_and_ends_with_the_last_release() {
    let workload = workload(vec![task("a", 12, 1)], vec![load(Intensity::Outstanding(10))]);
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(4));
    (setting.batch_max, setting.best_effort_fill) = (3, 3);
    let log = setting.drive.log.clone();
    let outcome = setting.run(&workload).unwrap();
    assert_eq!(batches(&log), [(at(0), 3), (at(12), 3), (at(24), 3), (at(36), 3)]);
    assert_eq!(responses(&outcome), [(ms(4), ms(4))]);
    // Up to 36 ms: three batches.
    assert_eq!((outcome.real_time.requests, outcome.best_effort.requests), (3, 6));
}

#[test]
fn best_effort_that_is_never_served_does_not_hold_up_the_end() {
    let workload = workload(vec![task("a", 12, 1)], vec![load(Intensity::Outstanding(10))]);
    let outcome = Setting::new(PolicyName::Dqf, Length::Jobs(4)).run(&workload).unwrap();
    assert_eq!((outcome.end, outcome.wall), (RunEnd::Complete, ms(40)));
    assert_eq!(outcome.best_effort.requests, 0);
}

#[test]
fn best_effort_alone_runs_for_its_time() {
    let workload = workload(Vec::new(), vec![load(Intensity::Outstanding(3))]);
    let setting = Setting::new(PolicyName::Noop, Length::Duration(ms(40)));
    let outcome = setting.run(&workload).unwrap();
    // Up to the last release, at 36. The three on the drive are waited for.
    assert_eq!((outcome.best_effort.requests, outcome.requests), (9, 12));
    assert_eq!(outcome.best_effort.throughput_bytes_per_s, Some(4096 * 250));
    assert_eq!(outcome.wall, ms(48));
    assert_eq!(outcome.host_lateness, None);
}

/// Goal: without tasks a length in jobs counts the requests of each load, and all are served,
/// unless the policy never serves them.
#[test]
fn loads_alone_release_as_many_requests_as_jobs_were_asked_for() {
    let rate = Bandwidth::new(SIZE.get() * 100).unwrap();
    let loads = vec![load(Intensity::Outstanding(5)), load(Intensity::Rate(rate))];
    let workload = workload(Vec::new(), loads);
    for (best_effort_fill, requests) in [(2, 14), (0, 0)] {
        let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(7));
        setting.best_effort_fill = best_effort_fill;
        let outcome = setting.run(&workload);
        assert_eq!(outcome.unwrap().requests, requests);
    }
}

#[test]
fn rate_is_an_open_loop_that_stays_on_its_instants() {
    // One request in 10 ms.
    let rate = Bandwidth::new(SIZE.get() * 100).unwrap();
    let workload = workload(Vec::new(), vec![load(Intensity::Rate(rate))]);
    let setting = Setting::new(PolicyName::Noop, Length::Duration(ms(30)));
    let log = setting.drive.log.clone();
    let outcome = setting.run(&workload).unwrap();
    assert_eq!(batches(&log), [(at(0), 1), (at(10), 1), (at(20), 1)]);
    assert_eq!(outcome.requests, 3);
}

/// Goal: a full policy loses nothing, and what it refused keeps its release. Method: room for
/// two requests in the policy, five in a job.
#[test]
fn requests_that_a_full_policy_refused_are_held_with_their_release() {
    let workload = workload(vec![task("a", 100, 5)], vec![load(Intensity::Outstanding(3))]);
    for policy in PolicyName::ALL {
        let mut setting = Setting::new(policy, Length::Jobs(2));
        setting.queued_max = 2;
        setting.best_effort_fill = 2;
        let log = setting.drive.log.clone();
        let outcome = setting.run(&workload).unwrap();
        assert_eq!(outcome.tasks[0].jobs, 2, "{policy}");
        let log = log.borrow();
        let requests: Vec<_> = log.iter().flat_map(|(_, batch)| batch).collect();
        let of_task: Vec<_> = requests.iter().filter(|request| request.due.is_some()).collect();
        assert!(of_task.is_sorted_by_key(|request| request.id), "{policy}");
        let released: Vec<_> = of_task.iter().map(|request| request.released).collect();
        assert_eq!(released, [[at(0); 5], [at(100); 5]].concat(), "{policy}");
    }
}

#[test]
fn workload_that_the_target_cannot_carry_is_refused_before_anything_starts() {
    let refusal = |change: fn(&mut model::Task), length| {
        let mut workload = workload(vec![task("a", 10, 1)], Vec::new());
        change(&mut workload.tasks[0]);
        let setting = Setting::new(PolicyName::Dqf, length);
        let log = setting.drive.log.clone();
        let error = setting.run(&workload).unwrap_err();
        assert!(log.borrow().is_empty());
        error
    };
    let error = refusal(|task| task.op = Op::Write, ONE_JOB);
    assert!(matches!(&error, RunError::WritesNotAllowed { source_name } if source_name == "a"));
    assert!(error.to_string().contains("opened for reading only"));
    let error = refusal(|task| task.size = Bytes::new(6 << 10), ONE_JOB);
    assert!(matches!(error, RunError::SizeUnaligned { .. }));
    assert!(error.to_string().contains("no multiple of the 4KiB"), "{error}");
    let error = refusal(|task| task.size = Bytes::from_kib(256), ONE_JOB);
    assert!(matches!(error, RunError::SizeAboveBuffer { .. }));
    let narrow = |task: &mut model::Task| task.place = Place::Range { from_ppm: 1, to_ppm: 2 };
    assert!(matches!(refusal(narrow, ONE_JOB), RunError::PlaceTooSmall { .. }));
    let never = refusal(|_| (), Length::Jobs(u64::MAX));
    assert!(matches!(never, RunError::LengthBeyondTime { .. }));
}

#[test]
fn other_refusals_say_what_is_wrong() {
    let tasks = workload(vec![task("a", 10, 1)], Vec::new());
    let mut setting = Setting::new(PolicyName::Noop, ONE_JOB);
    setting.limits.in_flight_max = 7;
    assert!(matches!(setting.run(&tasks), Err(RunError::DepthAboveExecutor { .. })));
    let setting = Setting::new(PolicyName::Noop, Length::Jobs(0));
    assert!(matches!(setting.run(&tasks), Err(RunError::LengthZero)));
}

#[test]
fn writes_go_through_where_they_are_allowed() {
    let mut workload = workload(vec![task("a", 10, 1)], Vec::new());
    workload.tasks[0].op = Op::Write;
    let mut setting = Setting::new(PolicyName::Dqf, ONE_JOB);
    setting.limits.is_writable = true;
    assert_eq!(setting.run(&workload).unwrap().tasks[0].jobs, 1);
}
