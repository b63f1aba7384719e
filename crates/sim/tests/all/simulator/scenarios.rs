// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hand-made scenarios with exact response times on the pseudo-disk.

use tidegate_model::{Duration, Intensity, PolicyName, Task};
use tidegate_sim::{Length, SimParams, SimRun};

use super::common::{
    TIMES_MS, at, load, ms, plan, record, record_dqf, run, run_dqf, task, workload,
};

fn lowest_and_highest(run: &SimRun, task: usize) -> [Option<Duration>; 2] {
    let responses = &run.metrics.tasks()[task].responses;
    [responses.min(), responses.max()]
}

/// At 0 ms, a's request is dispatched alone and completes at b(1) = 10. At 5, b releases two
/// requests, which wait. At 10, both are dispatched; they complete at 18 and 26, so b's job
/// completes 21 ms after its release. The same follows from 50 and from 100. The last release is at
/// 105. By then, a's requests completed at 10 and 60, and b's at 18, 26, 68 and 76.
#[test]
fn job_released_during_a_batch_waits_for_the_drain() {
    let late = Task { requests: 2, offset: ms(5), deadline: ms(20), ..task("b", 50) };
    let workload = workload(&TIMES_MS, vec![task("a", 50), late], Vec::new());
    let run = run_dqf(&workload, &plan(&workload, 2, 0), 3);

    assert_eq!(lowest_and_highest(&run, 0), [Some(ms(10)); 2]);
    assert_eq!(lowest_and_highest(&run, 1), [Some(ms(21)); 2]);
    let [a, b] = run.metrics.tasks() else { panic!("two tasks") };
    assert_eq!((a.jobs(), a.misses), (3, 0));
    assert_eq!((b.jobs(), b.misses), (3, 3), "21 ms exceed the deadline of 20");
    assert_eq!(b.completed.requests, 6);

    assert_eq!(run.metrics.last_release(), at(105));
    let real_time = run.metrics.real_time();
    assert_eq!(real_time.completed.requests, 9);
    assert_eq!(real_time.completed_in_window.requests, 6);
    // 6 requests of 4,096 bytes each in 105 ms.
    assert_eq!(real_time.throughput_bytes_per_s(), Some(6 * 4096 * 1_000 / 105));
    assert_eq!(run.ended, at(126));
    assert_eq!(run.events, 18, "each of 9 requests is released and returned");
}

/// Two jobs of two requests released together form one batch of four.
#[test]
fn jobs_released_together_are_one_batch() {
    let pair = |name| Task { requests: 2, ..task(name, 100) };
    let workload = workload(&TIMES_MS, vec![pair("a"), pair("b")], Vec::new());
    let (_, recorder) = record_dqf(&workload, &plan(&workload, 4, 0), 1);
    assert_eq!(recorder.batches(), [(at(0), 4)]);
    assert_eq!(recorder.completions().last().unwrap().0, at(27));
}

/// A request that completes at the instant of a release leaves the drive idle for the new request.
#[test]
fn completions_come_before_releases_of_the_same_instant() {
    let workload = workload(&[10], vec![task("a", 10)], Vec::new());
    let run = run_dqf(&workload, &plan(&workload, 1, 0), 50);
    assert_eq!(lowest_and_highest(&run, 0), [Some(ms(10)); 2]);
}

/// With z = 4 and beta = 2, three best-effort requests are always released and not complete. At 0
/// ms, one real-time and one best-effort request are dispatched; they complete at 8 and 16. At 16,
/// two best-effort requests are dispatched; they complete at 24 and 32. The same follows at 32, 48,
/// .. The job released at 100 waits for the batch dispatched at 96, which completes at 112; the
/// next batch holds the job and one best-effort request.
#[test]
fn best_effort_fills_batches_up_to_beta() {
    let loads = vec![load("backup", Intensity::Outstanding(3))];
    let workload = workload(&TIMES_MS, vec![task("a", 100)], loads);
    let (run, recorder) = record_dqf(&workload, &plan(&workload, 4, 2), 2);

    let expected: Vec<_> = (0..8).map(|batch| (at(batch * 16), 2)).collect();
    assert_eq!(recorder.batches(), expected);
    let response_max = lowest_and_highest(&run, 0)[1].unwrap();
    assert!([ms(20), ms(28)].contains(&response_max), "{response_max}");
    // By 100 ms, a's first job and 11 best-effort requests are complete.
    let [best_effort] = run.metrics.loads() else { panic!("one load") };
    let totals = run.metrics.best_effort();
    assert_eq!(best_effort.name, "backup");
    assert_eq!(totals.completed_in_window.requests, 11);
    assert_eq!(totals.window, ms(100));
    assert_eq!(totals.throughput_bytes_per_s(), Some(11 * 4096 * 10));
}

/// Demand is twice the drive's capacity: job k is released at 5 k and completes at 10 (k + 1).
#[test]
fn overload_is_carried_to_its_end() {
    let workload = workload(&[10], vec![task("a", 5)], Vec::new());
    let params = SimParams::new(&workload, Length::Jobs(100));
    let run = run(&params, PolicyName::Noop, &plan(&workload, 1, 0), &mut ());
    let [a] = run.metrics.tasks() else { panic!("one task") };
    assert_eq!((a.jobs(), a.misses), (100, 100));
    assert_eq!(a.responses.min(), Some(ms(10)));
    assert_eq!(a.responses.max(), Some(ms(10 + 5 * 99)));
    assert_eq!(a.responses.mean(), Some(Duration::from_us(257_500)));
    let median = a.responses.quantile(500_000).unwrap();
    assert!((255_000_000..=255_255_000).contains(&median.ns()), "{median}");
    assert_eq!(a.responses.quantile(1_000_000), a.responses.max());
    assert_eq!(run.ended, at(1_000));
}

/// `noop` keeps a drive of depth 4 full. A joining request delays no request in service, and one of
/// the 4 requests in flight completes every b(4) / 4.
#[test]
fn noop_keeps_the_drive_full() {
    let loads = vec![load("flood", Intensity::Outstanding(10))];
    let workload = workload(&[8, 12, 16, 20], Vec::new(), loads);
    let params = SimParams::new(&workload, Length::Duration(ms(1_000)));
    let (_, recorder) = record(&params, PolicyName::Noop, &plan(&workload, 4, 0));
    let completions = recorder.completions();
    for (index, &(when, _)) in (1_u64..).zip(&completions).take(200) {
        assert_eq!(when, at(5 * index));
    }
}
