// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checkers that get events by hand: rules that a policy cannot break because the host stops it
//! first, and rules at their limits, with one sequence that the rule just allows and one that
//! breaks it.

use tidegate_model::parameters::GroupRule;
use tidegate_model::{Bytes, Class, Lba, Outcome, Plan, Request, RequestId, Tag, Workload};
use tidegate_sim::Observer;
use tidegate_sim::checkers::{
    Breach, Checker, ClassOrder, DrivePriority, ExactlyOnce, FallbackKept, GroupOrder, HeadOrder,
    Rounds, Sweep, ViolationLog,
};

use super::common::{TIMES_MS, at, found, request, sent_at, task, workload};

fn hard(id: u64) -> Request {
    request(id, 0, Class::Hard)
}

/// Returns a real-time request that is due at this time.
fn due(id: u64, due_ms: u64) -> Request {
    Request { due: Some(at(due_ms)), ..hard(id) }
}

fn best_effort(id: u64) -> Request {
    request(id, 9, Class::BestEffort)
}

/// Returns the plan of one task with a deadline of 100 ms, C = 10 ms and a depth of 4.
fn plan() -> Plan {
    let workload: Workload = workload(&TIMES_MS, vec![task("task", 100)], Vec::new());
    Plan::of(&workload)
}

/// Goal: the checker finds a lower class that is sent before a higher one. It accepts best effort
/// sent while real time waits for its round, and a class sent before requests that the policy did
/// not know.
#[test]
fn class_that_goes_before_a_higher_one_is_caught() {
    let [first, late, soft] = [hard(1), hard(2), request(3, 0, Class::Soft)];
    let all = [first, late, soft, best_effort(4)];
    let sent =
        |queued_max, batch: &[Request]| sent_at(at(1), ClassOrder::new(queued_max), &all, batch);
    assert_eq!(sent(9, &[first, soft]), [Breach::ClassOvertook { id: soft.id }]);
    assert_eq!(sent(9, &[soft, late, first]), []);
    assert_eq!(sent(9, &[best_effort(4)]), []);
    assert_eq!(sent(1, &[first, soft]), []);
    let overtaken = Breach::Overtaken { id: first.id, younger: late.id };
    assert_eq!(sent(9, &[late]), [overtaken]);
}

/// The checker also finds breaches that no policy can cause.
#[test]
fn stories_that_do_not_fit_are_caught() {
    let [a, b, c] = [hard(1), hard(2), hard(3)];
    let mut checker = ExactlyOnce::default();
    checker.released(at(0), &a);
    checker.released(at(0), &a);
    checker.released(at(0), &c);
    checker.dropped(at(0), &c);
    checker.dropped(at(0), &c);
    checker.dispatched(at(1), &[a, b]);
    checker.dispatched(at(2), &[a]);
    checker.completed(at(3), &a, Outcome::Done);
    checker.completed(at(4), &a, Outcome::Done);
    checker.released(at(5), &b);
    checker.released(at(5), &c);
    checker.dispatched(at(5), &[c]);
    checker.dropped(at(5), &c);
    checker.ended(at(6));
    let expected = [
        Breach::ReleasedTwice { id: a.id },
        Breach::DroppedUnqueued { id: c.id },
        Breach::DispatchedUnqueued { id: b.id },
        Breach::DispatchedUnqueued { id: a.id },
        Breach::CompletedUndispatched { id: a.id },
        Breach::DroppedUnqueued { id: c.id },
        Breach::NeverCompleted { id: b.id },
    ];
    assert_eq!(found(&checker), expected);
}

#[test]
fn log_keeps_the_first_violations_and_counts_all() {
    let mut checker = ExactlyOnce::default();
    for instant in 0..1_000 {
        checker.completed(at(instant), &hard(1), Outcome::Done);
    }
    let log = checker.log();
    assert_eq!((log.count(), log.first().len()), (1_000, ViolationLog::KEPT_MAX));
    assert_eq!(
        log.first()[2].to_string(),
        "at 2000000 ns: RequestId(1) completed and was not in flight"
    );
}

#[test]
fn tag_of_another_class_is_caught() {
    let tagged = |request: Request| Request { tag: Tag::Priority, ..request };
    let sent =
        |real_time, batch: &[Request]| sent_at(at(0), DrivePriority::new(real_time), &[], batch);
    assert_eq!(sent(Tag::Priority, &[tagged(hard(1)), best_effort(2)]), []);
    assert_eq!(sent(Tag::Simple, &[hard(1), best_effort(2)]), []);
    let wrong = |id, tag| Breach::WrongTag { id: RequestId(id), tag };
    let found = sent(Tag::Priority, &[hard(1), tagged(best_effort(2))]);
    assert_eq!(found, [wrong(1, Tag::Simple), wrong(2, Tag::Priority)]);
    assert_eq!(sent(Tag::Simple, &[tagged(hard(1))]), [wrong(1, Tag::Priority)]);
}

/// On a drive that accepts four requests, one best-effort request is in flight and three real-time
/// requests are queued.
#[test]
fn round_takes_all_that_the_policy_knows_and_the_drive_accepts() {
    let settled_after = |depth, queued_max, batch: &[Request]| {
        let mut checker = Rounds::new(&Plan { depth, queued_max, ..plan() });
        checker.dispatched(at(0), &[best_effort(9)]);
        for id in 1..=3 {
            checker.released(at(1), &hard(id));
        }
        if !batch.is_empty() {
            checker.dispatched(at(1), batch);
        }
        checker.settled(at(1));
        found(&checker)
    };
    let cut = |queued_count, in_flight_count| [Breach::RoundCut { queued_count, in_flight_count }];
    let all = [1, 2, 3].map(hard);
    assert_eq!(settled_after(4, 9, &all), []);
    assert_eq!(settled_after(4, 9, &all[..2]), cut(1, 3));
    assert_eq!(settled_after(3, 9, &all[..2]), [], "the drive has no room");
    assert_eq!(settled_after(4, 2, &all[..2]), [], "the policy does not know the third");
    assert_eq!(settled_after(4, 9, &[]), cut(3, 1));
    assert_eq!(settled_after(4, 9, &[best_effort(8)]), cut(3, 2));

    let mut checker = Rounds::new(&plan());
    checker.released(at(0), &hard(1));
    checker.dispatched(at(0), &[hard(1)]);
    checker.released(at(1), &hard(2));
    checker.settled(at(1));
    assert_eq!(found(&checker), [], "the second waits for the end of the round");
    checker.dispatched(at(2), &[hard(2)]);
    assert_eq!(found(&checker), [Breach::RealTimeJoined { real_time_count: 1 }]);
}

/// Requests of one task with a deadline of 100 ms: a group spans 40 ms.
#[test]
fn group_sends_its_smallest_then_its_nearest_request() {
    let sized = |request: Request, kib| Request { size: Bytes::from_kib(kib), ..request };
    let [first, last, beyond] = [due(900, 100), due(2, 140), due(1, 141)];
    let sent = |released: &[Request], id| {
        let sent = released.iter().find(|request| request.id == RequestId(id)).unwrap();
        sent_at(at(0), GroupOrder::new(&plan()), released, &[*sent])
    };
    let out_of_order = |id, expected| {
        [Breach::OutOfGroupOrder { id: RequestId(id), expected: RequestId(expected) }]
    };
    // The heads are at sector 0, and every request at the sector with its number.
    assert_eq!(sent(&[first, last, beyond], 2), []);
    assert_eq!(sent(&[first, last, beyond], 900), out_of_order(900, 2));
    let later = Breach::LaterDueFirst { id: beyond.id, waiting: first.id };
    assert_eq!(sent(&[first, last, beyond], 1), [later]);
    let small = [sized(first, 1), last, sized(beyond, 1)];
    assert_eq!(sent(&small, 900), []);
    assert_eq!(sent(&small, 2), out_of_order(2, 900));
    // With the order `nearest`, place alone decides.
    let mut by_place = plan();
    by_place.parameters.group_edf.order = GroupRule::Nearest;
    assert_eq!(sent_at(at(0), GroupOrder::new(&by_place), &small, &[last]), []);
    let sent_first = sent_at(at(0), GroupOrder::new(&by_place), &small, &[small[0]]);
    assert_eq!(sent_first, out_of_order(900, 2));
    // Of several requests at one place, the oldest is sent first.
    let twins = [last, Request { id: RequestId(3), ..last }];
    assert_eq!(sent(&twins, 2), []);
    assert_eq!(sent(&twins, 3), out_of_order(3, 2));
    // A policy that holds one request does not know the others.
    let full = GroupOrder::new(&Plan { queued_max: 1, ..plan() });
    assert_eq!(sent_at(at(0), full, &[first, last], &[first]), []);
}

/// The heads are at sector 58, where the last request ended.
#[test]
fn sweep_takes_the_oldest_of_the_next_position() {
    let at_sector = |id, sector| Request { start: Lba::new(sector), ..hard(id) };
    let [below, near, twin, far] =
        [at_sector(1, 20), at_sector(2, 60), at_sector(3, 60), at_sector(4, 70)];
    let next = |sweep, queued_max, released: &[Request], sent: Request| {
        let mut checker = HeadOrder::new(sweep, queued_max);
        checker.released(at(0), &at_sector(0, 50));
        checker.dispatched(at(0), &[at_sector(0, 50)]);
        sent_at(at(1), checker, released, &[sent])
    };
    let out_of_place = [Breach::OutOfPosition { id: twin.id, expected: near.id }];
    for sweep in [Sweep::Nearest, Sweep::BothWays, Sweep::OneWay] {
        assert_eq!(next(sweep, 9, &[far, below, near, twin], near), []);
        assert_eq!(next(sweep, 9, &[far, below, near, twin], twin), out_of_place);
        assert_eq!(next(sweep, 3, &[far, below, near, twin], twin), [], "the host held a request");
        assert_eq!(next(sweep, 9, &[below], below), []);
    }
    // If nothing is above the heads, `c-look` goes to the lowest request, and the others to the
    // nearest one below.
    let lower = at_sector(5, 10);
    for (sweep, first, second) in [
        (Sweep::OneWay, lower, below),
        (Sweep::BothWays, below, lower),
        (Sweep::Nearest, below, lower),
    ] {
        assert_eq!(next(sweep, 9, &[lower, below], first), []);
        assert_ne!(next(sweep, 9, &[lower, below], second), []);
    }
}

/// C is 10 ms; the two waiting requests are due at 25 and 30 ms.
#[test]
fn dispatch_that_leaves_no_time_for_the_fallback_is_caught() {
    let [first, second] = [due(1, 25), due(2, 30)];
    let sent = |now_ms, queued_max, sent: Request| {
        let checker = FallbackKept::new(&Plan { queued_max, ..plan() });
        sent_at(at(now_ms), checker, &[first, second], &[sent])
    };
    let broken =
        |id, waiting| [Breach::FallbackBroken { id: RequestId(id), waiting: RequestId(waiting) }];
    assert_eq!(sent(10, 9, best_effort(3)), []);
    assert_eq!(sent(11, 9, best_effort(3)), broken(3, 2));
    assert_eq!(sent(11, 1, best_effort(3)), [], "the host held a request");
    assert_eq!(sent(15, 9, second), []);
    assert_eq!(sent(16, 9, second), broken(2, 1));
    assert_eq!(sent(99, 9, first), [], "the oldest may always be sent");
    // A request that may be dropped is not part of the fallback, and is not late itself.
    let optional = Request { optional: true, ..due(0, 12) };
    let beside = |now_ms, sent: Request| {
        let checker = FallbackKept::new(&plan());
        sent_at(at(now_ms), checker, &[optional, first, second], &[sent])
    };
    assert_eq!(beside(10, best_effort(3)), []);
    assert_eq!(beside(99, first), []);
    assert_eq!(beside(15, Request { optional: true, ..second }), []);
    let late = Request { due: Some(at(4)), ..best_effort(3) };
    assert_eq!(sent(5, 9, late), broken(3, 3));
}
