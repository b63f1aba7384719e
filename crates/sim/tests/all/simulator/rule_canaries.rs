// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Canaries for the rules of draining policies and of the models of Linux schedulers: the checker
//! catches a policy that breaks the rule, and finds no violation of the policy itself in the same
//! scenario.

use tidegate_model::{Class, Intensity, Plan, PolicyName, Request, Time, Workload};
use tidegate_policy::{
    AdaptiveDrain, Decision, Event, Fifo, Full, GatedDrain, MqDeadline, Noop, Policy, RtioSlots,
};
use tidegate_sim::checkers::{AdaptiveGate, Breach};

use super::common::{
    self, TIMES_MS, assert_found, assert_only, at, load, ms, plan, request, sent_at, table, task,
    workload,
};

/// The drain times drain(q) in ms. If the drive holds fewer best-effort requests than it accepts,
/// the deadlines can be met.
const DRAIN_MS: [u64; 4] = [10, 20, 30, 40];

/// The models of Linux schedulers.
const LINUX: [PolicyName; 5] = [
    PolicyName::Deadline,
    PolicyName::MqDeadline,
    PolicyName::Cfq,
    PolicyName::CfqGrouped,
    PolicyName::BfqStrict,
];

fn drained_workload(tasks: usize) -> Workload {
    let tasks = (0..tasks).map(|_| task("task", 60)).collect();
    let mut workload = workload(&TIMES_MS, tasks, vec![load("backup", Intensity::Outstanding(6))]);
    workload.contracts.drain = Some(table(&DRAIN_MS));
    workload
}

/// Returns the breaches that the checkers of `name` find in a policy, which may follow another
/// plan.
fn breaches_of(workload: &Workload, name: PolicyName, policy: impl Policy) -> Vec<Breach> {
    common::breaches_of(workload, (name, &plan(workload, 4, 0)), policy, 40)
}

/// Makes the plan of a broken policy.
type BrokenPlan = fn(&Workload) -> Plan;

/// Returns a plan whose drive is assumed to drain in nearly no time.
fn optimist(workload: &Workload) -> Plan {
    let mut plan = plan(workload, 4, 0);
    plan.contracts.drain = Some(table(&[1, 1, 1, 1]));
    plan
}

/// Returns a plan that knows one task.
fn forgetful(workload: &Workload) -> Plan {
    Plan { tasks: vec![task("task", 60)], ..plan(workload, 4, 0) }
}

fn is_late(breach: &Breach) -> bool {
    matches!(breach, Breach::JoinedTooLate { .. })
}

fn is_overtaking(breach: &Breach) -> bool {
    matches!(breach, Breach::ClassOvertook { .. })
}

/// Policies that expect a faster drive, or reserve slots for fewer tasks, are caught.
#[test]
fn best_effort_past_the_latest_safe_instant_is_caught() {
    let cases: [(usize, PolicyName, BrokenPlan); 3] = [
        (1, PolicyName::AdaptiveDrain, optimist),
        (3, PolicyName::GatedDrain, optimist),
        (2, PolicyName::RtioSlots, forgetful),
    ];
    for (tasks, name, broken) in cases {
        let workload = drained_workload(tasks);
        let found = |plan: &Plan| {
            breaches_of(&workload, name, tidegate_policy::build(name, plan, None).unwrap())
        };
        assert_eq!(found(&plan(&workload, 4, 0)), [], "{name}");
        assert_only(name, &found(&broken(&workload)), is_late);
    }
}

/// Right after a job, `adaptive-drain` keeps more requests on the drive than it could while the
/// task may release: drain(4) is longer than the deadline, but the next deadline is a period
/// further away. The checker counts from the release that it saw.
#[test]
fn best_effort_may_use_the_time_until_the_next_release() {
    let mut workload = drained_workload(1);
    workload.tasks[0].deadline = ms(30);
    let policy = AdaptiveDrain::new(&plan(&workload, 4, 0));
    assert_eq!(breaches_of(&workload, PolicyName::AdaptiveDrain, policy), []);
    let mut slower = workload.clone();
    slower.tasks[0].period = ms(600);
    let policy = AdaptiveDrain::new(&plan(&slower, 4, 0));
    let breaches = breaches_of(&workload, PolicyName::AdaptiveDrain, policy);
    assert_found("slower", &breaches, is_late);
}

/// A stream without a period says nothing about the next release of the task.
#[test]
fn only_releases_of_the_task_give_best_effort_time() {
    let mut workload = drained_workload(1);
    workload.tasks[0].deadline = ms(30);
    let plan = plan(&workload, 4, 0);
    let batch: Vec<_> = (1..=4).map(|id| request(id, 9, Class::BestEffort)).collect();
    let after = |source, class| {
        sent_at(at(0), AdaptiveGate::new(&plan), &[request(0, source, class)], &batch)
    };
    assert_eq!(after(0, Class::Hard), []);
    assert_only("a stream", &after(1, Class::Soft), is_late);
}

/// Without tasks nothing is promised: a request that is alone on the drive may be late.
#[test]
fn late_request_alone_on_the_drive_breaks_no_rule() {
    let gate = || AdaptiveGate::new(&plan(&drained_workload(0), 4, 0));
    let late = |id| Request { due: Some(at(1)), ..request(id, 0, Class::Soft) };
    assert_eq!(sent_at(at(0), gate(), &[late(0)], &[late(0)]), []);
    assert_only("together", &sent_at(at(0), gate(), &[], &[late(0), late(1)]), is_late);
}

/// `gated-drain` with a plan of one task counts too few units for a workload of three tasks.
#[test]
fn gate_that_forgets_a_task_is_caught() {
    let three = drained_workload(3);
    let policy = GatedDrain::new(&forgetful(&three));
    let breaches = breaches_of(&three, PolicyName::GatedDrain, policy);
    assert_found("forgetful", &breaches, is_late);
}

/// A policy that sends nothing to an empty drive unless it is awake.
struct Sleepy<P> {
    inner: P,
    in_flight: usize,
    is_awake: bool,
}

impl<P: Policy> Policy for Sleepy<P> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Complete { .. } => self.in_flight -= 1,
            // Each release wakes the policy or puts it to sleep, in turn.
            Event::Release(_) => self.is_awake = !self.is_awake,
            _ => {}
        }
        self.inner.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.in_flight == 0 && !self.is_awake {
            return Decision::AwaitEvent;
        }
        let decision = self.inner.decide(now);
        if matches!(decision, Decision::Dispatch { .. }) {
            self.in_flight += 1;
        }
        decision
    }
}

fn sleepy<P>(inner: P) -> Sleepy<P> {
    Sleepy { inner, in_flight: 0, is_awake: true }
}

#[test]
fn empty_drive_beside_waiting_requests_is_caught() {
    let mut two = drained_workload(2);
    two.best_effort.clear();
    two.tasks[1].offset = ms(5);
    let plan = plan(&two, 4, 0);
    let idle = |breach: &Breach| matches!(breach, Breach::RoomUnused { in_flight_count: 0, .. });
    let caught = |name, policy: Box<dyn Policy>| {
        let found = breaches_of(&two, name, sleepy(policy));
        assert_found(name, &found, idle);
    };
    caught(PolicyName::AdaptiveDrain, Box::new(AdaptiveDrain::new(&plan)));
    caught(PolicyName::GatedDrain, Box::new(GatedDrain::new(&plan)));
    caught(PolicyName::RtioSlots, Box::new(RtioSlots::new(&plan)));
    caught(PolicyName::MqDeadline, Box::new(MqDeadline::new(4, 1_000)));
}

#[test]
fn best_effort_before_real_time_is_caught() {
    let workload = drained_workload(3);
    for name in [
        PolicyName::Rtio,
        PolicyName::RtioDrain,
        PolicyName::RtioLimit,
        PolicyName::RtioSlots,
        PolicyName::AdaptiveDrain,
        PolicyName::GatedDrain,
        PolicyName::CfqGrouped,
        PolicyName::BfqStrict,
        PolicyName::MqDeadline,
        PolicyName::MqDeadlineTuned,
        PolicyName::Cfq,
    ] {
        let breaches = breaches_of(&workload, name, Fifo::new(1_000));
        assert_found(name, &breaches, is_overtaking);
    }
}

/// FIFO serves units with different deadlines in the order of their release.
#[test]
fn units_out_of_the_order_of_their_deadlines_are_caught() {
    let mut workload = drained_workload(4);
    for (task, deadline) in workload.tasks.iter_mut().zip([60, 50, 40, 30]) {
        task.deadline = ms(deadline);
    }
    let breaches = breaches_of(&workload, PolicyName::GatedDrain, Fifo::new(1_000));
    let later = |breach: &Breach| matches!(breach, Breach::LaterDueFirst { .. });
    assert_found("fifo", &breaches, later);
}

/// `mq-deadline-tuned` is caught if it takes one request more from the scheduler, or has one more
/// on the drive, than the checker's plan allows.
#[test]
fn request_that_is_taken_too_early_is_caught() {
    let workload = drained_workload(3);
    let name = PolicyName::MqDeadlineTuned;
    let found = |change: fn(&mut Plan)| {
        let mut changed = plan(&workload, 4, 0);
        changed.best_effort_depth = 2;
        let kept = changed.clone();
        change(&mut changed);
        let policy = tidegate_policy::build(name, &changed, None).unwrap();
        common::breaches_of(&workload, (name, &kept), policy, 40)
    };
    assert_eq!(found(|_| {}), []);
    let early = found(|plan| plan.parameters.mq_deadline_tuned.taken_early += 1);
    assert_only(name, &early, is_overtaking);
    assert_ne!(found(|plan| plan.best_effort_depth += 1), []);
}

#[test]
fn linux_models_keep_their_rules_and_not_each_others() {
    let mut workload = drained_workload(3);
    workload.best_effort.push(load("scrub", Intensity::Outstanding(3)));
    let breaches = |name, policy: Box<dyn Policy>| breaches_of(&workload, name, policy);
    let built = |name| tidegate_policy::build(name, &plan(&workload, 4, 0), None).unwrap();
    for name in LINUX {
        assert_eq!(breaches(name, built(name)), [], "{name}");
        for other in LINUX.into_iter().filter(|&other| other != name) {
            assert_ne!(breaches(name, built(other)), [], "{other} as {name}");
        }
        assert_ne!(breaches(name, built(PolicyName::Noop)), [], "noop as {name}");
    }
}

/// `deadline-drain` is caught if its plan drains later than the checker's plan, and so is
/// `deadline`, which never drains.
#[test]
fn request_that_joins_an_overdue_one_is_caught() {
    let workload = drained_workload(3);
    let name = PolicyName::DeadlineDrain;
    let after = |drain_after| {
        let mut plan = plan(&workload, 4, 0);
        plan.parameters.deadline_drain.drain_after = ms(drain_after);
        plan
    };
    let found = |name, followed: &Plan| {
        let policy = tidegate_policy::build(name, followed, None).unwrap();
        common::breaches_of(&workload, (PolicyName::DeadlineDrain, &after(12)), policy, 40)
    };
    let joined = |breach: &Breach| matches!(breach, Breach::OverdueJoined { .. });
    assert_eq!(found(name, &after(12)), []);
    assert_only("later", &found(name, &after(20)), joined);
    assert_only("deadline", &found(PolicyName::Deadline, &after(12)), joined);
}

#[test]
fn requests_out_of_position_are_caught() {
    let workload = drained_workload(3);
    let out_of_place = |breach: &Breach| matches!(breach, Breach::OutOfPosition { .. });
    for name in LINUX {
        let breaches = breaches_of(&workload, name, Noop::new(4, 1_000));
        assert_found(name, &breaches, out_of_place);
    }
}
