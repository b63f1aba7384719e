// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tasks and loads with a limit on jobs in progress: when they release, and what a soft task
//! reports. The drive takes 10 ms for a request, one at a time, unless a test says otherwise.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_drive::{BatchTimes, Mix, SpacedDrive};
use tidegate_model::{
    Bandwidth, BatchTable, BestEffort, Class, Duration, Intensity, Request, Task, TaskIndex, Time,
    Workload,
};
use tidegate_policy::{Decision, Event, Fifo, Full, NoticeKind, Policy};
use tidegate_sim::{Length, Observer, SimParams, simulate};

use super::common::{self, SIZE, load};

fn task(period_ms: u64, outstanding_max: Option<u32>) -> Task {
    Task { outstanding_max, class: Class::Soft, ..common::task("task", period_ms) }
}

fn workload(tasks: Vec<Task>, best_effort: Vec<BestEffort>) -> Workload {
    let table = BatchTable::new(&[Duration::from_ms(100)]).unwrap();
    Workload { tasks, best_effort, ..Workload::new("slow once", 1, table) }
}

/// The times of the requests in order, in milliseconds; the last one holds for all later requests.
#[derive(Debug)]
struct Times(RefCell<Vec<u64>>);

impl BatchTimes for Times {
    fn batch_max(&self) -> u32 {
        1
    }
    fn batch_time(&self, _mix: Mix, _draw: u64) -> Duration {
        let mut times = self.0.borrow_mut();
        let first = times[0];
        if times.len() > 1 {
            times.remove(0);
        }
        Duration::from_ms(first)
    }
}

#[derive(Default)]
struct Releases(Vec<(u32, u64)>);

impl Observer for Releases {
    fn released(&mut self, now: Time, request: &Request) {
        assert_eq!(request.released, now, "a request is released when the program asks");
        self.0.push((request.task.0, now.ns() / 1_000_000));
    }
}

type Notices = Rc<RefCell<Vec<(TaskIndex, NoticeKind, u64)>>>;

/// A policy that serves one request at a time and records the notices.
struct Listening(Fifo, Notices);

impl Policy for Listening {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        if let Event::Notice { task, kind } = event {
            self.1.borrow_mut().push((task, kind, now.ns() / 1_000_000));
        }
        self.0.observe(now, event)
    }
    fn decide(&mut self, now: Time) -> Decision {
        self.0.decide(now)
    }
}

/// Runs `jobs` jobs on a drive with these times; returns the releases and the notices.
fn run(workload: &Workload, times: &[u64], jobs: u64) -> (Vec<u64>, Vec<(NoticeKind, u64)>) {
    let drive = SpacedDrive::with_times(1, Times(RefCell::new(times.to_vec())), 1);
    let notices = Notices::default();
    let policy = Listening(Fifo::new(100), Rc::clone(&notices));
    let mut releases = Releases::default();
    let params = SimParams::new(workload, Length::Jobs(jobs));
    simulate(&params, policy, drive, &mut releases);
    let notices = notices.borrow().iter().map(|&(_, kind, at)| (kind, at)).collect();
    (releases.0.into_iter().map(|(_, at)| at).collect(), notices)
}

#[test]
fn a_task_that_is_never_at_its_limit_is_periodic() {
    for outstanding_max in [None, Some(1), Some(3)] {
        let workload = workload(vec![task(20, outstanding_max)], vec![]);
        let (releases, notices) = run(&workload, &[10], 5);
        assert_eq!(releases, [0, 20, 40, 60, 80]);
        assert_eq!(notices, [(NoticeKind::StreamEnded, 90)]);
    }
}

/// Job 0 takes 75 ms; jobs 1 and 2 would start at 20 and 40. With one buffer job 1 waits until 75.
/// Its scheduled release has moved to 55 by then, one period behind, and the task catches up this
/// much.
#[test]
fn one_buffer_catches_up_one_job() {
    let workload = workload(vec![task(20, Some(1))], vec![]);
    let (releases, notices) = run(&workload, &[75, 10], 6);
    assert_eq!(releases, [0, 75, 85, 95, 115, 135]);
    let expected = [(NoticeKind::DeadlineMissed, 75), (NoticeKind::StreamEnded, 145)];
    assert_eq!(notices, expected);
}

/// Goal: the end of a stream is reported, although one of its jobs waits when the stream stops.
/// Method: job 1 waits from 20 to 75 ms, and the stream stops in between.
#[test]
fn a_stream_that_stops_while_a_job_waits_has_ended() {
    let stop = Some(Duration::from_ms(70));
    for outstanding_max in [Some(1), Some(2)] {
        let workload = workload(vec![Task { stop, ..task(20, outstanding_max) }], vec![]);
        let (releases, notices) = run(&workload, &[75, 10], 100);
        let jobs = outstanding_max.map_or(0, |jobs| jobs as usize);
        assert_eq!(releases, [0, 20][..jobs]);
        let end = if jobs == 1 { 75 } else { 85 };
        assert_eq!(notices.last(), Some(&(NoticeKind::StreamEnded, end)), "{notices:?}");
    }
}

/// With two buffers, job 1 is released in time and misses its deadline. Job 2 waits from 40 to 75,
/// 35 ms behind and within two periods, so the task catches up completely.
#[test]
fn two_buffers_catch_up_two_jobs() {
    let workload = workload(vec![task(20, Some(2))], vec![]);
    let (releases, _) = run(&workload, &[75, 10], 7);
    assert_eq!(releases, [0, 20, 75, 85, 95, 105, 120]);
}

#[test]
fn without_a_limit_jobs_come_whatever_became_of_those_before() {
    let workload = workload(vec![task(20, None)], vec![]);
    let (releases, notices) = run(&workload, &[75, 10], 4);
    assert_eq!(releases, [0, 20, 40, 60]);
    let misses = notices.iter().filter(|(kind, _)| *kind == NoticeKind::DeadlineMissed);
    assert_eq!(misses.count(), 4);
}

#[test]
fn only_soft_tasks_report() {
    for class in [Class::Hard, Class::Interactive] {
        let workload = workload(vec![Task { class, ..task(20, None) }], vec![]);
        assert_eq!(run(&workload, &[75, 10], 4).1, []);
    }
}

/// 50 requests per second through two buffers on a drive that is slow at first.
#[test]
fn a_paced_load_waits_for_its_buffers() {
    let rate = Bandwidth::new(SIZE.get() * 50).unwrap();
    let load = load("paced", Intensity::Paced { rate, outstanding: 2 });
    let workload = workload(vec![], vec![load]);
    assert_eq!(run(&workload, &[75, 10], 7).0, [0, 20, 75, 85, 95, 105, 120]);
}

/// Goal: a run that is measured in jobs ends even if the drive is overloaded. Method: best effort
/// alone demands twice what the drive can serve, and each job of the task waits behind all of it.
#[test]
fn overloaded_run_of_a_task_with_a_buffer_comes_to_its_end() {
    let rate = Bandwidth::new(SIZE.get() * 200).unwrap();
    let flood = load("flood", Intensity::Rate(rate));
    let workload = workload(vec![task(20, Some(1))], vec![flood]);
    let (releases, _) = run(&workload, &[10], 100);
    // 100 periods of 20 ms, doubled: 800 best-effort requests, and the jobs.
    assert!(releases.len() <= 801 + 100, "{}", releases.len());
}
