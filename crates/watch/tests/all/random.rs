// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: for any stream of events, each request is counted once, and its response is the time from
//! queueing to completion. Method: a random block layer that queues adjacent bios, cuts their
//! sectors into requests without regard to their borders, requeues some requests, and completes
//! requests in any order and in parts. The expected responses follow from the rule itself.

use proptest::prelude::*;
use tidegate_watch::{Event, EventKind, Operation};

use crate::common::{at, extent, submitter, watcher};

/// A range of sectors: the lengths of its bios and of its requests, and the fates of the requests.
#[derive(Debug, Clone)]
struct Stretch {
    bios: Vec<u64>,
    /// For each request: its length, a number that determines the order of completion, the length
    /// of its first part, and whether it is requeued once.
    requests: Vec<(u64, u16, u64, bool)>,
    writes: bool,
}

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let requests =
        prop::collection::vec((1_u64..16, any::<u16>(), 0_u64..16, any::<bool>()), 1..12);
    let stretch = (prop::collection::vec(1_u64..16, 1..8), requests, any::<bool>());
    let stretch = stretch.prop_map(|(bios, requests, writes)| Stretch { bios, requests, writes });
    prop::collection::vec(stretch, 1..4)
}

/// Cuts a range into pieces of these lengths as far as it reaches; the rest is one more piece.
fn cut(start: u64, end: u64, lengths: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut cuts = Vec::new();
    let mut from = start;
    for length in lengths {
        let to = (from + length).min(end);
        if from < to {
            cuts.push((from, to));
        }
        from = to;
    }
    if from < end {
        cuts.push((from, end));
    }
    cuts
}

proptest! {
    #[test]
    fn each_bio_is_served_once_after_its_last_sector(stretches in stretches()) {
        let mut clock = 0;
        let mut watcher = watcher(None, None);
        let mut completions = Vec::new();
        let mut bios = Vec::new();
        for (index, stretch) in (0_u64..).zip(&stretches) {
            let op = if stretch.writes { Operation::Write } else { Operation::Read };
            let start = index * 1_000;
            let end = start + stretch.bios.iter().sum::<u64>();
            for (from, to) in cut(start, end, stretch.bios.iter().copied()) {
                clock += 1;
                let kind = EventKind::Queued { extent: extent(op, from, to - from), by: submitter("a"), is_forced: false };
                watcher.observe(Event { at: at(clock), kind });
                bios.push((op, from, to, clock));
            }
            let lengths = stretch.requests.iter().map(|request| request.0);
            let cuts = cut(start, end, lengths).into_iter();
            let fates = stretch.requests.iter().copied().chain([(0, 0, 0, false)]);
            for ((from, to), (_, turn, part, is_taken_back)) in cuts.zip(fates) {
                let extent_of = extent(op, from, to - from);
                let sent = EventKind::Issued { extent: extent_of, class: None, is_forced: false };
                let mut kinds = vec![sent.clone()];
                if is_taken_back {
                    kinds.extend([EventKind::Requeued { extent: extent_of }, sent]);
                }
                for kind in kinds {
                    clock += 1;
                    watcher.observe(Event { at: at(clock), kind });
                }
                let middle = (from + part).min(to);
                completions.push((turn, op, from, middle, to));
            }
        }
        completions.sort_unstable_by_key(|it| (it.0, it.2));
        let mut done = Vec::new();
        for (_, op, from, middle, to) in completions {
            for (from, to) in [(from, middle), (middle, to)].into_iter().filter(|(a, b)| a < b) {
                clock += 1;
                let kind = EventKind::Completed { extent: extent(op, from, to - from), is_failed: false };
                watcher.observe(Event { at: at(clock), kind });
                done.push((op, from, to, clock));
            }
        }
        let mut responses: Vec<u64> = bios.iter().map(|(op, from, to, queued)| {
            let touches = |it: &&(Operation, u64, u64, u64)| it.0 == *op && it.1 < *to && *from < it.2;
            done.iter().filter(touches).map(|it| it.3).max().unwrap() - queued
        }).collect();
        responses.sort_unstable();
        let seen = watcher.seen(at(clock));
        let rows = seen.accounts.rows();
        prop_assert_eq!(rows.len(), 1);
        let account = rows[0].1;
        prop_assert_eq!(account.responses.count(), bios.len() as u64);
        prop_assert_eq!(account.responses.min().unwrap().ns(), responses[0] * 1_000);
        prop_assert_eq!(account.responses.max().unwrap().ns(), responses[responses.len() - 1] * 1_000);
        let mean = responses.iter().sum::<u64>() * 1_000 / bios.len() as u64;
        prop_assert_eq!(account.responses.mean().unwrap().ns(), mean);
        let bytes = bios.iter().map(|(_, from, to, _)| (to - from) * 512).sum::<u64>();
        prop_assert_eq!(account.bytes, bytes);
        prop_assert_eq!((seen.pending, seen.foreign_sectors, seen.device.record().foreign), (0, 0, 0));
    }
}
