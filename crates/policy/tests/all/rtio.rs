// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the RTIO policies send the right requests at the right instants with the right tags.
//! Method: driven by hand.

use crate::common::plain::{at, complete};
use crate::common::script::play;
use tidegate_model::parameters::PriorityTag;
use tidegate_model::{BatchTable, Duration, Plan, Tag, TaskIndex, Workload};
use tidegate_policy::{Decision, Event, NoticeKind, Policy, Rtio};

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

/// Plays a script under each of the three rules.
fn play_all(plan: &Plan, script: &str) {
    for mut policy in all_of(plan) {
        play(&mut policy, script);
    }
}

fn all_of(plan: &Plan) -> [Rtio; 3] {
    [Rtio::at_once(plan), Rtio::draining(plan), Rtio::by_priority(plan)]
}

#[test]
fn classes_go_by_priority_and_first_in_first_out_inside_a_class() {
    play_all(
        &plan(8, 2),
        "0: best-effort 1 2 3, interactive 4, soft 5, hard 6 7, sends 6 7 5 4 1 2",
    );
}

#[test]
fn best_effort_is_never_deeper_than_its_limit_and_nothing_deeper_than_the_drive() {
    play_all(
        &plan(4, 3),
        "0: best-effort 1..=9, sends 1 2 3
         1: done 2, sends 4
         2: hard 11 12, sends 11",
    );
}

/// Goal: under `rtio` a real-time request waits for no other, and best effort continues beside it.
#[test]
fn rtio_sends_real_time_at_once_and_goes_on() {
    play(
        &mut Rtio::at_once(&plan(8, 2)),
        "0: best-effort 101..=109, hard 1, sends 1 101 102
         1: hard 2, sends 2
         2: done 101, sends 103",
    );
}

/// Goal: nothing follows a real-time request to the drive, not even another real-time request.
/// Method: a late real-time request and best effort wait until the first completes; best effort
/// that is still on the drive delays neither.
#[test]
fn draining_sends_nothing_until_the_real_time_request_is_back() {
    play(
        &mut Rtio::draining(&plan(8, 3)),
        "0: best-effort 101..=109, sends 101 102 103
         1: hard 1, sends 1
         2: hard 2 3, done 101, sends nothing
         3: done 1, sends 2 3 104
         4: done 102 103 104 2, sends nothing
         5: done 3, sends 105 106 107",
    );
}

/// Goal: a round too large for the drive is sent as far as it fits, and the rest waits until that
/// part completes.
#[test]
fn draining_sends_the_rest_of_a_large_round_in_the_next() {
    play(
        &mut Rtio::draining(&plan(3, 2)),
        "0: best-effort 101 102, sends 101 102
         1: hard 1 2, sends 1
         2: done 101 102, sends nothing
         3: done 1, sends 2",
    );
}

/// Goal: priority requests are sent in rounds, so the drive never holds two rounds of them, while
/// best effort is sent without a tag.
#[test]
fn priority_is_for_one_round_of_real_time_and_best_effort_flows() {
    let mut policy = Rtio::by_priority(&plan(8, 2));
    let [high, low] = [Tag::Priority, Tag::Simple];
    play(&mut policy, "0: best-effort 101..=109, hard 1 2");
    assert_eq!(tagged_round(&mut policy), [(1, high), (2, high), (101, low), (102, low)]);
    play(&mut policy, "1: hard 3, done 1 101");
    assert_eq!(tagged_round(&mut policy), [(103, low)]);
    play(&mut policy, "2: done 2");
    assert_eq!(tagged_round(&mut policy), [(3, high)]);
}

#[test]
fn the_mark_may_be_the_head_of_the_queue_also_in_a_new_plan() {
    let mut changed = plan(8, 2);
    changed.parameters.rtio_priority.tag = PriorityTag::HeadOfQueue;
    let mut policy = Rtio::by_priority(&plan(8, 2));
    policy.observe(at(0), Event::Reconfigure(Box::new(changed.clone()))).unwrap();
    for mut policy in [Rtio::by_priority(&changed), policy] {
        play(&mut policy, "0: hard 1");
        assert_eq!(tagged_round(&mut policy), [(1, Tag::HeadOfQueue)]);
    }
}

#[test]
fn without_priority_nothing_carries_a_mark() {
    let plan = plan(8, 2);
    for mut policy in [Rtio::at_once(&plan), Rtio::draining(&plan)] {
        play(&mut policy, "0: hard 1");
        assert_eq!(tagged_round(&mut policy), [(1, Tag::Simple)]);
    }
}

/// Goal: a cancelled request is not sent, a notice changes nothing, and a request on the drive
/// cannot be recalled.
#[test]
fn cancelled_requests_are_not_sent() {
    for mut policy in all_of(&plan(8, 8)) {
        play(&mut policy, "0: hard 1 2, best-effort 101 102, cancel 2 101 77, sends 1 102");
        let (task, kind) = (TaskIndex(0), NoticeKind::DeadlineMissed);
        policy.observe(at(1), Event::Notice { task, kind }).unwrap();
        play(
            &mut policy,
            "1: cancel 1
             2: done 1 102, sends nothing",
        );
    }
}

#[test]
fn each_class_has_room_of_its_own() {
    play_all(
        &Plan { queued_max: 1, ..plan(8, 0) },
        "0: best-effort 101, refuses best-effort 102, hard 1, refuses hard 2, sends 1",
    );
}

/// Goal: a new plan loses nothing and applies to the next dispatch, even if more is on the drive
/// than it allows.
#[test]
fn a_new_plan_holds_from_the_next_request_on() {
    for mut policy in all_of(&plan(8, 4)) {
        play(&mut policy, "0: best-effort 101..=109, sends 101..=104");
        policy.observe(at(1), Event::Reconfigure(Box::new(plan(8, 1)))).unwrap();
        play(
            &mut policy,
            "2: done 101 102 103, sends nothing
             3: done 104, sends 105",
        );
        policy.observe(at(4), Event::Reconfigure(Box::new(plan(2, 8)))).unwrap();
        play(&mut policy, "4: sends 106");
    }
}

#[test]
#[should_panic(expected = "not in flight")]
fn a_completion_out_of_nothing_is_a_broken_host() {
    complete(&mut Rtio::draining(&plan(1, 1)), at(0), [1]);
}
