// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: however the kernel sends, merges, splits, requeues and completes requests, each bio counts
//! once, from its queueing to its last sector. Method: a table of scripts. Each row has, for every
//! source, its class, its requests and their response times in us.

use tidegate_watch::Accounts;

use crate::common::{at, feed, watcher};

/// A row: the name, the script, the expected sources, and the expected number of incomplete bios.
type Case = (&'static str, &'static str, &'static [&'static str], usize);

const CASES: &[Case] = &[
    (
        "sent past the scheduler, as `none` does for an idle device",
        "1 queue R 100+8 a
         2 issue R 100+8
         9 complete R 100+8",
        &["a best-effort 1r 8"],
        0,
    ),
    (
        "the class of the request counts, not that of the thread",
        "1 queue R 100+8 a
         2 issue R 100+8 rt
         9 complete R 100+8",
        &["a realtime 1r 8"],
        0,
    ),
    (
        "two bios are merged into one request, in front and behind",
        "1 queue W 108+8 a
         2 queue W 116+8 b
         3 queue W 100+8 c
         4 issue W 100+24 be
         9 complete W 100+24",
        &["a best-effort 1w 8", "b best-effort 1w 7", "c best-effort 1w 6"],
        0,
    ),
    (
        "a bio is split into three requests that complete in another order",
        "1 queue R 100+24 a
         2 issue R 100+8
         2 issue R 108+8
         2 issue R 116+8
         5 complete R 116+8
         6 complete R 100+8
         9 complete R 108+8",
        &["a best-effort 1r 8"],
        0,
    ),
    (
        "a split bio's end is merged with another bio",
        "1 queue R 100+12 a
         2 queue R 112+8 b
         3 issue R 100+8
         3 issue R 108+12
         5 complete R 108+12
         9 complete R 100+8",
        &["a best-effort 1r 8", "b best-effort 1r 3"],
        0,
    ),
    (
        "a request is completed in parts",
        "1 queue R 100+8 a
         2 issue R 100+8
         5 complete R 100+3
         9 complete R 103+5",
        &["a best-effort 1r 8"],
        0,
    ),
    (
        "a request is taken back and sent again",
        "1 queue R 100+8 a
         2 issue R 100+8
         3 requeue R 100+8
         6 issue R 100+8 rt
         9 complete R 100+8",
        &["a realtime 1r 8"],
        0,
    ),
    (
        "a failed request counts, and a read is no write of the same sectors",
        "1 queue R 100+8 a
         1 queue W 100+8 b
         2 issue W 100+8
         3 issue R 100+8
         5 complete W 100+8
         9 complete R 100+8 failed",
        &["a best-effort 1r 8 failed", "b best-effort 1w 4"],
        0,
    ),
    (
        "a program waits for a flush: the kernel's own flush has no place, and the answer no letter",
        "1 queue FWS 0+0 a
         2 issue FF 0+0
         7 complete FF 18446744073709551615+0
         8 complete WS 0+0",
        &["a best-effort 1o 7"],
        0,
    ),
    (
        "a forced write to a device that forces it counts until its data is there",
        "1 queue FWFS 100+8 a
         2 issue FF 0+0
         4 complete FF 18446744073709551615+0
         5 issue WFS 100+8
         7 complete WFS 100+8
         9 complete WFS 100+0",
        &["a best-effort 1w 6"],
        0,
    ),
    (
        "a forced write to a device that cannot force it counts until the flush behind it",
        "1 queue FWFS 800+8 a
         2 issue FF 0+0
         4 complete FF 18446744073709551615+0
         5 issue WS 800+8
         20 complete WS 800+8
         21 issue FF 0+0
         60 complete FF 18446744073709551615+0
         60 complete WS 808+0",
        &["a best-effort 1w 59"],
        0,
    ),
    (
        "the kernel that names the first sector behind the flush, and a write in two requests",
        "1 queue WFS 800+16 a
         5 issue WS 800+8
         5 issue WS 808+8
         20 complete WS 800+8
         30 complete WS 808+8
         60 complete WS 800+0
         70 complete WS 808+0",
        &["a best-effort 1w 69"],
        0,
    ),
    (
        "a requeued neighbour of a forced write takes no flush from it",
        "1 queue WFS 800+8 a
         1 queue WFS 808+8 b
         5 issue WS 800+8
         5 issue WS 808+8
         6 requeue WS 808+8
         20 complete WS 800+8
         60 complete WS 800+0
         61 issue WS 808+8
         70 complete WS 808+8
         90 complete WS 808+0",
        &["a best-effort 1w 59", "b best-effort 1w 89"],
        0,
    ),
    (
        "a bio that the kernel ends without a request, because its program will not wait, is none",
        "1 queue R 100+8 a
         1 end R 100+8
         2 queue R 100+8 a
         3 issue R 100+8
         9 complete R 100+8",
        &["a best-effort 1r 7"],
        0,
    ),
    (
        "of equal bios, the one that ends without a request is the newest that was not sent",
        "1 queue R 100+8 a
         2 issue R 100+8
         3 queue R 100+8 b
         4 end R 100+8
         9 complete R 100+8",
        &["a best-effort 1r 8"],
        0,
    ),
    (
        "equal sectors at once: each completion is one of them, the oldest first",
        "1 queue R 100+8 a
         2 queue R 100+8 b
         3 issue R 100+8
         4 issue R 100+8
         6 complete R 100+8
         9 complete R 100+8",
        &["a best-effort 1r 5", "b best-effort 1r 7"],
        0,
    ),
    (
        "overlapping sectors at once: a completion is that of the bio that it covers exactly",
        "1 queue R 100+64 a
         2 queue R 100+8 b
         3 issue R 100+64
         3 issue R 100+8
         5 complete R 100+8
         9 complete R 100+64",
        &["a best-effort 1r 8", "b best-effort 1r 3"],
        0,
    ),
    (
        "commands past the scheduler are no program's requests",
        "1 issue N 0+0
         9 complete N 18446744073709551615+0",
        &[],
        0,
    ),
    (
        "requests from before the watch have no known begin",
        "1 issue R 100+8
         5 complete R 100+8
         6 complete R 200+8",
        &[],
        0,
    ),
    (
        "a discard has no data",
        "1 queue DS 100+800 a
         2 issue DS 100+800
         9 complete DS 100+800",
        &["a best-effort 1o 8"],
        0,
    ),
    (
        "requests that are not complete are left",
        "1 queue R 100+8 a
         1 queue R 108+8 a
         2 issue R 100+16
         9 complete R 100+8",
        &["a best-effort 1r 8"],
        1,
    ),
    (
        "lost events: requests from before have no known end, later ones count",
        "1 queue R 100+8 a
         2 issue R 100+8
         3 lose 5
         4 queue R 200+8 b
         5 issue R 200+8
         6 complete R 100+8
         9 complete R 200+8",
        &["b best-effort 1r 5"],
        0,
    ),
    (
        "an event that comes late does not move time backwards",
        "5 queue R 100+8 a
         4 issue R 100+8
         3 complete R 100+8",
        &["a best-effort 1r 0"],
        0,
    ),
];

/// Returns a line for each source: name, class, requests by kind, and the response times if there
/// are any.
fn lines(accounts: &Accounts) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (source, account) in accounts.rows() {
        let kinds = [(account.reads, "r"), (account.writes, "w"), (account.others, "o")];
        let kinds = kinds.iter().filter(|(count, _)| *count > 0);
        let kinds: Vec<_> = kinds.map(|(count, kind)| format!("{count}{kind}")).collect();
        let kinds = kinds.concat();
        let response = account.responses.max().unwrap().ns() / 1_000;
        let failed = if account.failed > 0 { " failed" } else { "" };
        lines.push(format!("{} {} {kinds} {response}{failed}", source.name, source.class.name()));
    }
    lines.sort();
    lines
}

#[test]
fn each_request_counts_once_whatever_the_kernel_does_with_it() {
    for (name, script, sources, left) in CASES {
        let mut watcher = watcher(None, None);
        feed(&mut watcher, script);
        let seen = watcher.seen(at(10));
        assert_eq!(lines(seen.accounts), *sources, "{name}");
        assert_eq!(seen.pending, *left, "{name}");
    }
}

#[test]
fn losses_and_requests_of_unknown_begin_are_told() {
    let mut watcher = watcher(None, None);
    feed(
        &mut watcher,
        "1 issue R 100+8
         2 queue R 200+8 a
         3 lose 5
         4 issue R 200+8",
    );
    let seen = watcher.seen(at(10));
    assert_eq!((seen.lost, seen.unfinished, seen.foreign_sectors), (5, 1, 16));
}

/// Goal: bios whose completion never comes are given up. Method: a bio that waits for five minutes,
/// and more bios than can be followed.
#[test]
fn bios_without_an_end_are_given_up() {
    let mut watcher = watcher(None, None);
    feed(&mut watcher, "1 queue R 100+8 a\n1 queue FWS 0+0 a\n300000002 queue R 100+8 b");
    let seen = watcher.seen(at(300_000_002));
    assert_eq!((seen.pending, seen.unfinished), (1, 2));
    feed(&mut watcher, "300000003 issue R 100+8\n300000009 complete R 100+8");
    assert_eq!(lines(watcher.seen(at(10)).accounts), ["b best-effort 1r 7"]);
    for place in 0..70_000 {
        feed(&mut watcher, &format!("300000010 queue R {}+8 a", place * 8));
    }
    let seen = watcher.seen(at(10));
    assert_eq!((seen.pending, seen.unfinished), (1 << 16, 2 + 70_000 - (1 << 16)));
}
