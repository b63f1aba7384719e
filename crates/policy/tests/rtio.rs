// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the RTIO policies send the right requests at the right instants with the right tags.
//! Method: driven by hand.

mod common;

use common::{at, complete, release, request, round};
use tidegate_model::parameters::PriorityTag;
use tidegate_model::{BatchTable, Class, Duration, Plan, RequestId, Tag, Workload};
use tidegate_policy::{Decision, Event, Full, Policy, Rtio};

const HARD: Class = Class::Hard;
const BEST_EFFORT: Class = Class::BestEffort;

/// Returns a plan for a drive of depth K = `depth` with best effort up to `best_effort_depth`.
fn plan(depth: u32, best_effort_depth: u32) -> Plan {
    let table = BatchTable::new(&[Duration::from_ms(1)]).unwrap();
    Plan { best_effort_depth, ..Plan::of(&Workload::new("test", depth, table)) }
}

/// Returns all dispatches of one round, with their tags.
fn tagged_round(policy: &mut Rtio) -> Vec<(u64, Tag)> {
    let mut batch = Vec::new();
    while let Decision::Dispatch { id, tag } = policy.decide(at(0)) {
        batch.push((id.0, tag));
    }
    batch
}

/// Returns the three rules under this plan.
fn all_of(plan: &Plan) -> [Rtio; 3] {
    [Rtio::at_once(plan), Rtio::draining(plan), Rtio::by_priority(plan)]
}

#[test]
fn classes_go_by_priority_and_first_in_first_out_inside_a_class() {
    for mut policy in all_of(&plan(8, 2)) {
        release(&mut policy, at(0), BEST_EFFORT, [1, 2, 3]);
        release(&mut policy, at(0), Class::Interactive, [4]);
        release(&mut policy, at(0), Class::Soft, [5]);
        release(&mut policy, at(0), HARD, [6, 7]);
        assert_eq!(round(&mut policy, at(0)), [6, 7, 5, 4, 1, 2]);
    }
}

#[test]
fn best_effort_is_never_deeper_than_its_limit_and_nothing_deeper_than_the_drive() {
    for mut policy in all_of(&plan(4, 3)) {
        release(&mut policy, at(0), BEST_EFFORT, 1..=9);
        assert_eq!(round(&mut policy, at(0)), [1, 2, 3]);
        complete(&mut policy, at(1), [2]);
        assert_eq!(round(&mut policy, at(1)), [4]);
        release(&mut policy, at(2), HARD, [11, 12]);
        assert_eq!(round(&mut policy, at(2)), [11]);
    }
}

/// Goal: under `rtio` a real-time request waits for no other, and best effort continues beside it.
#[test]
fn rtio_sends_real_time_at_once_and_goes_on() {
    let mut policy = Rtio::at_once(&plan(8, 2));
    release(&mut policy, at(0), BEST_EFFORT, 101..=109);
    release(&mut policy, at(0), HARD, [1]);
    assert_eq!(round(&mut policy, at(0)), [1, 101, 102]);
    release(&mut policy, at(1), HARD, [2]);
    assert_eq!(round(&mut policy, at(1)), [2]);
    complete(&mut policy, at(2), [101]);
    assert_eq!(round(&mut policy, at(2)), [103]);
}

/// Goal: nothing follows a real-time request to the drive, not even another real-time request.
/// Method: a late real-time request and best effort wait until the first completes; best effort
/// that is still on the drive delays neither.
#[test]
fn draining_sends_nothing_until_the_real_time_request_is_back() {
    let mut policy = Rtio::draining(&plan(8, 3));
    release(&mut policy, at(0), BEST_EFFORT, 101..=109);
    assert_eq!(round(&mut policy, at(0)), [101, 102, 103]);
    release(&mut policy, at(1), HARD, [1]);
    assert_eq!(round(&mut policy, at(1)), [1]);
    release(&mut policy, at(2), HARD, [2, 3]);
    complete(&mut policy, at(2), [101]);
    assert_eq!(round(&mut policy, at(2)), []);
    complete(&mut policy, at(3), [1]);
    assert_eq!(round(&mut policy, at(3)), [2, 3, 104]);
    complete(&mut policy, at(4), [102, 103, 104, 2]);
    assert_eq!(round(&mut policy, at(4)), []);
    complete(&mut policy, at(5), [3]);
    assert_eq!(round(&mut policy, at(5)), [105, 106, 107]);
}

/// Goal: a round too large for the drive is sent as far as it fits, and the rest waits until that
/// part completes.
#[test]
fn draining_sends_the_rest_of_a_large_round_in_the_next() {
    let mut policy = Rtio::draining(&plan(3, 2));
    release(&mut policy, at(0), BEST_EFFORT, [101, 102]);
    assert_eq!(round(&mut policy, at(0)), [101, 102]);
    release(&mut policy, at(1), HARD, [1, 2]);
    assert_eq!(round(&mut policy, at(1)), [1]);
    complete(&mut policy, at(2), [101, 102]);
    assert_eq!(round(&mut policy, at(2)), []);
    complete(&mut policy, at(3), [1]);
    assert_eq!(round(&mut policy, at(3)), [2]);
}

/// Goal: priority requests are sent in rounds, so the drive never holds two rounds of them, while
/// best effort is sent without a tag.
#[test]
fn priority_is_for_one_round_of_real_time_and_best_effort_flows() {
    let mut policy = Rtio::by_priority(&plan(8, 2));
    release(&mut policy, at(0), BEST_EFFORT, 101..=109);
    release(&mut policy, at(0), HARD, [1, 2]);
    let [high, low] = [Tag::Priority, Tag::Simple];
    assert_eq!(tagged_round(&mut policy), [(1, high), (2, high), (101, low), (102, low)]);
    release(&mut policy, at(1), HARD, [3]);
    complete(&mut policy, at(1), [1, 101]);
    assert_eq!(tagged_round(&mut policy), [(103, low)]);
    complete(&mut policy, at(2), [2]);
    assert_eq!(tagged_round(&mut policy), [(3, high)]);
}

#[test]
fn the_mark_may_be_the_head_of_the_queue() {
    let mut plan = plan(8, 2);
    plan.parameters.rtio_priority.tag = PriorityTag::HeadOfQueue;
    let mut policy = Rtio::by_priority(&plan);
    release(&mut policy, at(0), HARD, [1]);
    assert_eq!(tagged_round(&mut policy), [(1, Tag::HeadOfQueue)]);
}

#[test]
fn without_priority_nothing_carries_a_mark() {
    let plan = plan(8, 2);
    for mut policy in [Rtio::at_once(&plan), Rtio::draining(&plan)] {
        release(&mut policy, at(0), HARD, [1]);
        assert_eq!(tagged_round(&mut policy), [(1, Tag::Simple)]);
    }
}

/// Goal: a cancelled request is not sent, a notice changes nothing, and a request on the drive
/// cannot be recalled.
#[test]
fn cancelled_requests_are_not_sent() {
    for mut policy in all_of(&plan(8, 8)) {
        release(&mut policy, at(0), HARD, [1, 2]);
        release(&mut policy, at(0), BEST_EFFORT, [101, 102]);
        for id in [2, 101, 77] {
            policy.observe(at(0), Event::Cancel(RequestId(id))).unwrap();
        }
        assert_eq!(round(&mut policy, at(0)), [1, 102]);
        let (task, kind) =
            (tidegate_model::TaskIndex(0), tidegate_policy::NoticeKind::DeadlineMissed);
        policy.observe(at(1), Event::Notice { task, kind }).unwrap();
        policy.observe(at(1), Event::Cancel(RequestId(1))).unwrap();
        complete(&mut policy, at(2), [1, 102]);
        assert_eq!(round(&mut policy, at(2)), []);
    }
}

#[test]
fn each_class_has_room_of_its_own() {
    for mut policy in all_of(&Plan { queued_max: 1, ..plan(8, 0) }) {
        release(&mut policy, at(0), BEST_EFFORT, [101]);
        let flood = Event::Release(request(102, BEST_EFFORT));
        assert_eq!(policy.observe(at(0), flood), Err(Full));
        release(&mut policy, at(0), HARD, [1]);
        assert_eq!(policy.observe(at(0), Event::Release(request(2, HARD))), Err(Full));
        assert_eq!(round(&mut policy, at(0)), [1]);
    }
}

/// Goal: a new plan loses nothing and applies to the next dispatch, even if more is on the drive
/// than it allows.
#[test]
fn a_new_plan_holds_from_the_next_request_on() {
    for mut policy in all_of(&plan(8, 4)) {
        release(&mut policy, at(0), BEST_EFFORT, 101..=109);
        assert_eq!(round(&mut policy, at(0)), [101, 102, 103, 104]);
        let smaller = Event::Reconfigure(Box::new(plan(8, 1)));
        policy.observe(at(1), smaller).unwrap();
        complete(&mut policy, at(2), [101, 102, 103]);
        assert_eq!(round(&mut policy, at(2)), []);
        complete(&mut policy, at(3), [104]);
        assert_eq!(round(&mut policy, at(3)), [105]);
        policy.observe(at(4), Event::Reconfigure(Box::new(plan(2, 8)))).unwrap();
        assert_eq!(round(&mut policy, at(4)), [106]);
    }
}

#[test]
fn a_new_plan_may_change_the_mark() {
    let mut policy = Rtio::by_priority(&plan(8, 2));
    let mut changed = plan(8, 2);
    changed.parameters.rtio_priority.tag = PriorityTag::HeadOfQueue;
    policy.observe(at(0), Event::Reconfigure(Box::new(changed))).unwrap();
    release(&mut policy, at(0), HARD, [1]);
    assert_eq!(tagged_round(&mut policy), [(1, Tag::HeadOfQueue)]);
}

#[test]
#[should_panic(expected = "not in flight")]
fn a_completion_out_of_nothing_is_a_broken_host() {
    complete(&mut Rtio::draining(&plan(1, 1)), at(0), [1]);
}
