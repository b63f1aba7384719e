// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schedulers by access skip requests that the arm's seek alone rules out. These tests check that
//! they choose as if they skipped none, and that they do skip many.

use std::cell::Cell;

use super::*;

/// The toy disk with a lower bound other than the arm's seek.
struct WithFloor<F> {
    toy: ToyDisk,
    floor_ns: F,
}

impl<F: Fn(&Pending, u64) -> u64> Reach for WithFloor<F> {
    fn access(&self, pending: &Pending) -> Duration {
        self.toy.access(pending)
    }

    fn access_min(&self, pending: &Pending) -> Duration {
        let access_ns = toy_access(self.toy.now_ns, self.toy.arm, &pending.target).ns();
        Duration::from_ns((self.floor_ns)(pending, access_ns))
    }
}

/// Serves a history with a queue that holds twenty requests before each choice, until the history
/// ends; returns the order and the number of access computations. `floor_ns` maps a request and its
/// access time to its lower bound.
fn served(
    params: &Queue,
    steps: &[Step],
    floor_ns: impl Fn(&Pending, u64) -> u64 + Copy,
) -> (Vec<u64>, usize) {
    let mut queue = DiskQueue::new(params);
    let (mut now_ns, mut arm, mut ids) = (0, 0, Vec::new());
    let asked = Cell::new(0);
    let mut take = |queue: &mut DiskQueue, now_ns: u64| {
        let reach = WithFloor { toy: ToyDisk::new(now_ns, arm), floor_ns };
        let taken = queue.take(at(now_ns), arm, &reach)?;
        asked.set(asked.get() + reach.toy.access_count.get());
        arm = taken.target.cylinder;
        ids.push(taken.request.id.0);
        Some(())
    };
    for (id, step) in (0..).zip(steps) {
        now_ns += step.gap_ns;
        let target = extent(step.cylinder, step.begin);
        let request = request(id, step.tag);
        queue.push(Pending { number: id, request, arrived: at(now_ns), target });
        // Keep twenty requests waiting.
        if id >= 20 {
            take(&mut queue, now_ns);
        }
    }
    while take(&mut queue, now_ns).is_some() {}
    (ids, asked.get())
}

fn by_access(scheduler: Scheduler, aging_ns_per_ms: u64) -> Queue {
    Queue {
        aging_ns_per_ms: (scheduler == Scheduler::SatfAging).then_some(aging_ns_per_ms),
        priority: true,
        ..with(scheduler)
    }
}

proptest! {
    /// A lower bound anywhere from 0 up to the access time does not change the choice.
    #[test]
    fn skipped_requests_would_not_have_been_chosen(
        scheduler in prop::sample::select(vec![Scheduler::Satf, Scheduler::SatfAging]),
        aging_ns_per_ms in 0_u64..2_000_000,
        steps in steps(any_tag()),
        share in 0_u64..=4,
        salt in 0_u64..5,
    ) {
        let params = by_access(scheduler, aging_ns_per_ms);
        let (exhaustive, _) = served(&params, &steps, |_, _| 0);
        let floor = |held: &Pending, access_ns: u64| match (held.request.id.0 + salt) % 5 {
            0 => 0,
            1 => access_ns,
            _ => access_ns * share / 4,
        };
        prop_assert_eq!(served(&params, &steps, floor).0, exhaustive);
    }
}

#[test]
fn most_accesses_are_not_asked_for() {
    let mut steps = rich_history();
    for step in &mut steps {
        step.tag = Tag::Simple;
    }
    for scheduler in [Scheduler::Satf, Scheduler::SatfAging] {
        let params = by_access(scheduler, 10_000);
        let (all, near) = (
            served(&params, &steps, |_, _| 0),
            // An eighth of a turn of the toy disk.
            served(&params, &steps, |_, access_ns| access_ns.saturating_sub(8)),
        );
        assert_eq!(all.0, near.0);
        assert!(near.1 * 2 < all.1, "{scheduler:?}: {} of {}", near.1, all.1);
    }
}

/// Canary: a lower bound above the access skips a request that should have been chosen, and the
/// test detects it.
#[test]
fn floor_that_is_too_high_is_found() {
    let steps = rich_history();
    for scheduler in [Scheduler::Satf, Scheduler::SatfAging] {
        let params = by_access(scheduler, 10_000);
        let exhaustive = served(&params, &steps, |_, _| 0).0;
        let too_high = |held: &Pending, access_ns: u64| access_ns + held.request.id.0 % 3;
        assert_ne!(served(&params, &steps, too_high).0, exhaustive);
    }
}
