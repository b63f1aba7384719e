// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How long sources release requests, and when a run ends.

use tidegate_model::{Bandwidth, Duration, Intensity, PolicyName, Task};
use tidegate_sim::{Length, SimParams};

use super::common::{
    SIZE, TIMES_MS, at, load, ms, plan, record, record_dqf, run, run_dqf, task, workload,
};

/// Returns a rate of one request in 10 ms.
fn one_in_10_ms() -> Intensity {
    Intensity::Rate(Bandwidth::new(SIZE.get() * 100).unwrap())
}

#[test]
fn every_task_releases_its_jobs_and_best_effort_ends_with_the_last() {
    let slow = Task { offset: ms(7), ..task("slow", 100) };
    let loads = vec![load("open", one_in_10_ms()), load("closed", Intensity::Outstanding(2))];
    let workload = workload(&TIMES_MS, vec![task("fast", 50), slow], loads);
    let (run, recorder) = record_dqf(&workload, &plan(&workload, 4, 4), 3);

    assert_eq!(recorder.releases(0), [at(0), at(50), at(100)]);
    assert_eq!(recorder.releases(1), [at(7), at(107), at(207)]);
    let open: Vec<_> = (0..=20).map(|step| at(step * 10)).collect();
    assert_eq!(recorder.releases(2), open);
    assert!(recorder.releases(3).iter().all(|&release| release <= at(207)));
    assert_eq!(run.metrics.last_release(), at(207));
    assert_eq!(run.real_time_left, 0);
}

#[test]
fn best_effort_that_is_never_served_does_not_hold_up_the_end() {
    let loads = vec![load("backup", Intensity::Outstanding(450)), load("open", one_in_10_ms())];
    let workload = workload(&TIMES_MS, vec![task("a", 100)], loads);
    let run = run_dqf(&workload, &plan(&workload, 4, 0), 3);
    assert_eq!(run.ended, at(210));
    assert_eq!(run.real_time_left, 0);
    assert_eq!(run.best_effort_left, 450 + 21);
    assert_eq!(run.metrics.best_effort().completed.requests, 0);
}

#[test]
fn length_as_a_time_ends_before_it() {
    let workload = workload(&TIMES_MS, vec![task("a", 50)], Vec::new());
    let releases = |length_ms| {
        let params = SimParams::new(&workload, Length::Duration(ms(length_ms)));
        record(&params, PolicyName::Dqf, &plan(&workload, 1, 0)).1.releases(0)
    };
    assert_eq!(releases(100), [at(0), at(50)]);
    assert_eq!(releases(101), [at(0), at(50), at(100)]);
    assert_eq!(releases(0), []);
}

/// One request is served at a time, and two are always released and not complete: they are released
/// at 0, 0, 10, 20, .. 90. Nine are complete by the last release.
#[test]
fn best_effort_alone_runs_for_a_time() {
    let workload = workload(&[10], Vec::new(), vec![load("backup", Intensity::Outstanding(2))]);
    let params = SimParams::new(&workload, Length::Duration(ms(100)));
    let run = run(&params, PolicyName::Fifo, &plan(&workload, 1, 0), &mut ());
    let totals = run.metrics.best_effort();
    assert_eq!(totals.completed.requests, 11);
    assert_eq!(totals.completed_in_window.requests, 9);
    assert_eq!(totals.throughput_bytes_per_s(), Some(100 * SIZE.get()));
    let [backup] = run.metrics.loads() else { panic!("one load") };
    assert_eq!(backup.responses.min(), Some(ms(10)));
    assert_eq!(backup.responses.max(), Some(ms(20)));
    assert_eq!(run.best_effort_left, 0);
}

#[test]
fn best_effort_alone_releases_its_requests() {
    let loads = vec![load("closed", Intensity::Outstanding(2)), load("open", one_in_10_ms())];
    let workload = workload(&TIMES_MS, Vec::new(), loads);
    for name in tidegate_policy::available(&plan(&workload, 4, 4)) {
        let params = SimParams::new(&workload, Length::Jobs(5));
        let run = run(&params, name, &plan(&workload, 4, 4), &mut ());
        let jobs: Vec<u64> =
            run.metrics.loads().iter().map(tidegate_sim::SourceMetrics::jobs).collect();
        assert_eq!(jobs, [5, 5], "{name}");
        assert_eq!(run.best_effort_left, 0);
    }
}

#[test]
fn workload_that_releases_nothing_is_over_at_once() {
    let loads = vec![load("backup", Intensity::Outstanding(2))];
    let workload = workload(&TIMES_MS, vec![task("a", 50)], loads);
    let run = run_dqf(&workload, &plan(&workload, 4, 4), 0);
    assert_eq!((run.ended, run.events), (at(0), 0));
    assert_eq!(run.metrics.real_time().throughput_bytes_per_s(), None);
    assert_eq!(run.metrics.tasks()[0].responses.mean(), None::<Duration>);
}

#[test]
fn best_effort_goes_on_after_the_last_job_of_a_timed_run() {
    let loads = vec![load("backup", Intensity::Outstanding(1))];
    let workload = workload(&[10], vec![task("a", 1_000)], loads);
    let params = SimParams::new(&workload, Length::Duration(ms(200)));
    let run = run(&params, PolicyName::Fifo, &plan(&workload, 1, 0), &mut ());
    assert_eq!(run.metrics.last_release(), at(190));
    assert_eq!(run.metrics.best_effort().completed_in_window.requests, 18);
}
