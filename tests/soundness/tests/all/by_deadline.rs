// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No response in the simulator exceeds its bound under a policy that serves by deadline: the
//! policies' own code runs on random workloads with deadlines shorter and longer than the periods,
//! with every checker.
//!
//! `soundness` does the same for release order. The searches of `dq_edf` are exhaustive in small
//! systems; this test reaches larger systems.

use std::cmp::Reverse;
use std::collections::VecDeque;

use tidegate_model::parameters::ScanEdfParameters;
use tidegate_model::{BestEffortOrder, Class, Plan, PolicyName, Request, Time};
use tidegate_policy::{Decision, Event, Full, Policy, Tag};
use tidegate_sim::SimRun;
use tidegate_sim::checkers::Checkers;
use tidegate_soundness::generate;
use tidegate_soundness::trial::{self, Closeness, Trial};
use tidegate_soundness::workloads::{self, Load};

const SEED: u64 = 20_261_222;
const JOBS: u64 = 40;

fn trial(number: u64, name: PolicyName, load: Load) -> Trial {
    let random = &mut generate::generator(SEED + load as u64, number);
    let mut workload = workloads::workload(random, name, load);
    workloads::give_random_deadlines(random, &mut workload);
    let releases = workloads::releases(random, &workload);
    Trial::new(number, name, workload, releases, JOBS)
}

/// Returns a trial with random windows of deadlines.
fn trial_in_windows(number: u64, load: Load) -> Trial {
    let random = &mut generate::generator(SEED + 16 + load as u64, number);
    let name = PolicyName::ScanEdf;
    let mut workload = workloads::workload(random, name, load);
    workloads::give_random_deadlines(random, &mut workload);
    workloads::give_random_windows(random, &mut workload);
    let releases = workloads::releases(random, &workload);
    Trial::new(number, name, workload, releases, JOBS)
}

/// Serves the earliest window first, and within it the latest deadline first.
#[derive(Debug)]
struct LatestOfWindow {
    queued: Vec<Request>,
    best_effort: VecDeque<Request>,
    windows: ScanEdfParameters,
    is_busy: bool,
}

impl LatestOfWindow {
    fn of(plan: &Plan) -> Self {
        let windows = plan.parameters.scan_edf;
        Self { queued: Vec::new(), best_effort: VecDeque::new(), windows, is_busy: false }
    }

    /// Returns the index of the next request.
    fn next(&self) -> Option<usize> {
        let place = |request: &Request| {
            let due = request.due.unwrap_or(Time::MAX);
            (self.windows.window_start(due), Reverse(due))
        };
        (0..self.queued.len()).min_by_key(|&index| place(&self.queued[index]))
    }
}

impl Policy for LatestOfWindow {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) if request.class == Class::BestEffort => {
                self.best_effort.push_back(request);
            }
            Event::Release(request) => self.queued.push(request),
            Event::Complete { .. } => self.is_busy = false,
            Event::Cancel(_) | Event::Notice { .. } | Event::Reconfigure(_) => {}
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        if self.is_busy {
            return Decision::AwaitEvent;
        }
        let next = match self.next() {
            Some(index) => Some(self.queued.swap_remove(index)),
            None => self.best_effort.pop_front(),
        };
        self.is_busy = next.is_some();
        next.map_or(Decision::AwaitEvent, |request| Decision::Dispatch {
            id: request.id,
            tag: Tag::Simple,
        })
    }
}

fn assert_sound(name: PolicyName) {
    let mut closeness = Closeness::default();
    for load in Load::ALL {
        for number in 0..260 {
            let trial = trial(number, name, load);
            let (run, ()) = trial.checked_run(trial.drive(), ());
            closeness.note(&trial, &run);
        }
    }
    closeness.conclude(name.name(), 500);
}

#[test]
fn no_response_under_edf_exceeds_the_bound() {
    assert_sound(PolicyName::Edf);
}

#[test]
fn no_response_under_scan_edf_exceeds_the_bound() {
    assert_sound(PolicyName::ScanEdf);
}

/// Runs two policies: within a window one serves requests in the order of their positions, and the
/// other the latest deadline first, which is hardest on the earliest deadlines.
#[test]
fn no_response_under_edf_in_windows_exceeds_the_bound() {
    for is_adversarial in [false, true] {
        let mut closeness = Closeness::default();
        for load in Load::ALL {
            for number in 0..260 {
                let mut trial = trial_in_windows(number, load);
                let (run, ()) = if is_adversarial {
                    trial.plan.best_effort_order = BestEffortOrder::Fifo;
                    trial.checked_run_of(LatestOfWindow::of(&trial.plan), trial.drive(), ())
                } else {
                    trial.checked_run(trial.drive(), ())
                };
                closeness.note(&trial, &run);
            }
        }
        closeness.conclude("edf in windows", 500);
    }
}

#[test]
fn no_response_under_dual_queue_edf_exceeds_the_bound() {
    assert_sound(PolicyName::DqEdf);
}

fn assert_caught(what: &str, name: PolicyName, run: impl Fn(&mut Trial) -> SimRun) {
    trial::assert_caught(what, (0..400).map(|number| trial(number, name, Load::None)), run);
}

#[test]
fn an_optimistic_bound_by_deadline_is_caught() {
    for name in [PolicyName::Edf, PolicyName::DqEdf] {
        assert_caught("a bound a tenth too low", name, |trial| {
            trial.lower_bounds();
            trial.checked_run(trial.drive(), ()).0
        });
    }
}

/// Canary: `g-edf`, which serves the requests of a group of near deadlines by size and position, is
/// caught.
#[test]
fn a_policy_that_looks_beyond_the_earliest_due_is_caught() {
    assert_caught("groups of near deadlines", PolicyName::Edf, |trial| {
        let policy = tidegate_policy::build(PolicyName::GroupEdf, &trial.plan, None).unwrap();
        trial.run(policy, trial.drive(), &mut Checkers::default())
    });
}
