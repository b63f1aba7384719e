// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rules of precedence in cases made by hand.

use super::*;

/// A held request: its arrival, its cylinder, and its tag.
type Held = (u64, u32, Tag);

/// Checks the order in which a queue that holds requests 1, 2, .. serves them at instant `now_ns`.
fn check(params: &Queue, now_ns: u64, held: &[Held], order: &[u64]) {
    let pending = |(id, &(at_ns, cylinder, tag))| pending(id, at_ns, cylinder, tag);
    let held: Vec<Pending> = (1..).zip(held).map(pending).collect();
    assert_eq!(drained(&mut filled(params, &held), now_ns, 0), order, "{params:?}");
}

#[test]
fn precedence_is_as_the_rules_say() {
    use Tag::{HeadOfQueue as Head, Ordered, Priority, Simple};
    let plain = Queue::default();
    let honours = Queue { priority: true, ..Queue::default() };
    let simple_only = Queue { simple_only: true, ..with(Scheduler::Satf) };
    let sstf = with(Scheduler::Sstf);
    let starving = Queue { starvation_ns: Some(100), ..with(Scheduler::Sstf) };
    let both = Queue { starvation_ns: Some(100), priority: true, ..Queue::default() };
    let first = |tags: &[Tag]| tags.iter().map(|&tag| (0, 0, tag)).collect::<Vec<Held>>();

    // The case of the diagram in the module documentation.
    let tags = [Simple, Simple, Priority, Ordered, Simple, Priority, Ordered, Head, Head];
    check(&honours, 0, &first(&tags), &[9, 8, 3, 1, 2, 4, 6, 5, 7]);
    // Priority counts as simple unless the drive honours it.
    check(&plain, 0, &first(&[Simple, Priority]), &[1, 2]);
    check(&honours, 0, &first(&[Simple, Priority]), &[2, 1]);
    // A drive without SCSI tags treats them as simple. All are equally near, so they are served in
    // order of arrival: the last one does not go first.
    check(&simple_only, 0, &first(&[Simple, Ordered, Head]), &[1, 2, 3]);
    // A barrier holds even if the scheduler prefers a request behind it; a head-of-queue request
    // passes it.
    check(&sstf, 0, &[(0, 90, Simple), (0, 9, Ordered), (0, 1, Simple)], &[1, 2, 3]);
    check(&plain, 0, &first(&[Ordered, Head]), &[2, 1]);
    // The bound on starvation is exact to the nanosecond. The near request is younger.
    check(&starving, 149, &[(50, 90, Simple), (51, 1, Simple)], &[2, 1]);
    check(&starving, 150, &[(50, 90, Simple), (51, 1, Simple)], &[1, 2]);
    // Of several starved requests the oldest is first.
    check(&starving, 500, &[(0, 90, Simple), (1, 60, Simple), (2, 0, Simple)], &[1, 2, 3]);
    // A starved request goes before a priority request but not before a head-of-queue request.
    check(&both, 100, &[(0, 0, Simple), (90, 0, Priority), (95, 0, Head)], &[3, 1, 2]);
    // Rule 4: among priority requests the scheduler chooses as usual.
    let sstf = Queue { priority: true, ..sstf };
    check(&sstf, 0, &[(0, 1, Simple), (0, 50, Priority), (0, 40, Priority)], &[3, 2, 1]);
}

#[test]
fn empty_queue_has_nothing_to_take() {
    let mut queue = DiskQueue::new(&Queue::default());
    assert_eq!(queue.len(), 0);
    assert!(queue.take(at(5), 3, &|_: &Pending| Duration::ZERO).is_none());
}

/// Goal: a request served out of turn does not reverse a sweep. Method: the sweep goes inwards from
/// 50, and an urgent request is at 90.
#[test]
fn sweep_goes_on_from_where_the_head_of_queue_took_the_arm() {
    for scheduler in [Scheduler::Scan, Scheduler::ScanSstf] {
        let mut queue = DiskQueue::new(&with(scheduler));
        for (id, cylinder) in [(1, 50), (2, 60), (3, 10), (4, 95)] {
            queue.push(pending(id, 0, cylinder, Tag::Simple));
        }
        assert_eq!(next(&mut queue, 45), 1);
        assert_eq!(next(&mut queue, 50), 2);
        queue.push(pending(5, 0, 90, Tag::HeadOfQueue));
        queue.push(pending(6, 0, 70, Tag::Simple));
        assert_eq!(drained(&mut queue, 0, 60), [5, 4, 6, 3], "{scheduler:?}");
    }
}

#[test]
#[should_panic(expected = "in order of time")]
fn request_from_the_past_is_refused() {
    filled(&Queue::default(), &[pending(1, 5, 0, Tag::Simple), pending(2, 4, 0, Tag::Simple)]);
}
