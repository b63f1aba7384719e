// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requests that sources release, and their times.

use tidegate_model::{
    Arrivals, Bandwidth, Bytes, Class, Duration, Intensity, Op, Place, PolicyName, Task, Time,
};
use tidegate_sim::{Length, SimParams};

use super::common::{Seen, TIMES_MS, at, load, ms, plan, record, record_dqf, task, workload};

fn gaps(releases: &[Time]) -> Vec<Duration> {
    releases.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn periodic_task_releases_once_per_period_from_its_offset() {
    let late = Task { offset: ms(13), ..task("a", 40) };
    let workload = workload(&TIMES_MS, vec![late], Vec::new());
    let (_, recorder) = record_dqf(&workload, &plan(&workload, 1, 0), 4);
    assert_eq!(recorder.releases(0), [at(13), at(53), at(93), at(133)]);
}

#[test]
fn sporadic_task_keeps_its_period_and_adds_a_random_time() {
    let arrivals = Arrivals::Sporadic { extra_max: Duration::from_ns(9) };
    let tasks = ["a", "b"].map(|name| Task { arrivals, ..task(name, 40) });
    let workload = workload(&TIMES_MS, tasks.into(), Vec::new());
    let releases = |seed| {
        let params = SimParams { seed, ..SimParams::new(&workload, Length::Jobs(1_000)) };
        let (_, recorder) = record(&params, PolicyName::Dqf, &plan(&workload, 4, 0));
        [recorder.releases(0), recorder.releases(1)]
    };
    let [a, b] = releases(1);
    assert_ne!(a, b, "each task has its own random numbers");
    assert_ne!(a, releases(2)[0]);
    let extra: Vec<u64> = gaps(&a).iter().map(|&gap| (gap - ms(40)).ns()).collect();
    for value in 0..=9 {
        assert!(extra.contains(&value), "{value} never comes up");
    }
    assert!(extra.iter().all(|&extra| extra <= 9));
}

#[test]
fn random_numbers_of_a_source_do_not_depend_on_the_others() {
    let starts = |with_load: bool| {
        let loads = if with_load { vec![load("x", Intensity::Outstanding(3))] } else { vec![] };
        let workload = workload(&TIMES_MS, vec![task("a", 100)], loads);
        let (_, recorder) = record_dqf(&workload, &plan(&workload, 4, 4), 20);
        let of_task = |(_, seen): (Time, Seen)| match seen {
            Seen::Released(request) if request.task.0 == 0 => Some(request.start),
            _ => None,
        };
        recorder.seen.into_iter().filter_map(of_task).collect::<Vec<_>>()
    };
    assert_eq!(starts(false), starts(true));
}

#[test]
fn requests_carry_what_their_source_says() {
    let soft = Task {
        class: Class::Soft,
        op: Op::Write,
        size: Bytes::from_kib(64),
        place: Place::Range { from_ppm: 500_000, to_ppm: 600_000 },
        deadline: ms(30),
        ..task("a", 100)
    };
    let workload = workload(&TIMES_MS, vec![soft], Vec::new());
    let params = SimParams {
        capacity: Bytes::from_kib(100_000),
        ..SimParams::new(&workload, Length::Jobs(50))
    };
    let (_, recorder) = record(&params, PolicyName::Dqf, &plan(&workload, 1, 0));
    for (now, seen) in recorder.seen {
        let Seen::Released(request) = seen else { continue };
        assert_eq!((request.released, request.eligible), (now, now));
        assert_eq!(request.due, Some(now + ms(30)));
        assert_eq!((request.class, request.op), (Class::Soft, Op::Write));
        let start = request.start.offset_bytes();
        assert_eq!(start % (64 << 10), 0);
        assert!((50_000 << 10..=60_000 << 10).contains(&start));
    }
}

#[test]
fn rate_is_a_gap_between_releases_and_never_none() {
    let quick = Intensity::Rate(Bandwidth::new(u64::MAX).unwrap());
    let tenth = Intensity::Rate(Bandwidth::new(40_960).unwrap());
    let loads = vec![load("tenth", tenth), load("quick", quick)];
    let workload = workload(&TIMES_MS, Vec::new(), loads);
    let params = SimParams::new(&workload, Length::Jobs(5));
    let (_, recorder) = record(&params, PolicyName::Noop, &plan(&workload, 4, 0));
    assert_eq!(gaps(&recorder.releases(0)), [ms(100); 4]);
    assert_eq!(gaps(&recorder.releases(1)), [Duration::from_ns(1); 4]);
}

#[test]
fn times_beyond_the_end_of_time_are_never_reached() {
    let endless = Task { period: Duration::MAX, deadline: Duration::MAX, ..task("a", 1) };
    let endless = Task { offset: ms(1), ..endless };
    let workload = workload(&TIMES_MS, vec![endless], Vec::new());
    let (run, recorder) = record_dqf(&workload, &plan(&workload, 1, 0), 1);
    assert!(matches!(recorder.seen[0].1, Seen::Released(request) if request.due.is_none()));
    assert_eq!(run.metrics.tasks()[0].misses, 0);
}
