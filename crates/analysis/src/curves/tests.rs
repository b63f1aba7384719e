// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the line between curves is the one that a reader sees. Method: curves written by hand.

use tidegate_model::BatchTable;

use super::*;
use crate::{SporadicTask, System, Tasks, dqf};

fn line(requests: u64, from: u64, to: u64) -> Longest {
    Longest { requests, from: Duration::from_ns(from), to: Duration::from_ns(to) }
}

#[test]
fn the_longest_distance_is_the_first_of_equal_ones() {
    // 2 requests wait from 0 to 10, 3 from 5 to 20, and 5 from 9 to 24.
    let requested = [(0, 2), (5, 3), (9, 5)];
    let served = [(10, 2), (20, 4), (24, 6)];
    let found = longest(Reading::Distance, &requested, &served);
    assert_eq!(found, Some(line(3, 5, 20)));
}

#[test]
fn service_that_ends_early_or_precedes_requests_has_no_distance() {
    assert_eq!(longest(Reading::Distance, &[(0, 2)], &[(10, 1)]), None);
    assert_eq!(longest(Reading::Distance, &[(5, 2)], &[(4, 2)]), None);
}

#[test]
fn curves_meet_when_everything_requested_is_served() {
    let requested = [(0, 2), (20, 3)];
    let served = [(10, 1), (20, 2), (30, 3)];
    let meeting = |reading| longest(reading, &requested, &served);
    // The request at 20 still counts there, unless the window is half-open.
    assert_eq!(meeting(Reading::Meeting), Some(line(3, 0, 30)));
    assert_eq!(meeting(Reading::MeetingHalfOpen), Some(line(2, 0, 20)));
    assert_eq!(longest(Reading::Meeting, &[(0, 9)], &served), None);
}

#[test]
fn curves_that_show_another_bound_are_left_out() {
    let of = |ns| {
        let (requested, served) = (vec![(0, 2)], vec![(10, 2)]);
        let (bound, after) = (Duration::from_ns(ns), Duration::from_ns(3));
        Curves::showing(bound, Argument::Batches, requested, served, after)
    };
    assert!(of(12).is_none() && of(13).is_some() && of(14).is_none());
}

/// Goal: the curves of the bounds of chapter 9 show exactly these bounds. Method: many small
/// systems within their capacity; where the search for the least window is short, all these bounds
/// are drawn.
#[test]
fn curves_of_chapter_9_show_its_bounds() {
    let mut drawn = [0; 3];
    for period in (8..60).step_by(3) {
        for (requests, other) in [(1, 9), (2, 17), (3, 40), (2, 100)] {
            let task = |(requests, period)| {
                let period = Duration::from_ns(period);
                SporadicTask { requests, period, deadline: period }
            };
            let tasks = [(requests, period), (1, other), (2, 2 * other)].map(task);
            let table = BatchTable::new(&[5, 8, 9].map(Duration::from_ns)).unwrap();
            let tasks = Tasks::from(tasks.to_vec());
            let system = System { tasks, table, batch_max: 3, best_effort_fill: 0 };
            let bounds =
                [dqf::linear(&system), dqf::busy_interval(&system), dqf::min_period(&system)];
            let source = DualQueue::of_system(system);
            let drawings = [DualQueue::linear, DualQueue::busy_interval, DualQueue::min_period];
            for ((bound, draw), drawn) in bounds.into_iter().zip(drawings).zip(&mut drawn) {
                let bound = bound.ok().and_then(|verdicts| verdicts[0].bound());
                let Some(bound) = bound else { continue };
                let curves = draw(&source, bound).expect("short curves");
                assert_eq!(curves.longest.length().checked_add(curves.after), Some(bound));
                *drawn += 1;
            }
        }
    }
    assert!(drawn.iter().all(|&count| count > 20), "{drawn:?}");
}
