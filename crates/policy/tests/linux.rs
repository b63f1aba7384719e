// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the models of Linux schedulers follow their documented rules. Method: driven by hand.

mod common;

use common::{at, complete, request, round};
use tidegate_model::{Class, Lba, Op, Request, RequestId, TaskIndex, Time};
use tidegate_policy::{BfqStrict, Cfq, CfqGrouped, Deadline, Decision, Event, MqDeadline, Policy};

const HARD: Class = Class::Hard;
const BEST_EFFORT: Class = Class::BestEffort;

/// Returns a read of that class and source; its id is its position.
fn read(class: Class, task: u32, id: u64) -> Request {
    Request { task: TaskIndex(task), start: Lba::new(id), ..request(id, class) }
}

fn release(policy: &mut impl Policy, now: Time, requests: impl IntoIterator<Item = Request>) {
    for request in requests {
        policy.observe(now, Event::Release(request)).unwrap();
    }
}

fn reads(class: Class, task: u32, ids: &[u64]) -> Vec<Request> {
    ids.iter().map(|&id| read(class, task, id)).collect()
}

fn writes(ids: &[u64]) -> Vec<Request> {
    ids.iter().map(|&id| Request { op: Op::Write, ..read(BEST_EFFORT, 0, id) }).collect()
}

#[test]
fn deadline_sends_by_position_and_fills_the_drive() {
    let mut policy = Deadline::new(3, 100);
    release(&mut policy, at(0), reads(HARD, 0, &[50, 10, 30, 20]));
    // The first batch begins at the lowest position, because nothing has been served yet.
    assert_eq!(round(&mut policy, at(0)), [10, 20, 30]);
    complete(&mut policy, at(9), [20]);
    assert_eq!(round(&mut policy, at(9)), [50]);
}

/// Sixteen requests are a batch; the next batch begins with the read that waited 500 ms.
#[test]
fn deadline_begins_a_batch_with_what_expired() {
    let mut policy = Deadline::new(100, 100);
    let mut ids: Vec<u64> = (100..120).collect();
    ids.insert(0, 90);
    release(&mut policy, at(0), reads(HARD, 0, &[50]));
    assert_eq!(round(&mut policy, at(0)), [50]);
    release(&mut policy, at(1), reads(HARD, 0, &[10]));
    release(&mut policy, at(400), reads(HARD, 0, &ids));
    let sent = round(&mut policy, at(501));
    assert_eq!(sent[..15], ids[..15], "the rest of the first batch");
    assert_eq!(sent[15], 10, "waited for 500 ms");
}

/// Reads are preferred twice, then writes are sent although reads wait.
#[test]
fn deadline_lets_writes_starve_twice() {
    let mut policy = Deadline::new(200, 200);
    let many: Vec<u64> = (100..164).collect();
    release(&mut policy, at(0), reads(HARD, 0, &many));
    release(&mut policy, at(0), writes(&[1, 2]));
    let sent = round(&mut policy, at(0));
    let first_write = sent.iter().position(|&id| id < 100).unwrap();
    assert_eq!(first_write, 32, "after two batches of sixteen");
}

#[test]
fn deadline_does_not_look_at_classes() {
    let mut policy = Deadline::new(1, 100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[10]));
    release(&mut policy, at(0), reads(HARD, 0, &[20]));
    assert_eq!(round(&mut policy, at(0)), [10]);
}

#[test]
fn mq_deadline_serves_the_highest_class() {
    let mut policy = MqDeadline::new(1, 100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 2, &[10]));
    release(&mut policy, at(0), reads(Class::Soft, 1, &[20]));
    release(&mut policy, at(0), reads(HARD, 0, &[30]));
    for (now, sent) in [(0, 30), (1, 20), (2, 10)] {
        assert_eq!(round(&mut policy, at(now)), [sent]);
        complete(&mut policy, at(now + 1), [sent]);
    }
}

/// A request of the highest class on the drive keeps lower classes off it.
#[test]
fn mq_deadline_drains_the_drive_for_the_highest_class() {
    let mut policy = MqDeadline::new(4, 100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[10, 20, 40]));
    release(&mut policy, at(0), reads(HARD, 0, &[30]));
    assert_eq!(round(&mut policy, at(0)), [30]);
    complete(&mut policy, at(5), [30]);
    assert_eq!(round(&mut policy, at(5)), [10, 20, 40]);
}

#[test]
fn mq_deadline_serves_what_has_aged() {
    let mut policy = MqDeadline::new(1, 100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[10]));
    release(&mut policy, at(9_999), reads(HARD, 0, &[30, 40]));
    assert_eq!(round(&mut policy, at(9_999)), [30]);
    complete(&mut policy, at(10_000), [30]);
    assert_eq!(round(&mut policy, at(10_000)), [10]);
}

/// The next request by position arrived too late, so nothing below the highest class is sent
/// although the oldest request has aged. The batch of sixteen ends with it, and the next begins
/// with the oldest.
#[test]
fn mq_deadline_serves_nothing_younger_than_what_aged() {
    let mut policy = MqDeadline::new(1, 100);
    let hard: Vec<u64> = (100..120).collect();
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[50]));
    release(&mut policy, at(0), reads(HARD, 0, &hard));
    release(&mut policy, at(9_000), reads(BEST_EFFORT, 1, &[10, 20]));
    assert_eq!(round(&mut policy, at(9_500)), [100]);
    complete(&mut policy, at(9_500), [100]);
    for id in 101..116 {
        assert_eq!(round(&mut policy, at(10_000)), [id]);
        complete(&mut policy, at(10_000), [id]);
    }
    assert_eq!(round(&mut policy, at(10_000)), [50]);
    complete(&mut policy, at(10_000), [50]);
    // No request lies above 50: a batch would begin with 10, which arrived a second ago.
    assert_eq!(round(&mut policy, at(10_000)), [116]);
}

/// A batch of writes that a low class began continues with the writes of a high class, before its
/// reads.
#[test]
fn mq_deadline_counts_one_batch_for_all_classes() {
    let mut policy = MqDeadline::new(1, 100);
    let write = |class, id| Request { op: Op::Write, ..read(class, 1, id) };
    release(&mut policy, at(0), (0..15).map(|id| write(Class::Soft, id)));
    for id in 0..15 {
        assert_eq!(round(&mut policy, at(id)), [id]);
        complete(&mut policy, at(id), [id]);
    }
    release(&mut policy, at(20), [write(HARD, 200), write(HARD, 210)]);
    release(&mut policy, at(20), reads(HARD, 0, &[300]));
    // The sixteenth write, then reads are preferred.
    for id in [200, 300, 210] {
        assert_eq!(round(&mut policy, at(id)), [id]);
        complete(&mut policy, at(id), [id]);
    }
}

#[test]
fn cfq_grouped_sends_real_time_first_and_each_group_by_position() {
    let mut policy = CfqGrouped::new(3, 100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[50, 10]));
    release(&mut policy, at(0), reads(HARD, 0, &[40, 30]));
    assert_eq!(round(&mut policy, at(0)), [30, 40, 10]);
    // The policy keeps sending best effort while real time is on the drive.
    complete(&mut policy, at(5), [10]);
    assert_eq!(round(&mut policy, at(5)), [50]);
}

/// Goal: time slices, idling and the lack of preemption. Method: a source that always has one
/// request, and a real-time request that arrives in the middle of its slice of 40 ms.
#[test]
fn cfq_keeps_the_drive_for_the_source_that_has_the_slice() {
    let mut policy = Cfq::new(8, 100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[10]));
    assert_eq!(round(&mut policy, at(0)), [10]);
    release(&mut policy, at(5), reads(HARD, 0, &[1]));
    assert_eq!(policy.decide(at(5)), Decision::NotBefore(at(40)), "the drive has room");
    complete(&mut policy, at(10), [10]);
    assert_eq!(policy.decide(at(10)), Decision::NotBefore(at(18)), "idles");
    release(&mut policy, at(12), reads(BEST_EFFORT, 1, &[20]));
    assert_eq!(round(&mut policy, at(12)), [20]);
    complete(&mut policy, at(20), [20]);
    // The source sends nothing within 8 ms.
    assert_eq!(policy.decide(at(27)), Decision::NotBefore(at(28)));
    assert_eq!(round(&mut policy, at(28)), [1]);
}

#[test]
fn cfq_gives_real_time_the_next_turn() {
    let mut policy = Cfq::new(1, 100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[10, 20]));
    release(&mut policy, at(0), reads(BEST_EFFORT, 2, &[30]));
    release(&mut policy, at(0), reads(HARD, 0, &[40]));
    assert_eq!(round(&mut policy, at(0)), [40]);
    complete(&mut policy, at(10), [40]);
    assert_eq!(policy.decide(at(10)), Decision::NotBefore(at(18)));
    assert_eq!(round(&mut policy, at(18)), [10]);
}

/// A source alone fills the drive; beside others it has at most four requests on it.
#[test]
fn cfq_limits_what_a_source_has_on_the_drive_beside_others() {
    let mut policy = Cfq::new(6, 100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(round(&mut policy, at(0)).len(), 6);
    let mut policy = Cfq::new(6, 100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[1, 2, 3, 4, 5, 6, 7, 8]));
    release(&mut policy, at(0), reads(BEST_EFFORT, 2, &[9]));
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3, 4]);
}

#[test]
fn bfq_strict_sends_one_at_a_time_and_idles_for_the_source_in_service() {
    let mut policy = BfqStrict::new(100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[10, 20]));
    release(&mut policy, at(0), reads(BEST_EFFORT, 2, &[30]));
    assert_eq!(round(&mut policy, at(0)), [10]);
    complete(&mut policy, at(10), [10]);
    assert_eq!(round(&mut policy, at(10)), [20]);
    complete(&mut policy, at(20), [20]);
    assert_eq!(policy.decide(at(20)), Decision::NotBefore(at(28)));
    assert_eq!(round(&mut policy, at(28)), [30]);
}

/// A real-time request waits for the request on the drive, not for a budget.
#[test]
fn bfq_strict_serves_the_real_time_class_at_the_next_request() {
    let mut policy = BfqStrict::new(100);
    release(&mut policy, at(0), reads(BEST_EFFORT, 1, &[10, 20, 30]));
    assert_eq!(round(&mut policy, at(0)), [10]);
    release(&mut policy, at(1), reads(HARD, 0, &[40]));
    complete(&mut policy, at(10), [10]);
    assert_eq!(round(&mut policy, at(10)), [40]);
}

/// Goal: shares follow weights. Method: two sources that always have requests, with weights 40 and
/// 10, and requests of 128 KiB every 10 ms; each service has up to 12 of them (125 ms).
#[test]
fn bfq_strict_shares_by_weight() {
    let mut policy = BfqStrict::new(10_000);
    release(&mut policy, at(0), (0..2_000).map(|id| read(Class::Interactive, 0, id)));
    release(&mut policy, at(0), (2_000..4_000).map(|id| read(BEST_EFFORT, 1, id)));
    let mut served = [0_u64; 2];
    for step in 0..1_000 {
        let [id] = round(&mut policy, at(10 * step))[..] else { panic!("one at a time") };
        served[usize::from(id >= 2_000)] += 1;
        complete(&mut policy, at(10 * step + 10), [id]);
    }
    let [interactive, best_effort] = served;
    assert!((760..=840).contains(&interactive), "{interactive} to {best_effort}");
}

/// Each policy forgets a cancelled request and keeps its count of queued requests correct.
#[test]
fn cancelled_requests_are_not_sent() {
    let policies: [Box<dyn Policy>; 5] = [
        Box::new(Deadline::new(8, 2)),
        Box::new(MqDeadline::new(8, 2)),
        Box::new(CfqGrouped::new(8, 2)),
        Box::new(Cfq::new(8, 2)),
        Box::new(BfqStrict::new(2)),
    ];
    for mut policy in policies {
        common::release(&mut policy, at(0), HARD, [1, 2]);
        let full = policy.observe(at(0), Event::Release(read(HARD, 0, 3)));
        assert_eq!(full, Err(tidegate_policy::Full));
        policy.observe(at(0), Event::Cancel(RequestId(1))).unwrap();
        policy.observe(at(0), Event::Cancel(RequestId(9))).unwrap();
        assert_eq!(round(&mut policy, at(0)), [2]);
        complete(&mut policy, at(1), [2]);
        release(&mut policy, at(1), reads(HARD, 0, &[3, 4]));
        policy.observe(at(1), Event::Cancel(RequestId(3))).unwrap();
        policy.observe(at(1), Event::Cancel(RequestId(4))).unwrap();
        assert_eq!(round(&mut policy, at(20)), []);
    }
}
