// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a run measures host and device separately from the policy, and can be cancelled. Method:
//! virtual time; the drive serves one request after the other in 4 ms, so every instant below is a
//! small sum.

use std::sync::atomic::Ordering;

use super::common::*;
use tidegate_engine::{Length, RunEnd};
use tidegate_model::{Duration, Intensity, PolicyName, Task};

/// Goal: the host's lateness is reported separately from the response time that contains it.
/// Method: the host wakes 3 ms late at the second release and 1 ms late at the completion after it.
#[test]
fn late_wake_up_is_told_apart() {
    let workload = workload(vec![task("a", 50, 1)], Vec::new());
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(2));
    setting.backend.lateness_at = Box::new(|wake_at| match wake_at {
        wake_at if wake_at == at(50) => ms(3),
        wake_at if wake_at == at(57) => ms(1),
        _ => ms(0),
    });
    let outcome = setting.run(&workload).unwrap();
    let (lateness, device_time) = (outcome.watch.host_lateness, outcome.watch.device_time);
    assert_eq!((lateness.count(), extremes(&lateness)), (2, (ms(0), ms(3))));
    assert_eq!(extremes(&device_time), (ms(4), ms(5)));
}

#[test]
fn lateness_counts_once_for_each_job_slept_through() {
    let workload = workload(vec![task("a", 10, 2)], Vec::new());
    let mut setting = Setting::new(PolicyName::Noop, Length::Jobs(4));
    setting.backend.lateness_at =
        Box::new(|wake_at| if wake_at == at(10) { ms(25) } else { ms(0) });
    let outcome = setting.run(&workload).unwrap();
    // Jobs of two requests each are due at 0, 10, 20 and 30 ms; the last three are released at 35
    // ms.
    let lateness = outcome.watch.host_lateness;
    assert_eq!((lateness.count(), extremes(&lateness)), (4, (ms(0), ms(25))));
    assert_eq!(lateness.mean(), Some(Duration::from_us(11_250)));
}

/// Goal: a flag cancels a run, which waits for the requests in flight and returns its results.
/// Method: cancel while the host sleeps until 4 ms; two of the five requests are in flight as one
/// batch.
#[test]
fn cancel_waits_for_what_is_in_flight_and_returns_the_results_so_far() {
    let workload = workload(vec![task("a", 7, 1), task("b", 100, 4)], Vec::new());
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(100));
    let (log, cancel) = (setting.backend.log.clone(), setting.cancel.clone());
    setting.backend.lateness_at = Box::new(move |wake_at| {
        cancel.store(wake_at == at(4), Ordering::Relaxed);
        ms(0)
    });
    let outcome = setting.run(&workload).unwrap();
    assert_eq!(batches(&log), [(at(0), 2)]);
    assert_eq!((outcome.run.end, outcome.run.ended), (RunEnd::Interrupted, at(8)));
    assert_eq!(outcome.run.metrics.all().completed.requests, 2);
    assert_eq!(outcome.watch.device_time.count(), 2);
}

/// Goal: failed requests are counted, do not stop the run, and do not count as device times.
/// Method: two failing requests.
#[test]
fn failed_requests_are_no_measure_of_the_device() {
    let workload = workload(vec![task("a", 20, 2)], vec![load(Intensity::Outstanding(1))]);
    let mut setting = Setting::new(PolicyName::Dqf, Length::Jobs(3));
    setting.batch_max = 3;
    setting.best_effort_fill = 3;
    setting.backend.failing = vec![1, 2];
    let outcome = setting.run(&workload).unwrap();
    let metrics = &outcome.run.metrics;
    assert_eq!(metrics.all().failed_requests, 2);
    assert_eq!(outcome.watch.device_time.count(), metrics.all().completed.requests);
    assert!(!metrics.is_kept());
}

/// Goal: batches that exceed the table are counted. Method: the table allows 10 ms for two requests
/// and 3 ms for one; the drive takes 8 ms and 4 ms.
#[test]
fn batches_that_break_the_table_are_counted() {
    let mut workload =
        workload(vec![task("a", 50, 2), Task { offset: ms(20), ..task("b", 50, 1) }], Vec::new());
    workload.table = tidegate_model::BatchTable::new(&[ms(3), ms(10)]).unwrap();
    let outcome = Setting::new(PolicyName::Dqf, Length::Jobs(5)).run(&workload).unwrap();
    let watch = outcome.watch.batches;
    assert_eq!((watch.batches, watch.overruns, watch.overrun_max), (10, 5, ms(1)));
}

#[test]
fn what_joins_a_batch_makes_it_incomparable() {
    let workload =
        workload(vec![task("a", 50, 2), Task { offset: ms(2), ..task("b", 50, 1) }], Vec::new());
    let outcome = Setting::new(PolicyName::Noop, Length::Jobs(5)).run(&workload).unwrap();
    assert_eq!((outcome.watch.batches.batches, outcome.watch.batches.overruns), (0, 0));
}

#[test]
fn best_effort_is_waited_for_and_is_never_late() {
    let workload = workload(Vec::new(), vec![load(Intensity::Outstanding(3))]);
    let setting = Setting::new(PolicyName::Noop, Length::Duration(ms(40)));
    let outcome = setting.run(&workload).unwrap();
    // The last release is at 36 ms; the run waits for the three requests in flight.
    assert_eq!(outcome.run.metrics.best_effort().completed.requests, 12);
    assert_eq!(outcome.run.ended, at(48));
    assert_eq!(outcome.watch.host_lateness.count(), 0);
}
