// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No response in the simulator exceeds a bound: the policies' own code runs on drives that keep
//! their batch table, with random workloads and every checker.
//!
//! The searches of `adversary` are exhaustive in small systems; this test reaches larger systems
//! but not the worst case. It runs the policies themselves, so it finds errors in a policy as well
//! as in a bound.

mod ceilings;
mod host_time;
mod host_time_searches;

use std::collections::VecDeque;

use tidegate_analysis::assess;
use tidegate_drive::PseudoDisk;
use tidegate_model::{
    Arrivals, BatchChoice, BatchTable, Duration, PolicyName, RequestId, Workload,
};
use tidegate_policy::{Decision, Event, Full, Policy, Tag};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{Length, SimRun};
use tidegate_soundness::generate;
use tidegate_soundness::trial::{self, Closeness, Trial};
use tidegate_soundness::workloads::{self, Load};

const SEED: u64 = 20_261_122;
const JOBS: u64 = 60;

fn trial(number: u64, name: PolicyName, load: Load) -> Trial {
    let random = &mut generate::generator(SEED + load as u64, number);
    let workload = workloads::workload(random, name, load);
    let releases = workloads::releases(random, &workload);
    Trial::new(number, name, workload, releases, JOBS)
}

fn assert_sound(name: PolicyName, load: Load, numbers: std::ops::Range<u64>) {
    let mut closeness = Closeness::default();
    for number in numbers {
        let trial = trial(number, name, load);
        let (run, ()) = trial.checked_run(trial.drive(), ());
        closeness.note(&trial, &run);
    }
    closeness.conclude(&format!("{name}, best effort {load:?}"), 1);
}

#[test]
fn no_response_under_dqf_exceeds_a_bound() {
    for load in Load::ALL {
        assert_sound(PolicyName::Dqf, load, 0..700);
    }
}

#[test]
fn no_response_under_fifo_exceeds_the_bound() {
    for load in Load::ALL {
        assert_sound(PolicyName::Fifo, load, 0..500);
    }
}

/// Goal: the simulator can reach the bound of Theorem 2, so a lower bound would fail. Method: for
/// every subset of the tasks, this subset is released first and the other tasks 1 ns after its
/// dispatch. The drive completes the last request of the second batch at the latest time.
#[test]
fn theorem_2_is_reached_to_the_nanosecond() {
    let mut reached = 0;
    for number in 0..400 {
        let mut trial = trial(number, PolicyName::Dqf, Load::None);
        trial.workload.tasks.truncate(6);
        trial.workload.batch = BatchChoice::Fixed(trial.workload.depth);
        trial.releases = Arrivals::Periodic;
        trial.assess_anew();
        if !is_within_one_batch_and_period(&trial) {
            continue;
        }
        let bound = trial.assessment.tasks.iter().filter_map(|task| task.bounds.tight).max();
        let count = trial.workload.tasks.len();
        let longest =
            (0_u32..1 << count).filter_map(|part| longest_if_first(&mut trial, part)).max();
        let missing = bound.zip(longest).and_then(|(bound, longest)| bound.checked_sub(longest));
        assert!(missing <= Some(Duration::from_ns(1)) && missing.is_some(), "number {number}");
        reached += 1;
    }
    println!("Theorem 2 reached in {reached} systems");
    assert!(reached >= 50, "only {reached} systems were of the kind");
}

/// Returns whether E <= z, and every task's bound by Theorem 2 is shorter than its period.
fn is_within_one_batch_and_period(trial: &Trial) -> bool {
    let tasks = &trial.workload.tasks;
    let within = |(bound, period): (Option<Duration>, Duration)| bound.is_some_and(|b| b < period);
    let bounds = trial.assessment.tasks.iter().map(|task| task.bounds.tight);
    tasks.iter().map(|task| task.requests).sum::<u32>() <= trial.workload.depth
        && bounds.zip(tasks.iter().map(|task| task.period)).all(within)
}

/// Returns the longest response of any task if the tasks in `part` are released first.
fn longest_if_first(trial: &mut Trial, part: u32) -> Option<Duration> {
    for (task, parameters) in trial.workload.tasks.iter_mut().enumerate() {
        parameters.offset = Duration::from_ns(u64::from(part & (1 << task) == 0));
    }
    trial.length = Length::Jobs(1);
    let run = trial.run(trial.policy(), trial.pseudo_disk(), &mut ());
    run.metrics.tasks().iter().filter_map(|task| task.responses.max()).max()
}

fn assert_caught(what: &str, load: Load, run: impl Fn(&mut Trial) -> SimRun) {
    trial::assert_caught(what, (0..400).map(|number| trial(number, PolicyName::Dqf, load)), run);
}

/// Canary: a bound that is a tenth too low is caught.
#[test]
fn an_optimistic_bound_is_caught() {
    assert_caught("a bound a tenth too low", Load::None, |trial| {
        trial.lower_bounds();
        trial.checked_run(trial.drive(), ()).0
    });
}

/// Canary: a bound for a batch that best effort does not enlarge is caught.
#[test]
fn a_bound_without_the_best_effort_aboard_is_caught() {
    for load in [Load::Outstanding, Load::Streams] {
        assert_caught(&format!("a bound without best effort, {load:?}"), load, |trial| {
            let alone = Workload { best_effort: Vec::new(), ..trial.workload.clone() };
            let batch = BatchChoice::Fixed(trial.assessment.batch_max);
            let alone = Workload { batch, ..alone };
            trial.assessment.tasks = assess(&alone, PolicyName::Dqf).tasks;
            trial.checked_run(trial.drive(), ()).0
        });
    }
}

/// Canary: a drive that takes a tenth longer than its table says is caught.
#[test]
fn a_drive_slower_than_its_table_is_caught() {
    assert_caught("a slow drive", Load::None, |trial| {
        let table = &trial.workload.table;
        let slower = |requests| Duration::from_ns(table.time_max(requests).ns() / 10 * 11);
        let times: Vec<Duration> = (1..=table.batch_max()).map(slower).collect();
        let table = BatchTable::new(&times).expect("no entry is zero");
        let drive = PseudoDisk::new(trial.workload.depth, table, trial.number);
        trial.run(trial.policy(), drive, &mut Checkers::default())
    });
}

/// Canary: requests are dispatched whenever there is room, so the batch in flight never ends.
#[test]
fn a_policy_that_does_not_wait_for_an_idle_drive_is_caught() {
    assert_caught("no dual queue", Load::Outstanding, |trial| {
        let policy = tidegate_policy::build(PolicyName::Noop, &trial.plan, None).unwrap();
        trial.run(policy, trial.drive(), &mut Checkers::default())
    });
}

/// Canary: a policy that serves the youngest request first (dual-queue LIFO) is caught.
#[test]
fn a_policy_that_serves_the_youngest_first_is_caught() {
    assert_caught("youngest first", Load::None, |trial| {
        let policy = YoungestFirst { batch_max: trial.plan.batch_max, ..YoungestFirst::default() };
        trial.run(policy, trial.drive(), &mut Checkers::default())
    });
}

/// Sends batches of the youngest requests to an idle drive.
#[derive(Debug, Default)]
struct YoungestFirst {
    queue: VecDeque<RequestId>,
    batch_max: u32,
    in_flight_count: u32,
    is_forming: bool,
}

impl Policy for YoungestFirst {
    fn observe(&mut self, _now: tidegate_model::Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.queue.push_front(request.id),
            Event::Complete { .. } => self.in_flight_count -= 1,
            _ => {}
        }
        Ok(())
    }

    fn decide(&mut self, _now: tidegate_model::Time) -> Decision {
        self.is_forming |= self.in_flight_count == 0;
        let has_room = self.is_forming && self.in_flight_count < self.batch_max;
        if has_room && let Some(id) = self.queue.pop_front() {
            self.in_flight_count += 1;
            return Decision::Dispatch { id, tag: Tag::Simple };
        }
        self.is_forming = false;
        Decision::AwaitEvent
    }
}
