// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tokens-per-task`, `depth-limit` and `dqf-elastic` hold the right requests back until the
//! right instant, also across a new plan. Method: driven by hand; the regulators wrap `fifo` or
//! `noop`, which dispatch every request that reaches them.

use std::num::NonZeroU32;

use crate::common::plain::at;
use crate::common::script::{play, round};
use crate::common::task::task;
use tidegate_model::{
    BatchTable, Class, Duration, Plan, PolicyName, RegulatorName, Request, RequestId, Tag, Task,
    Time, Workload,
};
use tidegate_policy::{Decision, DepthLimit, DqfElastic, Event, Full, Noop, Policy, TokensPerTask};

/// Returns tasks of e requests every p ms, with deadline p.
fn tasks<const COUNT: usize>(contracts: [(u32, u64); COUNT]) -> [Task; COUNT] {
    contracts.map(|(requests, period_ms)| task(period_ms, period_ms, requests))
}

/// Returns a plan for a drive of depth 64 with a table of 64.
fn plan(tasks: &[Task]) -> Plan {
    let times: Vec<Duration> = (1..=64).map(|n| Duration::from_ms(10 + n)).collect();
    let workload = Workload::new("test", 64, BatchTable::new(&times).unwrap());
    Plan { tasks: tasks.to_vec(), ..Plan::of(&workload) }
}

/// Returns tokens for tasks of e requests every p ms, in front of a policy that takes `room`
/// requests and dispatches them immediately.
fn tokens<const COUNT: usize>(room: u32, contracts: [(u32, u64); COUNT]) -> TokensPerTask<Noop> {
    TokensPerTask::new(Noop::new(room.min(64), room), &plan(&tasks(contracts)))
}

#[test]
fn request_within_its_contract_is_eligible_at_once() {
    play(
        &mut tokens(100, [(2, 100)]),
        "0: hard 1 2 within 100, sends 1 2
         100: hard 3 4 within 100, sends 3 4",
    );
}

/// Goal: excess requests wait for the exact instants at which tokens return, one by one. Method:
/// two tokens, taken at 0 and at 30; five requests.
#[test]
fn excess_waits_until_a_token_returns() {
    play(
        &mut tokens(100, [(2, 100)]),
        "0: hard 1 within 100, sends 1
         30: hard 2..=5 within 100, sends 2
         99: not-before 100
         100: sends 3, not-before 130
         129: not-before 130
         130: sends 4, not-before 200
         199: not-before 200
         200: sends 5, awaits",
    );
}

/// A token does not return when its request completes.
#[test]
fn completion_returns_no_token() {
    play(
        &mut tokens(100, [(1, 100)]),
        "0: hard 1 2 within 100, sends 1
         10: done 1, not-before 100",
    );
}

#[test]
fn flood_of_one_task_holds_up_no_other() {
    play(
        &mut tokens(100, [(1, 100), (1, 100)]),
        "0: hard 1..=50 within 100, hard 51 of 1 within 100, sends 1 51",
    );
}

/// Goal: requests of several tasks reach the policy in the order of eligibility. Method: the tokens
/// of the younger task return first; a late host sees both at the same time.
#[test]
fn requests_become_known_in_the_order_of_eligibility() {
    play(
        &mut tokens(100, [(1, 100), (1, 70)]),
        "0: hard 1 2 within 100, hard 3 4 of 1 within 100, sends 1 3
         150: sends 4 2",
    );
}

/// Goal: a request that arrives late reaches the policy in the order of eligibility. Method: a
/// request that arrives at 150 but was released at 90 is eligible between two others.
#[test]
fn late_release_stands_where_its_eligibility_puts_it() {
    play(
        &mut tokens(100, [(1, 100), (1, 70), (1, 50)]),
        "0: hard 1 2 within 100, hard 3 4 of 1 within 100, sends 1 3
         150: hard 5 of 2 released 90 within 100, sends 4 5 2",
    );
}

/// A host that was late once does not delay a strictly periodic task forever.
#[test]
fn late_host_costs_a_periodic_task_nothing_later() {
    play(
        &mut tokens(100, [(1, 100)]),
        "7: hard 1 released 0 within 100, sends 1
         100: hard 2 within 100, sends 2",
    );
}

/// Goal: the wrapped policy sees the eligibility, and a deadline that counts from it.
#[test]
fn due_of_a_request_that_waited_counts_from_eligibility() {
    let watched = Watched::default();
    let log = watched.0.clone();
    let mut policy = TokensPerTask::new(watched, &plan(&tasks([(1, 100)])));
    play(
        &mut policy,
        "0: hard 1 within 100
         20: hard 2 within 100
         100: awaits",
    );
    let log = log.borrow();
    let told: Vec<_> = log.iter().map(|r| (r.id.0, r.released, r.eligible, r.due)).collect();
    let (first, second) = (at(100), at(200));
    assert_eq!(told, [(1, at(0), at(0), Some(first)), (2, at(20), at(100), Some(second))]);
}

/// Records the requests that a regulator hands over.
#[derive(Debug, Default)]
struct Watched(std::rc::Rc<std::cell::RefCell<Vec<Request>>>);

impl Policy for Watched {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        if let Event::Release(request) = event {
            self.0.borrow_mut().push(request);
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        Decision::AwaitEvent
    }
}

/// A full queue refuses only its own task.
#[test]
fn full_line_refuses_its_own_task_only() {
    let plan = Plan { queued_max: 2, ..plan(&tasks([(1, 100), (1, 100)])) };
    play(
        &mut TokensPerTask::new(Noop::new(64, 100), &plan),
        "0: hard 1 2 3 within 100, refuses hard 4 within 100, hard 5 of 1 within 100, sends 1 5
         100: sends 2, hard 4 within 100",
    );
}

/// Goal: if the wrapped policy has no room, neither a request nor a token is lost, and refused
/// requests do not arrive as a burst later. Method: room for one; three requests of a contract of
/// two.
#[test]
fn request_that_the_policy_has_no_room_for_waits_for_room() {
    play(
        &mut tokens(1, [(2, 100)]),
        "0: hard 1 2 3 within 100, sends 1
         40: done 1, sends 2    // it had room at 0, when 1 left
         60: done 2, not-before 100
         100: sends 3           // it has no token before",
    );
}

/// A refused request takes its token when it is accepted, not before.
#[test]
fn token_of_a_refused_request_is_taken_when_it_is_accepted() {
    play(
        &mut tokens(1, [(1, 100), (1, 100)]),
        // At 110 there is no room for the next request of task 0, which has a token from 100 on.
        "0: hard 1 within 100, sends 1
         10: hard 2 of 1 within 100
         110: hard 3 4 within 100, sends nothing
         150: done 1, sends 2
         160: done 2, sends 3
         170: done 3, not-before 250",
    );
}

#[test]
fn best_effort_passes() {
    play(&mut tokens(100, [(1, 100)]), "0: best-effort 1..=5, sends 1..=5");
}

/// A task outside the plan has no contract: it passes as best effort.
#[test]
fn task_without_a_contract_passes_as_best_effort() {
    let watched = Watched::default();
    let log = watched.0.clone();
    let mut policy = TokensPerTask::new(watched, &plan(&tasks([(1, 100)])));
    play(&mut policy, "0: hard 1 of 7 within 100");
    let seen = log.borrow()[0];
    assert_eq!((seen.class, seen.due), (Class::BestEffort, None));
}

#[test]
fn cancelled_request_takes_no_token() {
    play(
        &mut tokens(100, [(1, 100)]),
        "0: hard 1 2 3 within 100, sends 1
         1: cancel 2 99
         100: sends 3",
    );
}

/// Gives a policy a new plan with these tasks.
fn reconfigure(policy: &mut impl Policy, now_ms: u64, tasks: &[Task]) {
    let plan = Plan { queued_max: 100, ..plan(tasks) };
    policy.observe(at(now_ms), Event::Reconfigure(Box::new(plan))).unwrap();
}

/// Goal: a new plan loses nothing, and no taken token returns earlier. Method: one token taken at 0
/// for 100 ms; then contracts of 20 ms, of 300 ms, of three tokens, and none.
#[test]
fn token_returns_no_earlier_than_under_the_contract_it_was_taken_under() {
    let sent = Decision::Dispatch { id: RequestId(2), tag: Tag::Simple };
    for (tasks, expected) in [
        (tasks([(1, 20)]).to_vec(), Decision::NotBefore(at(100))),
        (tasks([(1, 300)]).to_vec(), Decision::NotBefore(at(300))),
        (tasks([(2, 100)]).to_vec(), sent),
        (vec![], sent),
    ] {
        let mut policy = tokens(100, [(1, 100)]);
        play(&mut policy, "0: hard 1 2 within 100, sends 1");
        reconfigure(&mut policy, 10, &tasks);
        assert_eq!(policy.decide(at(10)), expected, "{tasks:?}");
    }
}

/// From three tokens to one: no request is eligible until all but the last token have returned.
#[test]
fn fewer_tokens_wait_for_those_that_are_out() {
    let mut policy = tokens(100, [(3, 100)]);
    play(
        &mut policy,
        "0: hard 1 within 100, sends 1
         10: hard 2 within 100, sends 2
         20: hard 3 within 100, sends 3
         30: hard 4 within 100",
    );
    reconfigure(&mut policy, 30, &tasks([(1, 100)]));
    play(
        &mut policy,
        "30: not-before 120
         120: sends 4",
    );
}

/// Returns a plan with a limit of two requests on the drive.
fn limited() -> Plan {
    let mut plan = plan(&tasks([(1, 100)]));
    plan.parameters.depth_limit.in_flight_max = NonZeroU32::new(2);
    plan.regulators = vec![RegulatorName::DepthLimit];
    plan
}

#[test]
fn no_policy_exceeds_the_depth_limit() {
    for name in tidegate_policy::available(&limited()) {
        let plan = Plan { best_effort_fill: 2, ..limited() };
        let mut policy = tidegate_policy::build(name, &plan, None).unwrap();
        play(&mut policy, "0: hard 1..=9 within 100");
        let sent = round(&mut policy, at(0));
        assert!(!sent.is_empty() && sent.len() <= 2, "{name} sends {sent:?}");
    }
}

#[test]
fn depth_limit_survives_a_new_plan() {
    let mut policy = DepthLimit::new(Noop::new(64, 100), &limited());
    play(&mut policy, "0: hard 1..=9 within 100");
    policy.observe(at(0), Event::Reconfigure(Box::new(limited()))).unwrap();
    play(&mut policy, "0: sends 1 2");
}

/// Returns `dqf-elastic` with z = 2 for four tasks of one request, with a table of 64.
fn elastic() -> DqfElastic {
    let tasks = tasks([(1, 100); 4]);
    DqfElastic::new(&Plan { batch_max: 2, queued_max: 100, ..plan(&tasks) })
}

#[test]
fn batches_stay_within_z_while_contracts_hold() {
    play(
        &mut elastic(),
        "0: hard 1..=4 within 100, sends 1 2
         1: hard 5 6 within 100
         2: done 1 2, sends 3 4",
    );
}

/// Five requests are queued where the contracts allow four: all of them are sent, and then z holds
/// again.
#[test]
fn overload_is_sent_at_once_and_then_z_holds_again() {
    play(
        &mut elastic(),
        "0: hard 1..=5 within 100, sends 1..=5
         1: hard 6..=8 within 100
         2: done 1..=5, sends 6 7",
    );
}

/// An overload larger than the table lasts until a batch takes the last of it, although fewer than
/// four are left by then.
#[test]
fn overload_lasts_until_its_backlog_is_gone() {
    play(
        &mut elastic(),
        "0: hard 1..=67 within 100, sends 1..=64
         2: done 1..=64, sends 65 66 67",
    );
}

#[test]
fn names_and_builders_agree() {
    let plan = plan(&tasks([(1, 100)]));
    for name in [
        PolicyName::DqfElastic,
        PolicyName::Deadline,
        PolicyName::DeadlineDrain,
        PolicyName::Cfq,
        PolicyName::CfqGrouped,
        PolicyName::MqDeadline,
        PolicyName::BfqStrict,
    ] {
        assert!(tidegate_policy::available(&plan).contains(&name), "{name}");
    }
}
