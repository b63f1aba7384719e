// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The starvation experiment of RTAS'08 section 3.1 in miniature. Twenty best-effort requests are
//! always queued on the lowest 20 % of the disk, and one request at a time on the highest 20 %. The
//! far request is served when its starvation bound has passed, and not before.

use super::*;

const MS: u64 = 1_000_000;
const CYLINDERS: u64 = 30_000;
const TURN_NS: u64 = 4 * MS;
const TRANSFER_NS: u64 = 3 * MS;
/// The longest service: a full-stroke seek, a turn and a transfer.
const SERVICE_NS_MAX: u64 = 11 * MS + TURN_NS + TRANSFER_NS;
/// The starvation that the experiment observed, in nanoseconds.
const BOUND_NS: u64 = 2_030 * MS;

/// Returns the time of a seek: half a millisecond, plus 10.5 ms for a full stroke.
fn seek_ns(distance: u32) -> u64 {
    if distance == 0 { 0 } else { MS / 2 + 21 * MS / 2 * u64::from(distance) / CYLINDERS }
}

fn access(now: Time, arm: u32, target: &Extent) -> Duration {
    let seek_ns = seek_ns(target.cylinder.abs_diff(arm));
    let phase_ns = (now.ns() + seek_ns) % TURN_NS;
    let begin_ns = target.begin.units() * TURN_NS / Angle::TURN.units();
    Duration::from_ns(seek_ns + (begin_ns + TURN_NS - phase_ns) % TURN_NS)
}

/// Returns the response times of the far request while the drive serves `count` requests. Each
/// completed request is replaced, but the drive begins the next one before its host sees the
/// completion.
fn far_responses_ns(params: &Queue, count: u64) -> Vec<u64> {
    const FAR: u64 = 0;
    let mut random = tidegate_model::Random::new(2_008, 0);
    let mut place = |first: u64| {
        let cylinder = first + random.below(CYLINDERS / 5);
        let begin = random.below(Angle::TURN.units());
        extent(u32::try_from(cylinder).expect("a cylinder"), begin)
    };
    let mut queue = DiskQueue::new(params);
    let (mut now, mut arm, mut responses_ns) = (at(0), 0, Vec::new());
    let mut send = |queue: &mut DiskQueue, id: u64, now: Time| {
        let target = place(if id == FAR { CYLINDERS * 4 / 5 } else { 0 });
        queue.push(Pending { number: 0, request: request(id, Tag::Simple), arrived: now, target });
    };
    for id in 0..=20 {
        send(&mut queue, id, now);
    }
    let mut done = None;
    for _ in 0..count {
        let taken = queue
            .take(now, arm, &|held: &Pending| access(now, arm, &held.target))
            .expect("20 are held");
        if let Some(id) = done {
            send(&mut queue, id, now);
        }
        now = now + access(now, arm, &taken.target) + Duration::from_ns(TRANSFER_NS);
        arm = taken.target.cylinder;
        done = Some(taken.request.id.0);
        if taken.request.id.0 == FAR {
            responses_ns.push(now.since(taken.arrived).ns());
        }
    }
    responses_ns
}

#[test]
fn starved_request_is_served_within_two_services_of_its_bound() {
    for scheduler in [Scheduler::Sstf, Scheduler::Satf] {
        let params = Queue { starvation_ns: Some(BOUND_NS), ..with(scheduler) };
        let responses_ns = far_responses_ns(&params, 20_000);
        assert!(responses_ns.len() >= 30, "{scheduler:?}: {}", responses_ns.len());
        for response_ns in responses_ns {
            let lateness_ns = response_ns.checked_sub(BOUND_NS).expect("not before its bound");
            assert!(lateness_ns <= 2 * SERVICE_NS_MAX, "{scheduler:?}: {lateness_ns} ns late");
        }
    }
}

/// Canary: without the bound the experiment does starve a request.
#[test]
fn far_request_is_never_served_without_a_bound() {
    for scheduler in [Scheduler::Sstf, Scheduler::Satf] {
        assert_eq!(far_responses_ns(&with(scheduler), 20_000), [0; 0], "{scheduler:?}");
    }
}

/// FIFO and the sweeps starve no request: here each is served within `BOUND_NS` without a bound.
#[test]
fn sweeps_starve_no_request_here() {
    for scheduler in [Scheduler::Fifo, Scheduler::Scan, Scheduler::CLook, Scheduler::ScanSstf] {
        let responses_ns = far_responses_ns(&with(scheduler), 20_000);
        let highest_ns = responses_ns.into_iter().max().expect("it was served");
        assert!(highest_ns < BOUND_NS, "{scheduler:?}: {highest_ns} ns");
    }
}
