// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sources that start late or stop early, and streams of best effort.

use tidegate_model::{Arrivals, BestEffort, Duration, Intensity, PolicyName, Task, Time, Workload};
use tidegate_sim::{Length, SimParams};

use super::common::{TIMES_MS, at, load, ms, plan, record, task, workload};

/// Returns the instants at which each source releases a request, in a run of this length.
fn releases(workload: &Workload, length: Length) -> Vec<Vec<Time>> {
    let params = SimParams::new(workload, length);
    let (_, recorder) = record(&params, PolicyName::Dqf, &plan(workload, 4, 4));
    let sources = workload.tasks.len() + workload.best_effort.len();
    (0..u32::try_from(sources).unwrap()).map(|source| recorder.releases(source)).collect()
}

/// Goal: a source releases from `start` on, and not from `stop` on. Method: every kind of source.
#[test]
fn sources_start_late_and_stop_early() {
    let stop = Some(ms(500));
    let late = Task { offset: ms(200), stop, ..task("late", 100) };
    let stream = Intensity::Stream { period: ms(100), requests: 2, outstanding: None };
    let of = |name: &str, intensity| BestEffort { start: ms(200), stop, ..load(name, intensity) };
    let loads = vec![of("closed", Intensity::Outstanding(3)), of("stream", stream)];
    let workload = workload(&TIMES_MS, vec![late, task("always", 100)], loads);
    let all = releases(&workload, Length::Duration(Duration::from_ms(1_000)));
    assert_eq!(all[0], [at(200), at(300), at(400)]);
    assert_eq!(all[1].len(), 10);
    assert_eq!(all[2][..3], [at(200); 3], "three are outstanding from the start");
    assert!(all[2].len() > 20 && all[2].iter().all(|&it| it < at(500)), "{:?}", all[2]);
    assert_eq!(all[3], [200, 200, 300, 300, 400, 400].map(at));
}

/// Goal: a run in jobs ends when every task that has not stopped has released its jobs.
#[test]
fn a_task_that_stops_does_not_keep_a_run_from_ending() {
    let short = Task { stop: Some(ms(250)), ..task("short", 100) };
    let loads = vec![load("closed", Intensity::Outstanding(1))];
    let workload = workload(&TIMES_MS, vec![short, task("long", 100)], loads);
    let all = releases(&workload, Length::Jobs(6));
    assert_eq!((all[0].len(), all[1].len()), (3, 6));
    assert!(all[2].iter().all(|&it| it <= at(500)));
}

/// Goal: a stream with one job outstanding waits for it, as a task does. Method: a period shorter
/// than a job takes.
#[test]
fn a_stream_waits_for_its_own_jobs() {
    let stream = Intensity::Stream { period: ms(5), requests: 2, outstanding: Some(1) };
    let workload = workload(&TIMES_MS, Vec::new(), vec![load("stream", stream)]);
    let all = releases(&workload, Length::Duration(ms(100)));
    assert_eq!(all[0], [0, 0, 16, 16, 32, 32, 48, 48, 64, 64, 80, 80, 96, 96].map(at));
}

/// Returns a task without a period.
fn client(deadline: Duration, outstanding: u32) -> Task {
    let (period, arrivals) = (Task::PERIOD_NONE, Arrivals::OnCompletion);
    let outstanding_max = Some(outstanding);
    Task { period, arrivals, deadline, outstanding_max, ..task("client", 1) }
}

/// Goal: a task without a period releases its next job when the previous one completes. Method:
/// releases of one task alone, and two tasks together, whose deadline is then too short.
#[test]
fn a_task_without_a_period_asks_again_when_it_has_the_answer() {
    let client = client(ms(12), 1);
    let workload = workload(&TIMES_MS, vec![client.clone()], Vec::new());
    let all = releases(&workload, Length::Jobs(4));
    assert_eq!(all[0], [0, 10, 20, 30].map(at));
    let two = Workload { tasks: vec![client.clone(), client], ..workload };
    let params = SimParams::new(&two, Length::Jobs(4));
    let (run, _) = record(&params, PolicyName::Dqf, &plan(&two, 1, 0));
    assert!(run.metrics.tasks().iter().all(|task| task.misses > 0));
}

/// Goal: all jobs that a task without a period may have outstanding are released together, and in a
/// run that is measured in jobs best effort lasts until its end.
#[test]
fn a_task_without_a_period_fills_its_buffers_at_once() {
    let loads = vec![load("closed", Intensity::Outstanding(1))];
    let workload = workload(&TIMES_MS, vec![client(ms(500), 3)], loads);
    let all = releases(&workload, Length::Jobs(9));
    assert_eq!((all[0].len(), &all[0][..3]), (9, &[at(0); 3][..]));
    let (last, until) = (*all[0].last().unwrap(), *all[1].last().unwrap());
    assert!(until + ms(30) >= last, "{last:?} {until:?}");
}
