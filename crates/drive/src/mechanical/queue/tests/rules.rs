// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rules of precedence, driven by hand.

use super::*;

const NO_TAG: Tag = Tag::Simple;

fn tagged(tags: &[Tag]) -> Vec<Pending> {
    (1..).zip(tags).map(|(id, tag)| pending(id, 0, 0, *tag)).collect()
}

/// The diagram in the module documentation.
#[test]
fn tags_go_together_as_the_drawing_says() {
    use Tag::{HeadOfQueue, Ordered, Priority, Simple};
    let tags =
        [Simple, Simple, Priority, Ordered, Simple, Priority, Ordered, HeadOfQueue, HeadOfQueue];
    let params = Queue { priority: true, ..Queue::default() };
    let mut queue = filled(&params, &tagged(&tags));
    assert_eq!(drained(&mut queue, 0, 0), [9, 8, 3, 1, 2, 4, 6, 5, 7]);
}

#[test]
fn empty_queue_has_nothing_to_take() {
    let mut queue = DiskQueue::new(&Queue::default());
    assert_eq!(queue.len(), 0);
    assert!(queue.take(at(5), 3, &|_: &Pending| Duration::ZERO).is_none());
}

#[test]
fn priority_counts_as_simple_unless_the_drive_honours_it() {
    let held = tagged(&[Tag::Simple, Tag::Priority]);
    assert_eq!(drained(&mut filled(&Queue::default(), &held), 0, 0), [1, 2]);
    let params = Queue { priority: true, ..Queue::default() };
    assert_eq!(drained(&mut filled(&params, &held), 0, 0), [2, 1]);
}

#[test]
fn drive_without_scsi_tags_takes_them_for_simple() {
    let held = tagged(&[Tag::Simple, Tag::Ordered, Tag::HeadOfQueue]);
    let params = Queue { simple_only: true, ..with(Scheduler::Satf) };
    let mut queue = filled(&params, &held);
    // In order of arrival, since all are equally near: the last one does not go first.
    assert_eq!(drained(&mut queue, 0, 0), [1, 2, 3]);
}

/// Goal: a barrier holds even if the scheduler prefers a request behind it.
#[test]
fn ordered_request_waits_for_the_far_and_holds_back_the_near() {
    let held =
        [pending(1, 0, 90, NO_TAG), pending(2, 0, 9, Tag::Ordered), pending(3, 0, 1, NO_TAG)];
    assert_eq!(drained(&mut filled(&with(Scheduler::Sstf), &held), 0, 0), [1, 2, 3]);
}

#[test]
fn head_of_queue_goes_past_a_barrier() {
    let mut queue = filled(&Queue::default(), &tagged(&[Tag::Ordered, Tag::HeadOfQueue]));
    assert_eq!(drained(&mut queue, 0, 0), [2, 1]);
}

/// Goal: the bound is exact to the nanosecond. The near request is younger.
#[test]
fn request_is_starved_when_it_has_waited_for_the_bound_and_not_before() {
    let params = Queue { starvation_ns: Some(100), ..with(Scheduler::Sstf) };
    let held = [pending(1, 50, 90, NO_TAG), pending(2, 51, 1, NO_TAG)];
    assert_eq!(drained(&mut filled(&params, &held), 149, 0), [2, 1]);
    assert_eq!(drained(&mut filled(&params, &held), 150, 0), [1, 2]);
}

#[test]
fn of_several_starved_requests_the_oldest_is_first() {
    let params = Queue { starvation_ns: Some(100), ..with(Scheduler::Sstf) };
    let held = [pending(1, 0, 90, NO_TAG), pending(2, 1, 60, NO_TAG), pending(3, 2, 0, NO_TAG)];
    assert_eq!(drained(&mut filled(&params, &held), 500, 0), [1, 2, 3]);
}

#[test]
fn starved_request_goes_before_priority_but_not_before_the_head_of_the_queue() {
    let params = Queue { starvation_ns: Some(100), priority: true, ..Queue::default() };
    let held = [
        pending(1, 0, 0, NO_TAG),
        pending(2, 90, 0, Tag::Priority),
        pending(3, 95, 0, Tag::HeadOfQueue),
    ];
    assert_eq!(drained(&mut filled(&params, &held), 100, 0), [3, 1, 2]);
}

/// Rule 4: among priority requests the scheduler chooses as usual.
#[test]
fn scheduler_chooses_among_requests_of_priority() {
    let params = Queue { priority: true, ..with(Scheduler::Sstf) };
    let held = [
        pending(1, 0, 1, NO_TAG),
        pending(2, 0, 50, Tag::Priority),
        pending(3, 0, 40, Tag::Priority),
    ];
    assert_eq!(drained(&mut filled(&params, &held), 0, 0), [3, 2, 1]);
}

/// Goal: a request served out of turn does not reverse a sweep. Method: inwards from 50, an urgent
/// request at 90.
#[test]
fn sweep_goes_on_from_where_the_head_of_queue_took_the_arm() {
    for scheduler in [Scheduler::Scan, Scheduler::ScanSstf] {
        let mut queue = DiskQueue::new(&with(scheduler));
        for (id, cylinder) in [(1, 50), (2, 60), (3, 10), (4, 95)] {
            queue.push(pending(id, 0, cylinder, NO_TAG));
        }
        assert_eq!(queue.take(at(0), 45, &|_: &Pending| Duration::ZERO).unwrap().request.id.0, 1);
        assert_eq!(queue.take(at(0), 50, &|_: &Pending| Duration::ZERO).unwrap().request.id.0, 2);
        queue.push(pending(5, 0, 90, Tag::HeadOfQueue));
        queue.push(pending(6, 0, 70, NO_TAG));
        assert_eq!(drained(&mut queue, 0, 60), [5, 4, 6, 3], "{scheduler:?}");
    }
}

#[test]
#[should_panic(expected = "in order of time")]
fn request_from_the_past_is_refused() {
    filled(&Queue::default(), &[pending(1, 5, 0, NO_TAG), pending(2, 4, 0, NO_TAG)]);
}
