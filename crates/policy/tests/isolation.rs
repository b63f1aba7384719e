// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tokens-per-task`, `depth-limit` and `dqf-elastic` hold the right requests back until the
//! right instant, also across a new plan. Method: driven by hand; the regulators wrap `fifo` or
//! `noop`, which dispatch every request that reaches them.

mod common;

use std::num::NonZeroU32;

use common::{at, complete, request, round};
use tidegate_model::{
    BatchTable, Bytes, Class, Duration, Plan, PolicyName, RegulatorName, Request, RequestId, Task,
    TaskIndex, Time, Workload,
};
use tidegate_policy::{Decision, DepthLimit, DqfElastic, Event, Full, Noop, Policy, TokensPerTask};

/// Returns a task of e requests every p ms, with deadline p.
fn task(requests: u32, period_ms: u64) -> Task {
    Task { requests, ..Task::periodic("task", Duration::from_ms(period_ms), Bytes::from_kib(128)) }
}

/// Returns a plan for a drive of depth 64 with a table of 64.
fn plan(tasks: &[Task]) -> Plan {
    let times: Vec<Duration> = (1..=64).map(|n| Duration::from_ms(10 + n)).collect();
    let workload = Workload::new("test", 64, BatchTable::new(&times).unwrap());
    Plan { tasks: tasks.to_vec(), ..Plan::of(&workload) }
}

/// Returns tokens before a policy that dispatches immediately.
fn tokens(tasks: &[Task]) -> TokensPerTask<Noop> {
    TokensPerTask::new(Noop::new(64, 100), &plan(tasks))
}

fn of_task(task: u32, id: u64, released: Time) -> Request {
    let due = Some(released + Duration::from_ms(100));
    let hard = request(id, Class::Hard);
    Request { task: TaskIndex(task), released, eligible: released, due, ..hard }
}

fn release(policy: &mut impl Policy, now: Time, task: u32, ids: impl IntoIterator<Item = u64>) {
    for id in ids {
        policy.observe(now, Event::Release(of_task(task, id, now))).unwrap();
    }
}

#[test]
fn request_within_its_contract_is_eligible_at_once() {
    let mut policy = tokens(&[task(2, 100)]);
    release(&mut policy, at(0), 0, [1, 2]);
    assert_eq!(round(&mut policy, at(0)), [1, 2]);
    release(&mut policy, at(100), 0, [3, 4]);
    assert_eq!(round(&mut policy, at(100)), [3, 4]);
}

/// Goal: excess requests wait for the exact instants at which tokens return, one by one. Method:
/// two tokens, taken at 0 and at 30; five requests.
#[test]
fn excess_waits_until_a_token_returns() {
    let mut policy = tokens(&[task(2, 100)]);
    release(&mut policy, at(0), 0, [1]);
    assert_eq!(round(&mut policy, at(0)), [1]);
    release(&mut policy, at(30), 0, [2, 3, 4, 5]);
    assert_eq!(round(&mut policy, at(30)), [2]);
    for (now, next, sent) in [(100, 130, 3), (130, 200, 4), (200, 230, 5)] {
        assert_eq!(policy.decide(at(now - 1)), Decision::NotBefore(at(now)));
        assert_eq!(round(&mut policy, at(now)), [sent]);
        let rest = if sent == 5 { Decision::AwaitEvent } else { Decision::NotBefore(at(next)) };
        assert_eq!(policy.decide(at(now)), rest);
    }
}

/// The completion of its request does not return a token.
#[test]
fn completion_returns_no_token() {
    let mut policy = tokens(&[task(1, 100)]);
    release(&mut policy, at(0), 0, [1, 2]);
    assert_eq!(round(&mut policy, at(0)), [1]);
    complete(&mut policy, at(10), [1]);
    assert_eq!(policy.decide(at(10)), Decision::NotBefore(at(100)));
}

#[test]
fn flood_of_one_task_holds_up_no_other() {
    let mut policy = tokens(&[task(1, 100), task(1, 100)]);
    release(&mut policy, at(0), 0, 1..=50);
    release(&mut policy, at(0), 1, [51]);
    assert_eq!(round(&mut policy, at(0)), [1, 51]);
}

/// Goal: requests of several tasks reach the policy in the order of eligibility. Method: the tokens
/// of the younger task return first; a late host sees both at once.
#[test]
fn requests_become_known_in_the_order_of_eligibility() {
    let mut policy = tokens(&[task(1, 100), task(1, 70)]);
    release(&mut policy, at(0), 0, [1, 2]);
    release(&mut policy, at(0), 1, [3, 4]);
    assert_eq!(round(&mut policy, at(0)), [1, 3]);
    assert_eq!(round(&mut policy, at(150)), [4, 2]);
}

/// As above, with a request that arrives late and was released in between.
#[test]
fn late_release_stands_where_its_eligibility_puts_it() {
    let mut policy = tokens(&[task(1, 100), task(1, 70), task(1, 50)]);
    release(&mut policy, at(0), 0, [1, 2]);
    release(&mut policy, at(0), 1, [3, 4]);
    assert_eq!(round(&mut policy, at(0)), [1, 3]);
    policy.observe(at(150), Event::Release(of_task(2, 5, at(90)))).unwrap();
    assert_eq!(round(&mut policy, at(150)), [4, 5, 2]);
}

/// A host that was late once does not delay a strictly periodic task for ever.
#[test]
fn late_host_costs_a_periodic_task_nothing_later() {
    let mut policy = tokens(&[task(1, 100)]);
    policy.observe(at(7), Event::Release(of_task(0, 1, at(0)))).unwrap();
    assert_eq!(round(&mut policy, at(7)), [1]);
    release(&mut policy, at(100), 0, [2]);
    assert_eq!(round(&mut policy, at(100)), [2]);
}

/// Goal: the wrapped policy sees the eligibility, and a deadline that counts from it.
#[test]
fn due_of_a_request_that_waited_counts_from_eligibility() {
    let watched = Watched::default();
    let log = watched.0.clone();
    let mut policy = TokensPerTask::new(watched, &plan(&[task(1, 100)]));
    release(&mut policy, at(0), 0, [1]);
    release(&mut policy, at(20), 0, [2]);
    policy.decide(at(100));
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
    let tasks = [task(1, 100), task(1, 100)];
    let plan = Plan { queued_max: 2, ..plan(&tasks) };
    let mut policy = TokensPerTask::new(Noop::new(64, 100), &plan);
    release(&mut policy, at(0), 0, [1, 2, 3]);
    let refused = policy.observe(at(0), Event::Release(of_task(0, 4, at(0))));
    assert_eq!(refused, Err(Full));
    release(&mut policy, at(0), 1, [5]);
    assert_eq!(round(&mut policy, at(0)), [1, 5]);
    assert_eq!(round(&mut policy, at(100)), [2]);
    release(&mut policy, at(100), 0, [4]);
}

/// Goal: if the wrapped policy has no room, neither a request nor a token is lost, and refused
/// requests do not arrive as a burst later. Method: room for one; three requests of a contract of
/// two.
#[test]
fn request_that_the_policy_has_no_room_for_waits_for_room() {
    let mut policy = TokensPerTask::new(Noop::new(1, 1), &plan(&[task(2, 100)]));
    release(&mut policy, at(0), 0, [1, 2, 3]);
    assert_eq!(round(&mut policy, at(0)), [1]);
    complete(&mut policy, at(40), [1]);
    // Request 2 had room at 0, when 1 left; request 3 has no token before 100.
    assert_eq!(round(&mut policy, at(40)), [2]);
    complete(&mut policy, at(60), [2]);
    assert_eq!(policy.decide(at(60)), Decision::NotBefore(at(100)));
    assert_eq!(round(&mut policy, at(100)), [3]);
}

/// A refused request takes its token when it is accepted, not before.
#[test]
fn token_of_a_refused_request_is_taken_when_it_is_accepted() {
    let mut policy = TokensPerTask::new(Noop::new(1, 1), &plan(&[task(1, 100), task(1, 100)]));
    release(&mut policy, at(0), 0, [1]);
    assert_eq!(round(&mut policy, at(0)), [1]);
    release(&mut policy, at(10), 1, [2]);
    // There is no room for the next request of task 0, which has a token from 100 on.
    release(&mut policy, at(110), 0, [3, 4]);
    assert_eq!(round(&mut policy, at(110)), []);
    complete(&mut policy, at(150), [1]);
    assert_eq!(round(&mut policy, at(150)), [2]);
    complete(&mut policy, at(160), [2]);
    assert_eq!(round(&mut policy, at(160)), [3]);
    complete(&mut policy, at(170), [3]);
    assert_eq!(policy.decide(at(170)), Decision::NotBefore(at(250)));
}

#[test]
fn best_effort_passes() {
    let mut policy = tokens(&[task(1, 100)]);
    common::release(&mut policy, at(0), Class::BestEffort, 1..=5);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3, 4, 5]);
}

/// A task outside the plan has no contract: it passes as best effort.
#[test]
fn task_without_a_contract_passes_as_best_effort() {
    let watched = Watched::default();
    let log = watched.0.clone();
    let mut policy = TokensPerTask::new(watched, &plan(&[task(1, 100)]));
    release(&mut policy, at(0), 7, [1]);
    let seen = log.borrow()[0];
    assert_eq!((seen.class, seen.due), (Class::BestEffort, None));
}

#[test]
fn cancelled_request_takes_no_token() {
    let mut policy = tokens(&[task(1, 100)]);
    release(&mut policy, at(0), 0, [1, 2, 3]);
    assert_eq!(round(&mut policy, at(0)), [1]);
    policy.observe(at(1), Event::Cancel(RequestId(2))).unwrap();
    policy.observe(at(1), Event::Cancel(RequestId(99))).unwrap();
    assert_eq!(round(&mut policy, at(100)), [3]);
}

/// Goal: a new plan loses nothing, and no taken token returns earlier. Method: one token taken at 0
/// for 100 ms; then contracts of 20 ms, of 300 ms, of three tokens, and none.
#[test]
fn token_returns_no_earlier_than_under_the_contract_it_was_taken_under() {
    let cases = [
        (vec![task(1, 20)], Decision::NotBefore(at(100))),
        (vec![task(1, 300)], Decision::NotBefore(at(300))),
        (
            vec![task(2, 100)],
            Decision::Dispatch { id: RequestId(2), tag: tidegate_model::Tag::Simple },
        ),
        (vec![], Decision::Dispatch { id: RequestId(2), tag: tidegate_model::Tag::Simple }),
    ];
    for (tasks, expected) in cases {
        let mut policy = tokens(&[task(1, 100)]);
        release(&mut policy, at(0), 0, [1, 2]);
        assert_eq!(round(&mut policy, at(0)), [1]);
        let plan = Plan { queued_max: 100, ..plan(&tasks) };
        policy.observe(at(10), Event::Reconfigure(Box::new(plan))).unwrap();
        assert_eq!(policy.decide(at(10)), expected, "{tasks:?}");
    }
}

/// From three tokens to one: no request is eligible until all but the last token have returned.
#[test]
fn fewer_tokens_wait_for_those_that_are_out() {
    let mut policy = tokens(&[task(3, 100)]);
    for (now, id) in [(0, 1), (10, 2), (20, 3)] {
        release(&mut policy, at(now), 0, [id]);
        assert_eq!(round(&mut policy, at(now)), [id]);
    }
    release(&mut policy, at(30), 0, [4]);
    let plan = Plan { queued_max: 100, ..plan(&[task(1, 100)]) };
    policy.observe(at(30), Event::Reconfigure(Box::new(plan))).unwrap();
    assert_eq!(policy.decide(at(30)), Decision::NotBefore(at(120)));
    assert_eq!(round(&mut policy, at(120)), [4]);
}

/// Returns a plan with a limit of two requests on the drive.
fn limited() -> Plan {
    let mut plan = plan(&[task(1, 100)]);
    plan.parameters.depth_limit.in_flight_max = NonZeroU32::new(2);
    plan.regulators = vec![RegulatorName::DepthLimit];
    plan
}

#[test]
fn no_policy_exceeds_the_depth_limit() {
    for name in tidegate_policy::available(&limited()) {
        let plan = Plan { best_effort_fill: 2, ..limited() };
        let mut policy = tidegate_policy::build(name, &plan, None).unwrap();
        for id in 1..=9 {
            policy.observe(at(0), Event::Release(of_task(0, id, at(0)))).unwrap();
        }
        let sent = round(&mut policy, at(0));
        assert!(!sent.is_empty() && sent.len() <= 2, "{name} sends {sent:?}");
    }
}

#[test]
fn depth_limit_survives_a_new_plan() {
    let mut policy = DepthLimit::new(Noop::new(64, 100), &limited());
    release(&mut policy, at(0), 0, 1..=9);
    policy.observe(at(0), Event::Reconfigure(Box::new(limited()))).unwrap();
    assert_eq!(round(&mut policy, at(0)), [1, 2]);
}

/// Returns `dqf-elastic` with z = 2 for four tasks of one request, with a table of 64.
fn elastic() -> DqfElastic {
    let tasks = [task(1, 100), task(1, 100), task(1, 100), task(1, 100)];
    DqfElastic::new(&Plan { batch_max: 2, queued_max: 100, ..plan(&tasks) })
}

#[test]
fn batches_stay_within_z_while_contracts_hold() {
    let mut policy = elastic();
    release(&mut policy, at(0), 0, 1..=4);
    assert_eq!(round(&mut policy, at(0)), [1, 2]);
    release(&mut policy, at(1), 0, [5, 6]);
    complete(&mut policy, at(2), [1, 2]);
    assert_eq!(round(&mut policy, at(2)), [3, 4]);
}

/// Five requests are queued where the contracts allow four: all of them are sent, and then z holds
/// again.
#[test]
fn overload_is_sent_at_once_and_then_z_holds_again() {
    let mut policy = elastic();
    release(&mut policy, at(0), 0, 1..=5);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3, 4, 5]);
    release(&mut policy, at(1), 0, 6..=8);
    complete(&mut policy, at(2), 1..=5);
    assert_eq!(round(&mut policy, at(2)), [6, 7]);
}

/// An overload larger than the table lasts until a batch takes the last of it, although fewer than
/// four are left by then.
#[test]
fn overload_lasts_until_its_backlog_is_gone() {
    let mut policy = elastic();
    release(&mut policy, at(0), 0, 1..=67);
    assert_eq!(round(&mut policy, at(0)).len(), 64);
    complete(&mut policy, at(2), 1..=64);
    assert_eq!(round(&mut policy, at(2)), [65, 66, 67]);
}

#[test]
fn names_and_builders_agree() {
    let plan = plan(&[task(1, 100)]);
    for name in [
        PolicyName::DqfElastic,
        PolicyName::Deadline,
        PolicyName::Cfq,
        PolicyName::CfqGrouped,
        PolicyName::MqDeadline,
        PolicyName::BfqStrict,
    ] {
        assert!(tidegate_policy::available(&plan).contains(&name), "{name}");
    }
}
