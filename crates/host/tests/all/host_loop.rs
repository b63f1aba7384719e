// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the loop's responses are exact. Method: scenarios in virtual time, worked out by hand.
//!
//! The backend serves one request after the other in 4 ms, so every instant below is a small sum.

use crate::common::*;
use tidegate_host::{Length, RunEnd};
use tidegate_model::{Bandwidth, Intensity, Plan, PolicyName, Task};

const ONE_JOB: Length = Length::Jobs(1);

/// Goal: each policy dispatches its batches, and the responses follow from them. Method: three jobs
/// at 0, one at 5 ms; z = 2.
#[test]
fn policies_form_their_batches_and_responses_are_exact() {
    let tasks = vec![task("a", 100, 1), task("b", 100, 1), task("c", 100, 1)];
    let late = Task { offset: ms(5), ..task("d", 100, 1) };
    let workload = workload([tasks, vec![late]].concat(), Vec::new());
    let expected = [
        (PolicyName::Noop, vec![(at(0), 3), (at(5), 1)]),
        (PolicyName::Fifo, vec![(at(0), 1), (at(4), 1), (at(8), 1), (at(12), 1)]),
        (PolicyName::Dqf, vec![(at(0), 2), (at(8), 2)]),
    ];
    for (policy, expected_batches) in expected {
        let setting = Setting::new(policy, ONE_JOB);
        let log = setting.backend.log.clone();
        let run = setting.run(&workload);
        assert_eq!(batches(&log), expected_batches, "{policy}");
        let exact = [4, 8, 12, 11].map(|response| (ms(response), ms(response)));
        assert_eq!(responses(&run), exact, "{policy}");
        let completed = run.metrics.real_time().completed.requests;
        assert_eq!((run.end, run.ended, completed), (RunEnd::Complete, at(16), 4));
        assert!(run.metrics.is_kept());
    }
}

#[test]
fn all_requests_of_a_job_go_together_and_the_last_one_completes_it() {
    let workload = workload(vec![task("a", 20, 2)], Vec::new());
    let setting = Setting::new(PolicyName::Dqf, Length::Jobs(3));
    let log = setting.backend.log.clone();
    let run = setting.run(&workload);
    assert_eq!(batches(&log), [(at(0), 2), (at(20), 2), (at(40), 2)]);
    assert_eq!(responses(&run), [(ms(8), ms(8))]);
    assert_eq!(run.metrics.tasks()[0].jobs(), 3);
}

/// Goal: jobs are released in every period even if earlier ones are unfinished (9.3.2), the run
/// waits for the last ones, and misses are counted. Method: a period of 10 ms for 12 ms of work.
#[test]
fn overload_releases_on_and_its_last_jobs_are_waited_for() {
    let workload = workload(vec![task("a", 10, 3)], Vec::new());
    let mut setting = Setting::new(PolicyName::Fifo, Length::Jobs(6));
    setting.batch_max = 1;
    let run = setting.run(&workload);
    // Job k is released at 10 k and completes at 12 (k + 1).
    assert_eq!(responses(&run), [(ms(12), ms(22))]);
    let task = &run.metrics.tasks()[0];
    assert_eq!((task.jobs(), task.misses), (6, 6));
    assert_eq!(run.ended, at(72));
    // Up to the last release at 50: 12 requests of 4 ms each.
    let real_time = run.metrics.real_time();
    let window = real_time.completed_in_window;
    assert_eq!((window.requests, window.bytes), (12, 48 << 10));
    assert_eq!(real_time.throughput_bytes_per_s(), Some(48 * 1024 * 20));
    assert!(!run.metrics.is_kept());
}

/// Goal: the host's lateness is part of the response. Method: the host wakes 3 ms late at the
/// second release and 1 ms late at its completion.
#[test]
fn late_wake_up_is_in_the_response() {
    let workload = workload(vec![task("a", 50, 1)], Vec::new());
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(2));
    setting.backend.lateness_at = Box::new(|wake_at| match wake_at {
        wake_at if wake_at == at(50) => ms(3),
        wake_at if wake_at == at(57) => ms(1),
        _ => ms(0),
    });
    let run = setting.run(&workload);
    assert_eq!(responses(&run), [(ms(4), ms(8))]);
}

#[test]
fn host_that_sleeps_through_periods_releases_each_of_them_at_its_nominal_instant() {
    let workload = workload(vec![task("a", 10, 1)], Vec::new());
    let mut setting = Setting::new(PolicyName::Noop, Length::Jobs(4));
    setting.backend.lateness_at =
        Box::new(|wake_at| if wake_at == at(10) { ms(25) } else { ms(0) });
    let log = setting.backend.log.clone();
    let run = setting.run(&workload);
    assert_eq!(batches(&log), [(at(0), 1), (at(35), 3)]);
    let released: Vec<_> = log.borrow()[1].1.iter().map(|request| request.released).collect();
    assert_eq!(released, [at(10), at(20), at(30)]);
    // Completed at 39, 43 and 47.
    assert_eq!(responses(&run), [(ms(4), ms(29))]);
}

/// Goal: a cancelled run releases nothing more, waits for the requests in flight, and returns its
/// results. Method: cancel while the host sleeps until 4 ms; one batch of 2 of the 5 requests is in
/// flight.
#[test]
fn cancel_waits_for_what_is_in_flight_and_returns_the_results_so_far() {
    let workload = workload(vec![task("a", 7, 1), task("b", 100, 4)], Vec::new());
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(100));
    let (log, cancel) = (setting.backend.log.clone(), setting.cancel.clone());
    setting.backend.lateness_at = Box::new(move |wake_at| {
        cancel.set(wake_at == at(4));
        ms(0)
    });
    let run = setting.run(&workload);
    assert_eq!(batches(&log), [(at(0), 2)]);
    assert_eq!((run.end, run.ended), (RunEnd::Interrupted, at(8)));
    // The other request in flight completed and counts, though not for throughput.
    let real_time = run.metrics.real_time();
    assert_eq!((real_time.completed.requests, real_time.completed_in_window.requests), (2, 0));
    let [a, b] = run.metrics.tasks() else { panic!("two tasks") };
    assert_eq!((a.jobs(), a.unfinished_jobs, a.misses), (1, 0, 0));
    assert_eq!((b.jobs(), b.unfinished_jobs, b.misses), (0, 1, 0));
    assert_eq!(b.responses.max(), None);
    assert_eq!(run.real_time_left, 3);
}

#[test]
fn job_that_is_past_its_deadline_when_the_run_is_cancelled_is_a_miss() {
    let workload = workload(vec![task("a", 5, 4)], Vec::new());
    let mut setting = Setting::new(PolicyName::Fifo, Length::Jobs(100));
    let cancel = setting.cancel.clone();
    setting.backend.lateness_at = Box::new(move |wake_at| {
        cancel.set(wake_at >= at(8));
        ms(0)
    });
    let run = setting.run(&workload);
    // Released at 0 and 5, ended at 8.
    let task = &run.metrics.tasks()[0];
    assert_eq!((task.unfinished_jobs, task.misses), (2, 1));
}

/// Goal: failed requests are counted, and do not stop the run. Method: two failing requests.
#[test]
fn failed_requests_are_counted_apart() {
    let workload = workload(vec![task("a", 20, 2)], vec![load(Intensity::Outstanding(1))]);
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(3));
    setting.batch_max = 3;
    setting.best_effort_fill = 3;
    setting.backend.failing = vec![1, 2];
    let run = setting.run(&workload);
    let a = &run.metrics.tasks()[0];
    assert_eq!((a.jobs(), a.failed_jobs, a.misses), (2, 1, 0));
    assert_eq!(run.metrics.all().failed_requests, 2);
    assert!(!run.metrics.is_kept());
}

/// Goal: a closed loop keeps its requests outstanding, and best effort fills batches. Method:
/// z = 3, beta = 3: batches of one real-time request and two best-effort requests.
#[test]
fn closed_loop_fills_batches_and_ends_with_the_last_release() {
    let workload = workload(vec![task("a", 12, 1)], vec![load(Intensity::Outstanding(10))]);
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(4));
    (setting.batch_max, setting.best_effort_fill) = (3, 3);
    let log = setting.backend.log.clone();
    let run = setting.run(&workload);
    assert_eq!(batches(&log), [(at(0), 3), (at(12), 3), (at(24), 3), (at(36), 3)]);
    assert_eq!(responses(&run), [(ms(4), ms(4))]);
    // Up to 36 ms: three batches.
    let totals = [run.metrics.real_time(), run.metrics.best_effort()];
    assert_eq!(totals.map(|totals| totals.completed_in_window.requests), [3, 6]);
}

#[test]
fn best_effort_that_is_never_served_does_not_hold_up_the_end() {
    let workload = workload(vec![task("a", 12, 1)], vec![load(Intensity::Outstanding(10))]);
    let run = Setting::new(PolicyName::Dqf, Length::Jobs(4)).run(&workload);
    assert_eq!((run.end, run.ended), (RunEnd::Complete, at(40)));
    assert_eq!(run.metrics.best_effort().completed.requests, 0);
}

#[test]
fn best_effort_alone_runs_for_its_time() {
    let workload = workload(Vec::new(), vec![load(Intensity::Outstanding(3))]);
    let setting = Setting::new(PolicyName::Noop, Length::Duration(ms(40)));
    let run = setting.run(&workload);
    // Up to the last release, at 36; the run waits for the three requests in flight.
    let totals = run.metrics.best_effort();
    assert_eq!((totals.completed_in_window.requests, totals.completed.requests), (9, 12));
    assert_eq!(totals.throughput_bytes_per_s(), Some(4096 * 250));
    assert_eq!(run.ended, at(48));
}

/// Goal: without tasks, a length in jobs counts the requests of each load, and all are served
/// unless the policy never serves them. Method: a closed and an open loop.
#[test]
fn loads_alone_release_as_many_requests_as_jobs_were_asked_for() {
    let rate = Bandwidth::new(SIZE.get() * 100).unwrap();
    let loads = vec![load(Intensity::Outstanding(5)), load(Intensity::Rate(rate))];
    let workload = workload(Vec::new(), loads);
    for (best_effort_fill, requests) in [(2, 14), (0, 0)] {
        let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(7));
        setting.best_effort_fill = best_effort_fill;
        let run = setting.run(&workload);
        assert_eq!(run.metrics.all().completed.requests, requests);
    }
}

#[test]
fn rate_is_an_open_loop_that_stays_on_its_instants() {
    // One request in 10 ms.
    let rate = Bandwidth::new(SIZE.get() * 100).unwrap();
    let workload = workload(Vec::new(), vec![load(Intensity::Rate(rate))]);
    let setting = Setting::new(PolicyName::Noop, Length::Duration(ms(30)));
    let log = setting.backend.log.clone();
    let run = setting.run(&workload);
    assert_eq!(batches(&log), [(at(0), 1), (at(10), 1), (at(20), 1)]);
    assert_eq!(run.metrics.best_effort().completed.requests, 3);
}

/// Goal: a full policy loses no request, and a refused request keeps its release time. Method: room
/// for two requests in the policy, five in a job.
#[test]
fn requests_that_a_full_policy_refused_are_held_with_their_release() {
    let workload = workload(vec![task("a", 100, 5)], vec![load(Intensity::Outstanding(3))]);
    for policy in tidegate_policy::available(&Plan::of(&workload)) {
        let mut setting = Setting::new(policy, Length::Jobs(2));
        setting.queued_max = 2;
        setting.best_effort_fill = 2;
        let log = setting.backend.log.clone();
        let run = setting.run(&workload);
        assert_eq!(run.metrics.tasks()[0].jobs(), 2, "{policy}");
        let log = log.borrow();
        let requests: Vec<_> = log.iter().flat_map(|(_, batch)| batch).collect();
        let mut of_task: Vec<_> = requests.iter().filter(|request| request.due.is_some()).collect();
        // Only some policies send a job's requests in the order of release; others go by position.
        if matches!(policy, PolicyName::Noop | PolicyName::Fifo | PolicyName::Dqf) {
            assert!(of_task.is_sorted_by_key(|request| request.id), "{policy}");
        }
        of_task.sort_by_key(|request| request.id);
        let released: Vec<_> = of_task.iter().map(|request| request.released).collect();
        assert_eq!(released, [[at(0); 5], [at(100); 5]].concat(), "{policy}");
    }
}

/// Goal: an overload that exceeds the room for requests ends the run with its results. Method: two
/// requests of 4 ms every 4 ms, room for three.
#[test]
fn overload_beyond_all_room_ends_the_run_with_the_results_so_far() {
    let workload = workload(vec![task("a", 4, 2)], Vec::new());
    let mut setting = Setting::new(PolicyName::Fifo, Length::Jobs(100));
    setting.outstanding_max = Some(3);
    let run = setting.run(&workload);
    // At 0: two requests; at 4: one completes, two more; at 8: two left, one of the third job fits.
    // At 8 the next request was dispatched before the release, and the run waits for it.
    let task = &run.metrics.tasks()[0];
    assert_eq!((run.end, task.jobs(), task.unfinished_jobs), (RunEnd::Overloaded, 1, 2));
}

/// Goal: the drive never gets more requests than it accepts. Method: a policy with a plan for a
/// deeper drive.
#[test]
#[should_panic(expected = "more in flight than the drive accepts")]
fn policy_that_sends_more_than_the_drive_accepts_is_stopped() {
    let mut workload = workload(vec![task("a", 100, 9)], Vec::new());
    let plan = plan(&workload, 8, 0);
    workload.depth = 7;
    let policy = tidegate_policy::build(PolicyName::Noop, &plan, None).unwrap();
    let params = tidegate_host::HostParams::new(&workload, Length::Jobs(1));
    let mut backend = InOrder::default();
    let _ = tidegate_host::Host::new(&params, policy, &mut backend, &mut ()).run(|| false);
}
