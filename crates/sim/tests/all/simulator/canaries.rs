// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Policies that are broken on purpose: each checker must catch its canary, or the harness is
//! broken. Every canary runs under the checkers of the policy that it imitates.

use std::collections::{BTreeMap, VecDeque};

use tidegate_model::{Class, Intensity, Plan, PolicyName, Request, RequestId, Time, Workload};
use tidegate_policy::{Decision, Dqf, Event, Fifo, Full, Noop, Policy, Tag};
use tidegate_sim::checkers::Breach;

use super::common::{
    self, OneAtATime, TIMES_MS, assert_found, assert_only, load, plan, task, workload,
};

const BATCH_MAX: u32 = 3;
const FILL: u32 = 2;
const BEST_EFFORT_DEPTH: u32 = 2;

/// The policies that send real time in rounds.
const IN_ROUNDS: [PolicyName; 3] =
    [PolicyName::RtioDrain, PolicyName::RtioLimit, PolicyName::RtioPriority];

fn busy_workload() -> Workload {
    let tasks = (0..5).map(|_| task("task", 60)).collect();
    workload(&TIMES_MS, tasks, vec![load("backup", Intensity::Outstanding(6))])
}

/// Returns the plan of the checkers.
fn canary_plan() -> Plan {
    let best_effort_depth = BEST_EFFORT_DEPTH;
    Plan { best_effort_depth, ..plan(&busy_workload(), BATCH_MAX, FILL) }
}

/// Returns the breaches that the checkers of `name` find in `canary`.
fn breaches_of(name: PolicyName, canary: impl Policy) -> Vec<Breach> {
    common::breaches_of(&busy_workload(), (name, &canary_plan()), canary, 20)
}

fn dqf() -> Dqf {
    Dqf::new(BATCH_MAX, FILL, 1_000)
}

/// Returns the policy with this name.
fn built(name: PolicyName) -> Box<dyn Policy> {
    tidegate_policy::build(name, &canary_plan(), None).unwrap()
}

#[test]
fn sound_policies_are_not_accused() {
    assert_eq!(breaches_of(PolicyName::Dqf, dqf()), []);
    assert_eq!(breaches_of(PolicyName::Fifo, OneAtATime::new(VecDeque::pop_front)), []);
    let names = [
        PolicyName::Noop,
        PolicyName::Rtio,
        PolicyName::RtioDrain,
        PolicyName::RtioLimit,
        PolicyName::RtioPriority,
        PolicyName::Sstf,
        PolicyName::Scan,
        PolicyName::CLook,
    ];
    for name in names {
        assert_eq!(breaches_of(name, built(name)), [], "{name}");
    }
}

#[test]
fn policy_that_loses_a_request_is_caught() {
    let mut count = 0_u32;
    let canary = OneAtATime::new(|queue: &mut VecDeque<Request>| {
        count += 1;
        if count == 3 {
            queue.pop_front();
        }
        queue.pop_front()
    });
    let breaches = breaches_of(PolicyName::Fifo, canary);
    assert_found("lossy", &breaches, |breach| matches!(breach, Breach::NeverCompleted { .. }));
}

#[test]
fn policy_that_idles_with_work_queued_is_caught() {
    let canary = OneAtATime::new(
        |queue: &mut VecDeque<Request>| {
            if queue.len() > 7 { queue.pop_front() } else { None }
        },
    );
    let breaches = breaches_of(PolicyName::Fifo, canary);
    let idle = |breach: &Breach| matches!(breach, Breach::RoomUnused { in_flight_count: 0, .. });
    assert_found("lazy", &breaches, idle);
}

#[test]
fn noop_that_leaves_room_on_the_drive_is_caught() {
    let breaches = breaches_of(PolicyName::Noop, Noop::new(3, 1_000));
    let unused = |breach: &Breach| matches!(breach, Breach::RoomUnused { in_flight_count: 3, .. });
    assert_only("noop", &breaches, unused);
}

/// The drive accepts one request more than the plan.
#[test]
fn drive_filled_beyond_the_planned_depth_is_caught() {
    let plan = Plan { depth: 3, ..canary_plan() };
    let found =
        common::breaches_of(&busy_workload(), (PolicyName::Noop, &plan), Noop::new(4, 1_000), 20);
    let too_many = Breach::TooManyInFlight { in_flight_count: 4, in_flight_max: 3 };
    assert_only("noop", &found, |breach| *breach == too_many);
}

#[test]
fn policy_that_serves_the_youngest_first_is_caught() {
    let names = [
        PolicyName::Noop,
        PolicyName::Fifo,
        PolicyName::Dqf,
        PolicyName::Rtio,
        PolicyName::RtioLimit,
        PolicyName::RtioPriority,
        // These policies claim the order of release for best effort only.
        PolicyName::Edf,
        PolicyName::ScanEdf,
        PolicyName::GroupEdf,
        PolicyName::DqEdf,
    ];
    for name in names {
        let breaches = breaches_of(name, OneAtATime::new(VecDeque::pop_back));
        assert_found(name, &breaches, |breach| matches!(breach, Breach::Overtaken { .. }));
    }
}

#[test]
fn batch_larger_than_planned_is_caught() {
    // The broken policy sends z + 1 real-time requests, or beta + 1 requests with best effort.
    for (batch_max, fill, expected) in
        [(BATCH_MAX + 1, FILL, (4, 3)), (BATCH_MAX, FILL + 1, (3, 2))]
    {
        let breaches = breaches_of(PolicyName::Dqf, Dqf::new(batch_max, fill, 1_000));
        let too_large = |breach: &Breach| match *breach {
            Breach::BatchTooLarge { requests, batch_max, .. } => (requests, batch_max) == expected,
            _ => false,
        };
        assert_only(format!("{batch_max}, {fill}"), &breaches, too_large);
    }
}

#[test]
fn dispatch_to_a_busy_drive_is_caught() {
    for name in [PolicyName::Dqf, PolicyName::Fifo] {
        let breaches = breaches_of(name, Noop::new(4, 1_000));
        assert_found(name, &breaches, |breach| {
            matches!(breach, Breach::DispatchedWhileBusy { .. })
        });
    }
}

fn is_joined(breach: &Breach) -> bool {
    matches!(breach, Breach::RealTimeJoined { .. })
}

fn is_overtaking(breach: &Breach) -> bool {
    matches!(breach, Breach::ClassOvertook { .. })
}

fn has_wrong_tag(breach: &Breach) -> bool {
    matches!(breach, Breach::WrongTag { .. })
}

/// `rtio` and `rtio-priority` send while real-time requests are on the drive; `rtio-priority` sends
/// best effort even while others wait.
#[test]
fn dispatch_beside_a_real_time_request_is_caught() {
    for name in [PolicyName::RtioDrain, PolicyName::RtioLimit] {
        assert_only(name, &breaches_of(name, built(PolicyName::Rtio)), is_joined);
        let breaches = breaches_of(name, built(PolicyName::RtioPriority));
        assert_found(name, &breaches, is_joined);
        assert_found(name, &breaches, has_wrong_tag);
        assert_only(name, &breaches, |it| is_joined(it) || is_overtaking(it) || has_wrong_tag(it));
    }
}

/// `rtio` neither waits for the round to end nor uses the drive's priority; `rtio-priority` uses
/// the priority that `rtio` does not claim.
#[test]
fn real_time_at_once_and_without_priority_is_caught() {
    let name = PolicyName::RtioPriority;
    let breaches = breaches_of(name, built(PolicyName::Rtio));
    assert_found(name, &breaches, is_joined);
    assert_found(name, &breaches, has_wrong_tag);
    assert_only(name, &breaches, |breach| is_joined(breach) || has_wrong_tag(breach));
    let name = PolicyName::Rtio;
    assert_found(name, &breaches_of(name, built(PolicyName::RtioPriority)), has_wrong_tag);
}

/// Holds real-time requests back: `admit` gives the number that `inner` gets, from the numbers of
/// real-time requests and of all requests on the drive. While `inner` gets none of them, nothing is
/// sent.
struct HoldingBack<F> {
    inner: Box<dyn Policy>,
    held: VecDeque<Request>,
    classes: BTreeMap<RequestId, Class>,
    in_flight: Vec<RequestId>,
    is_in_round: bool,
    admit: F,
}

impl<F: Fn(usize, usize) -> usize> HoldingBack<F> {
    fn new(inner: Box<dyn Policy>, admit: F) -> Self {
        let (held, classes, in_flight) = Default::default();
        Self { inner, held, classes, in_flight, is_in_round: false, admit }
    }

    fn admitted(&self) -> usize {
        let is_real_time = |id: &&RequestId| self.classes[*id] != Class::BestEffort;
        let real_time = self.in_flight.iter().filter(is_real_time).count();
        (self.admit)(real_time, self.in_flight.len()).min(self.held.len())
    }
}

impl<F: Fn(usize, usize) -> usize> Policy for HoldingBack<F> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                self.classes.insert(request.id, request.class);
                if request.class != Class::BestEffort {
                    self.held.push_back(request);
                    return Ok(());
                }
            }
            Event::Complete { id, .. } => self.in_flight.retain(|&other| other != id),
            _ => {}
        }
        self.inner.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        if !self.is_in_round && !self.held.is_empty() {
            let admitted = self.admitted();
            if admitted == 0 {
                return Decision::AwaitEvent;
            }
            for request in self.held.drain(..admitted) {
                self.inner.observe(now, Event::Release(request)).unwrap();
            }
        }
        let decision = self.inner.decide(now);
        self.is_in_round = match decision {
            Decision::Dispatch { id, .. } => {
                self.in_flight.push(id);
                true
            }
            _ => false,
        };
        decision
    }
}

/// A round of one request leaves others behind, and best effort then overtakes these.
#[test]
fn round_that_leaves_real_time_behind_is_caught() {
    let cut = |breach: &Breach| matches!(breach, Breach::RoundCut { .. });
    for name in IN_ROUNDS {
        let one_a_round = |real_time, _| usize::from(real_time == 0);
        let breaches = breaches_of(name, HoldingBack::new(built(name), one_a_round));
        assert_found(name, &breaches, cut);
        assert_only(name, &breaches, |breach| cut(breach) || is_overtaking(breach));
        let after_best_effort = |_, all| if all == 0 { usize::MAX } else { 0 };
        let breaches = breaches_of(name, HoldingBack::new(built(name), after_best_effort));
        assert_only(name, &breaches, cut);
    }
}

#[test]
fn best_effort_one_deeper_than_planned_is_caught() {
    let deeper = Plan { best_effort_depth: BEST_EFFORT_DEPTH + 1, ..canary_plan() };
    for name in IN_ROUNDS.into_iter().chain([PolicyName::Rtio]) {
        let canary = tidegate_policy::build(name, &deeper, None).unwrap();
        assert_only(name, &breaches_of(name, canary), |breach| {
            matches!(breach, Breach::BestEffortTooDeep { best_effort_count: 3, depth_max: 2 })
        });
    }
}

#[test]
fn other_order_by_position_is_caught() {
    let names = [PolicyName::Sstf, PolicyName::Scan, PolicyName::CLook];
    let out_of_position = |breach: &Breach| matches!(breach, Breach::OutOfPosition { .. });
    for name in names {
        for other in names.into_iter().chain([PolicyName::Fifo]).filter(|&other| other != name) {
            let case = format!("{other} as {name}");
            assert_only(case, &breaches_of(name, built(other)), out_of_position);
        }
    }
}

/// FIFO sends best effort while a waiting request needs the drive.
#[test]
fn policy_without_a_fallback_is_caught() {
    let breaches = breaches_of(PolicyName::Das, Fifo::new(1_000));
    assert_found("fifo", &breaches, |breach| matches!(breach, Breach::FallbackBroken { .. }));
}

/// A policy that dispatches the first request that it saw again and again.
#[derive(Default)]
struct Repeating {
    first: Option<RequestId>,
}

impl Policy for Repeating {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        if let Event::Release(request) = event {
            self.first.get_or_insert(request.id);
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        let id = self.first.expect("asked after a release");
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

/// The host itself stops a policy that dispatches a request twice.
#[test]
#[should_panic(expected = "dispatched twice")]
fn policy_that_sends_a_request_twice_is_stopped() {
    breaches_of(PolicyName::Fifo, Repeating::default());
}
