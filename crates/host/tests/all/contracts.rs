// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the watches of drive contracts compare the right times and count overruns. Method: event
//! sequences by hand.

use tidegate_host::{ContractWatch, Observer, Overruns};
use tidegate_model::{
    BatchTable, Bytes, Class, DriveContract, DriveLimits, DriveTimes, Duration, Outcome, Request,
    RequestId, Slowdown, Tag, Time,
};

const fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

fn at(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000)
}

fn request(id: u64, tag: Tag) -> Request {
    Request { tag, ..Request::plain(RequestId(id), Class::Hard, Bytes::from_kib(4)) }
}

fn table(times: &[u64]) -> BatchTable {
    let times: Vec<Duration> = times.iter().copied().map(ms).collect();
    BatchTable::new(&times).unwrap()
}

/// Makes a watch with drain = 10, 15, 20 ms; starvation 50 ms; priority = 4, 6 ms.
fn watch() -> ContractWatch {
    ContractWatch::new(&limits())
}

fn limits() -> DriveLimits {
    let DriveLimits { measured, .. } = DriveLimits::of_table(table(&[5, 8]));
    let measured = DriveTimes {
        drain: Some(table(&[10, 15, 20])),
        starvation_max: Some(ms(50)),
        priority: Some(table(&[4, 6])),
        ..measured
    };
    DriveLimits { tolerated: measured.clone(), measured }
}

fn send(watch: &mut ContractWatch, now: u64, ids: &[u64], tag: Tag) {
    let batch: Vec<Request> = ids.iter().map(|&id| request(id, tag)).collect();
    watch.dispatched(at(now), &batch);
}

fn back(watch: &mut ContractWatch, now: u64, id: u64, tag: Tag) {
    watch.completed(at(now), &request(id, tag), Outcome::Done);
}

fn seen(watch: &ContractWatch, contract: DriveContract) -> Overruns {
    watch.overruns(contract).unwrap()
}

fn overruns(observed: u64, overruns: u64, max: u64, sum: u64) -> Overruns {
    Overruns { observed, overruns, tolerated: 0, max: ms(max), sum: ms(sum) }
}

/// Goal: the clock restarts with every dispatch, and an overrun counts once. Method: two requests
/// are dispatched and may take drain(2) = 15 ms; a third, dispatched 14 ms later, gives all three
/// drain(3) = 20 ms from then on; the last two complete 1 ms and 5 ms too late.
#[test]
fn every_dispatch_restarts_the_drain() {
    let mut watch = watch();
    send(&mut watch, 0, &[0, 1], Tag::Simple);
    send(&mut watch, 14, &[2], Tag::Simple);
    back(&mut watch, 34, 0, Tag::Simple);
    assert_eq!(seen(&watch, DriveContract::Drain), overruns(2, 0, 0, 0));
    back(&mut watch, 35, 1, Tag::Simple);
    back(&mut watch, 39, 2, Tag::Simple);
    assert_eq!(seen(&watch, DriveContract::Drain), overruns(2, 1, 5, 5));
    // With no request in flight, no clock runs.
    send(&mut watch, 100, &[0], Tag::Simple);
    back(&mut watch, 110, 0, Tag::Simple);
    assert_eq!(seen(&watch, DriveContract::Drain), overruns(3, 1, 5, 5));
}

/// Goal: a request still in flight at the next dispatch, or at the end, is late too; more requests
/// than the table covers are not compared. Method: dispatches after the drain time.
#[test]
fn requests_that_stay_for_too_long_are_late_before_they_are_back() {
    let mut watch = watch();
    send(&mut watch, 0, &[0], Tag::Simple);
    send(&mut watch, 12, &[1], Tag::Simple);
    assert_eq!(seen(&watch, DriveContract::Drain), overruns(2, 1, 2, 2));
    watch.ended(at(30));
    assert_eq!(seen(&watch, DriveContract::Drain), overruns(2, 2, 3, 5));
    send(&mut watch, 30, &[2, 3], Tag::Simple);
    back(&mut watch, 1_000, 2, Tag::Simple);
    assert_eq!(seen(&watch, DriveContract::Drain), overruns(2, 2, 3, 5));
}

#[test]
fn every_request_is_held_against_the_starvation_bound() {
    let mut watch = watch();
    send(&mut watch, 0, &[0, 1], Tag::Simple);
    back(&mut watch, 50, 1, Tag::Simple);
    send(&mut watch, 50, &[1], Tag::Simple);
    back(&mut watch, 51, 0, Tag::Simple);
    assert_eq!(seen(&watch, DriveContract::Starvation), overruns(3, 1, 1, 1));
    watch.ended(at(103));
    assert_eq!(seen(&watch, DriveContract::Starvation), overruns(3, 2, 3, 4));
}

/// Goal: only rounds with priority count, regardless of other requests in flight; a round that
/// another joined is not compared. Method: rounds with both tags.
#[test]
fn rounds_with_priority_are_held_against_their_times() {
    for mark in [Tag::Priority, Tag::HeadOfQueue] {
        let mut watch = watch();
        send(&mut watch, 0, &[9], Tag::Simple);
        send(&mut watch, 0, &[0, 1], mark);
        send(&mut watch, 5, &[2], Tag::Simple);
        back(&mut watch, 6, 0, mark);
        back(&mut watch, 9, 1, mark);
        assert_eq!(seen(&watch, DriveContract::Priority), overruns(1, 1, 3, 3));
        back(&mut watch, 90, 9, Tag::Simple);
        send(&mut watch, 100, &[0], mark);
        send(&mut watch, 101, &[1], mark);
        back(&mut watch, 200, 0, mark);
        back(&mut watch, 200, 1, mark);
        assert_eq!(seen(&watch, DriveContract::Priority), overruns(2, 1, 3, 3));
    }
}

#[test]
fn what_was_never_measured_is_not_watched() {
    let watch = ContractWatch::new(&DriveLimits::of_table(table(&[5, 8])));
    let watched = DriveContract::ALL.into_iter().filter(|&it| watch.overruns(it).is_some());
    assert_eq!(watched.collect::<Vec<_>>(), [DriveContract::Batches]);
}

#[test]
fn batches_are_told_with_all_else() {
    let mut watch = watch();
    send(&mut watch, 0, &[0, 1], Tag::Simple);
    back(&mut watch, 9, 0, Tag::Simple);
    back(&mut watch, 11, 1, Tag::Simple);
    assert_eq!(seen(&watch, DriveContract::Batches), overruns(1, 1, 3, 3));
}

/// Goal: an overrun within the tolerance counts as tolerated until it grows beyond it. Method:
/// drain, starvation and priority tolerate 3 ms more; each is exceeded by 2, by 3 and by 4 ms.
#[test]
fn overruns_within_the_tolerance_are_counted_apart() {
    let mut limits = limits();
    let more = Slowdown::by(ms(3));
    limits.tolerated = DriveTimes {
        drain: limits.measured.drain.as_ref().map(|drain| more.of_table(drain)),
        starvation_max: limits.measured.starvation_max.map(|time| more.of_time(time)),
        priority: limits.measured.priority.as_ref().map(|times| more.of_table(times)),
        ..limits.tolerated
    };
    for (contract, time_max) in
        [(DriveContract::Drain, 10), (DriveContract::Starvation, 50), (DriveContract::Priority, 4)]
    {
        for (excess, tolerated) in [(2, 1), (3, 1), (4, 0)] {
            let mut watch = ContractWatch::new(&limits);
            send(&mut watch, 0, &[0], Tag::Priority);
            back(&mut watch, time_max + excess, 0, Tag::Priority);
            let seen = seen(&watch, contract);
            assert_eq!((seen.overruns, seen.tolerated), (1, tolerated), "{contract:?} {excess}");
            assert_eq!(seen.has_void(), excess == 4);
        }
    }
    // This clock is read twice: first within the tolerance, then beyond it.
    let mut watch = ContractWatch::new(&limits);
    send(&mut watch, 0, &[0, 1], Tag::Simple);
    back(&mut watch, 17, 0, Tag::Simple);
    assert_eq!(seen(&watch, DriveContract::Drain).tolerated, 1);
    back(&mut watch, 19, 1, Tag::Simple);
    let drain = seen(&watch, DriveContract::Drain);
    assert_eq!((drain.overruns, drain.tolerated), (1, 0));
}
