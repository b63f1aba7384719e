// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the models of Linux schedulers follow their documented rules. Method: driven by hand.

use crate::common::plain::{at, complete};
use crate::common::script::{play, round};
use std::num::NonZeroU32;
use tidegate_model::parameters::{DeadlineDrainParameters, MqDeadlineParameters};
use tidegate_model::{BatchTable, Duration, Plan, Workload};
use tidegate_policy::{
    BfqStrict, Cfq, CfqGrouped, Deadline, DeadlineDrain, Event, MqDeadline, MqDeadlineTuned, Policy,
};

#[test]
fn deadline_sends_by_position_and_fills_the_drive() {
    play(
        &mut Deadline::new(3, 100),
        // The first batch begins at the lowest position, because nothing has been served yet.
        "0: hard 50 10 30 20, sends 10 20 30
         9: done 20, sends 50",
    );
}

/// Sixteen requests are a batch; the next batch begins with the read that waited 500 ms.
#[test]
fn deadline_begins_a_batch_with_what_expired() {
    play(
        &mut Deadline::new(100, 100),
        "0: hard 50, sends 50
         1: hard 10
         400: hard 90 100..=119
         501: sends 90 100..=113 10 114..=119",
    );
}

/// Reads are preferred twice, then writes are sent although reads wait: after two batches of
/// sixteen.
#[test]
fn deadline_lets_writes_starve_twice() {
    play(
        &mut Deadline::new(200, 200),
        "0: hard 100..=163, best-effort 1 2 writes, sends 100..=131 1 2 132..=163",
    );
}

#[test]
fn deadline_does_not_look_at_classes() {
    play(&mut Deadline::new(1, 100), "0: best-effort 10 of 1, hard 20, sends 10");
}

/// A request of 100 ms on the drive stops everything until it completes, whether or not the drive
/// has room; a younger one does not, and a new plan may shorten the time.
#[test]
fn deadline_drain_lets_nothing_join_a_request_that_is_overdue() {
    let after = |ms| DeadlineDrainParameters { drain_after: Duration::from_ms(ms) };
    let mut policy = DeadlineDrain::new(after(100), 3, 100);
    play(
        &mut policy,
        "0: hard 10 20, sends 10 20
         99: hard 30 40, sends 30
         100: done 20, sends nothing
         150: done 10, sends 40
         198: hard 50, sends 50
         199: done 40, sends nothing",
    );
    let table = BatchTable::new(&[Duration::from_ms(1)]).unwrap();
    let mut plan = Plan { depth: 3, ..Plan::of(&Workload::new("test", 3, table)) };
    plan.parameters.deadline_drain = after(20);
    policy.observe(at(200), Event::Reconfigure(Box::new(plan))).unwrap();
    play(
        &mut policy,
        "200: done 30, hard 60, sends 60
         218: hard 70, sends nothing
         219: done 50, sends 70",
    );
}

#[test]
fn mq_deadline_serves_the_highest_class() {
    play(
        &mut MqDeadline::new(1, 100),
        "0: best-effort 10 of 2, soft 20 of 1, hard 30, sends 30
         1: done 30, sends 20
         2: done 20, sends 10
         3: done 10",
    );
}

/// A request of the highest class on the drive keeps lower classes off it.
#[test]
fn mq_deadline_drains_the_drive_for_the_highest_class() {
    play(
        &mut MqDeadline::new(4, 100),
        "0: best-effort 10 20 40 of 1, hard 30, sends 30
         5: done 30, sends 10 20 40",
    );
}

#[test]
fn mq_deadline_serves_what_has_aged() {
    play(
        &mut MqDeadline::new(1, 100),
        "0: best-effort 10 of 1
         9_999: hard 30 40, sends 30
         10_000: done 30, sends 10",
    );
}

/// The next request of the lower class by position has not aged, so none of that class is sent,
/// although its oldest request has aged. Once the batch of sixteen has ended, the next batch begins
/// with that oldest request.
#[test]
fn mq_deadline_serves_nothing_younger_than_what_aged() {
    let mut policy = MqDeadline::new(1, 100);
    play(
        &mut policy,
        "0: best-effort 50 of 1, hard 100..=119
         9_000: best-effort 10 20 of 1
         9_500: sends 100, done 100",
    );
    for id in 101..116 {
        play(&mut policy, &format!("10_000: sends {id}, done {id}"));
    }
    // No request lies above 50: a batch would begin with 10, which arrived a second ago.
    play(&mut policy, "10_000: sends 50, done 50, sends 116");
}

/// A batch of writes that a low class began continues with the writes of a high class, before its
/// reads.
#[test]
fn mq_deadline_counts_one_batch_for_all_classes() {
    let mut policy = MqDeadline::new(1, 100);
    play(&mut policy, "0: soft 0..=14 of 1 writes");
    for id in 0..15 {
        play(&mut policy, &format!("{id}: sends {id}, done {id}"));
    }
    play(
        &mut policy,
        "20: hard 200 210 of 1 writes, hard 300
         200: sends 200, done 200    // the sixteenth write, then reads are preferred
         300: sends 300, done 300
         310: sends 210, done 210",
    );
}

#[test]
fn cfq_grouped_sends_real_time_first_and_each_group_by_position() {
    play(
        &mut CfqGrouped::new(3, 100),
        // The policy keeps sending best effort while real time is on the drive.
        "0: best-effort 50 10 of 1, hard 40 30, sends 30 40 10
         5: done 10, sends 50",
    );
}

/// Goal: time slices, idling and the lack of preemption. Method: a source that always has one
/// request, and a real-time request that arrives in the middle of its slice of 40 ms.
#[test]
fn cfq_keeps_the_drive_for_the_source_that_has_the_slice() {
    play(
        &mut Cfq::new(8, 100),
        "0: best-effort 10 of 1, sends 10
         5: hard 1, not-before 40      // the drive has room
         10: done 10, not-before 18    // idles
         12: best-effort 20 of 1, sends 20
         19: not-before 40             // a request is on the drive
         20: done 20
         27: not-before 28             // the source sends nothing within 8 ms
         28: sends 1",
    );
}

#[test]
fn cfq_gives_real_time_the_next_turn() {
    play(
        &mut Cfq::new(1, 100),
        "0: best-effort 10 20 of 1, best-effort 30 of 2, hard 40, sends 40
         10: done 40, not-before 18
         18: sends 10",
    );
}

/// A source alone fills the drive; beside others it has at most four requests on it.
#[test]
fn cfq_limits_what_a_source_has_on_the_drive_beside_others() {
    play(&mut Cfq::new(6, 100), "0: best-effort 1..=8 of 1, sends 1..=6");
    play(&mut Cfq::new(6, 100), "0: best-effort 1..=8 of 1, best-effort 9 of 2, sends 1..=4");
}

#[test]
fn bfq_strict_sends_one_at_a_time_and_idles_for_the_source_in_service() {
    play(
        &mut BfqStrict::new(100),
        "0: best-effort 10 20 of 1, best-effort 30 of 2, sends 10
         10: done 10, sends 20
         20: done 20, not-before 28
         24: best-effort 40 of 1, sends 40
         34: done 40, not-before 42
         42: sends 30",
    );
}

/// A real-time request waits for the request on the drive, not for a budget.
#[test]
fn bfq_strict_serves_the_real_time_class_at_the_next_request() {
    play(
        &mut BfqStrict::new(100),
        "0: best-effort 10 20 30 of 1, sends 10
         1: hard 40
         10: done 10, sends 40",
    );
}

/// A service ends when its budget of 8 MiB is used.
#[test]
fn bfq_strict_serves_a_source_within_its_budget() {
    play(
        &mut BfqStrict::new(100),
        "0: best-effort 10 20 30 of 1 kib 4_096, best-effort 40 of 2, sends 10
         1: done 10, sends 20
         2: done 20, sends 40",
    );
}

/// Goal: shares follow weights. Method: two sources that always have requests, with weights 40 and
/// 10, and requests of 128 KiB every 10 ms; each service has up to 12 of them (125 ms).
#[test]
fn bfq_strict_shares_by_weight() {
    let mut policy = BfqStrict::new(10_000);
    play(&mut policy, "0: interactive 0..=1_999, best-effort 2_000..=3_999 of 1");
    let mut served = [0_u64; 2];
    for step in 0..1_000 {
        let [id] = round(&mut policy, at(10 * step))[..] else { panic!("one at a time") };
        served[usize::from(id >= 2_000)] += 1;
        complete(&mut policy, at(10 * step + 10), [id]);
    }
    let [interactive, best_effort] = served;
    assert!((760..=840).contains(&interactive), "{interactive} to {best_effort}");
}

/// Goal: a plan that changes the kernel's settings takes effect immediately. Method: real time
/// waits outside the scheduler, which holds one request, behind best effort; and best effort ages
/// after 1 ms.
#[test]
fn mq_deadline_tuned_takes_the_settings_of_a_new_plan() {
    const NEVER: u64 = 1_000_000;
    let plan = |tags: u32, expire_ms: u64, taken_early: u32| {
        let table = BatchTable::new(&[Duration::from_ms(1)]).unwrap();
        let mut workload = Workload::new("plan", 1, table);
        workload.parameters.mq_deadline_tuned = MqDeadlineParameters {
            queue_depth: NonZeroU32::new(1),
            nr_requests: NonZeroU32::new(tags),
            prio_aging_expire: Duration::from_ms(expire_ms),
            taken_early,
        };
        Plan::of(&workload)
    };
    for (new, expected) in [
        (plan(1, NEVER, 0), [20, 30, 40]),
        (plan(9, NEVER, 0), [30, 40, 20]),
        (plan(9, 1, 0), [20, 30, 40]),
        (plan(2, NEVER, 0), [30, 40, 20]),
        (plan(9, NEVER, 1), [20, 30, 40]),
    ] {
        let mut policy = MqDeadlineTuned::new(&plan(2, NEVER, 0));
        let said = format!("{new:?}");
        play(&mut policy, "0: best-effort 10 20, sends 10");
        policy.observe(at(5), Event::Reconfigure(Box::new(new))).unwrap();
        play(&mut policy, "5: sends nothing, hard 30 40");
        let sent: Vec<u64> = expected
            .into_iter()
            .scan(10, |before, _| {
                complete(&mut policy, at(6), [*before]);
                *before = round(&mut policy, at(6))[0];
                Some(*before)
            })
            .collect();
        assert_eq!(sent, expected, "{said}");
    }
}

/// Each policy forgets a cancelled request and keeps its count of queued requests correct.
#[test]
fn cancelled_requests_are_not_sent() {
    let policies: [Box<dyn Policy>; 6] = [
        Box::new(Deadline::new(8, 2)),
        Box::new(DeadlineDrain::new(DeadlineDrainParameters::default(), 8, 2)),
        Box::new(MqDeadline::new(8, 2)),
        Box::new(CfqGrouped::new(8, 2)),
        Box::new(Cfq::new(8, 2)),
        Box::new(BfqStrict::new(2)),
    ];
    for mut policy in policies {
        play(
            &mut policy,
            "0: hard 1 2 from 0, refuses hard 3, cancel 1 9, sends 2
             1: done 2, hard 3 4, cancel 3 4
             20: sends nothing",
        );
    }
}
