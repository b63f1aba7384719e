// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the number of tasks that each bound admits for each z. Method: the dissertation's drive
//! and workload: Maxtor Atlas 10K V, 128 KiB reads, one request every 300 ms per task;
//! `docs/theory/dual-queue-fifo.md` section 7.

use tidegate_analysis::{Inapplicable, SporadicTask, System, Verdict, dqf, edf, fifo};
use tidegate_model::{BatchTable, Duration};

type Bound = fn(&System) -> Result<Vec<Verdict>, Inapplicable>;

/// b(i) by equation 7.4.1.7 with table 7.2: seek 8.44 and 2.85 ms, rotation 6 ms, transfer
/// 5.34 ms for 255 KiB, so 5.34 * 128 / 255 ms for 128 KiB, rounded up.
fn maxtor() -> BatchTable {
    let transfer_ns = (5_340_000_u64 * 128).div_ceil(255);
    let single_ns = 8_440_000 + 6_000_000 + transfer_ns;
    let batch_ns = |n: u64| 2 * (8_440_000 - 2_850_000) + n * (6_000_000 + transfer_ns + 2_850_000);
    let times: Vec<Duration> =
        (1..=64).map(|n| Duration::from_ns(if n == 1 { single_ns } else { batch_ns(n) })).collect();
    BatchTable::new(&times).unwrap()
}

fn cameras(count: usize, batch_max: u32, best_effort_fill: u32) -> System {
    let period = Duration::from_ms(300);
    let task = SporadicTask { period, requests: 1, deadline: period };
    System { tasks: vec![task; count].into(), table: maxtor(), batch_max, best_effort_fill }
}

/// Returns the bound in milliseconds to one decimal, as the literature prints it.
fn response_ms(bound: Bound, system: &System) -> String {
    let ns = bound(system).unwrap()[0].bound().unwrap().ns();
    format!("{}.{}", (ns + 50_000) / 1_000_000, (ns + 50_000) / 100_000 % 10)
}

fn admitted(bound: Bound, batch_max: u32) -> usize {
    let is_proven = |count: &usize| {
        bound(&cameras(*count, batch_max, 0)).is_ok_and(|verdicts| {
            let in_time = |verdict: &Verdict| {
                verdict.bound().is_some_and(|response| response <= Duration::from_ms(300))
            };
            verdicts.iter().all(in_time)
        })
    };
    (1..=32).take_while(is_proven).count()
}

/// z, then the number of tasks that the linear, the busy-interval, the minimum-period and this
/// project's bounds admit.
const ADMITTED: [[usize; 5]; 16] = [
    [1, 16, 16, 16, 17],
    [2, 14, 14, 15, 16],
    [3, 14, 15, 16, 17],
    [4, 13, 16, 16, 18],
    [5, 12, 15, 16, 18],
    [6, 11, 12, 16, 17],
    [7, 9, 14, 15, 18],
    [8, 8, 8, 15, 16],
    [10, 4, 10, 13, 17],
    [12, 1, 12, 12, 18],
    [14, 0, 0, 10, 19],
    [16, 0, 0, 8, 20],
    [18, 0, 0, 6, 21],
    [20, 0, 0, 4, 22],
    [22, 0, 0, 2, 23],
    [24, 0, 0, 0, 24],
];

#[test]
fn every_bound_admits_as_many_tasks_as_published() {
    for [z, linear, busy_interval, min_period, ours] in ADMITTED {
        let batch_max = u32::try_from(z).unwrap();
        assert_eq!(admitted(dqf::linear, batch_max), linear, "linear, z = {z}");
        assert_eq!(admitted(dqf::busy_interval, batch_max), busy_interval, "busy, z = {z}");
        assert_eq!(admitted(dqf::min_period, batch_max), min_period, "minimum period, z = {z}");
        let tight = admitted(dqf::tight, batch_max);
        println!(
            "z = {z:2}: linear {linear:2}, busy interval {busy_interval:2}, minimum period {min_period:2}, ours {tight:2}"
        );
        assert!(tight >= ours, "ours, z = {z}: {tight} instead of {ours}");
    }
}

#[test]
fn one_at_a_time_admits_seventeen() {
    assert_eq!(admitted(fifo::responses, 1), 17);
    assert_eq!(admitted(edf::responses, 1), 17);
}

#[test]
fn sixteen_tasks_respond_as_published() {
    assert_eq!(response_ms(dqf::linear, &cameras(16, 8, 0)), "400.8");
    assert_eq!(response_ms(dqf::busy_interval, &cameras(16, 8, 0)), "310.3");
    assert_eq!(response_ms(dqf::tight, &cameras(16, 8, 0)), "298.7");
    assert_eq!(response_ms(dqf::tight, &cameras(16, 16, 0)), "206.8");
}

#[test]
fn twenty_four_tasks_fit_and_z_no_longer_matters() {
    for z in 24..=64 {
        assert_eq!(response_ms(dqf::tight, &cameras(24, z, 0)), "299.1");
    }
    assert_eq!(admitted(dqf::tight, 64), 24);
}

/// Beside 16 tasks a batch may be filled up to 8: b(8) + b(16) = 299.1 ms
/// (`docs/theory/dual-queue-fifo.md` section 5).
#[test]
fn best_effort_fills_eight_beside_sixteen_tasks() {
    assert_eq!(response_ms(dqf::tight, &cameras(16, 64, 8)), "299.1");
    let nine = dqf::tight(&cameras(16, 64, 9)).unwrap()[0].bound().unwrap();
    assert!(nine > Duration::from_ms(300));
}

/// Behind a batch in flight that other tasks cut into, only whole jobs of the others, or a full
/// batch, can be on the drive: sums of 8 and 1, not every multiple of their common divisor.
#[test]
fn a_batch_in_flight_holds_whole_jobs_of_the_others_or_is_full() {
    let bound_ms = |requests: &[u32], task: usize, batch_max: u32| {
        let period = Duration::from_ms(2_000);
        let task_of = |&requests: &u32| SporadicTask { period, requests, deadline: period };
        let tasks: Vec<SporadicTask> = requests.iter().map(task_of).collect();
        let system =
            System { tasks: tasks.into(), table: maxtor(), batch_max, best_effort_fill: 0 };
        let ns = dqf::tight(&system).unwrap()[task].bound().unwrap().ns();
        format!("{}.{:02}", ns / 1_000_000, ns / 10_000 % 100)
    };
    for (requests, task, z, all_multiples, whole_jobs) in [
        (&[8, 1][..], 1, 8, "126.14", "120.54"),
        (&[16, 16, 16], 0, 33, "587.0", "575.8"),
        (&[5, 5, 1], 2, 8, "154.7", "149.1"),
    ] {
        let bound = bound_ms(requests, task, z);
        assert!(bound.starts_with(whole_jobs), "{requests:?}: {bound}, not {all_multiples}");
    }
}
