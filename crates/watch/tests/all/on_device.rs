// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the device is compared with its tables only while the number of its requests is known;
//! flushes, commands and requeues are reported. Method: scripts, and tables of a few us.

use tidegate_host::Overruns;
use tidegate_model::{BatchTable, DriveContract, DriveLimits};

use crate::common::{at, feed, us, watcher};

/// Returns limits with drain(1) = 10 us and drain(2) = 20 us, and the same for b.
pub(crate) fn limits() -> DriveLimits {
    let table = BatchTable::new(&[us(10), us(20)]).unwrap();
    let mut limits = DriveLimits::of_table(table.clone());
    limits.measured.drain = Some(table.clone());
    limits.tolerated.drain = Some(table);
    limits
}

fn drains(script: &str) -> Overruns {
    let limits = limits();
    let mut watcher = watcher(None, Some(&limits));
    feed(&mut watcher, script);
    let seen = watcher.seen(at(10));
    seen.device.contracts().unwrap().overruns(DriveContract::Drain).unwrap()
}

/// One request that only starts the period after which the count is trusted.
const BEGIN: &str = "1 issue R 900+8\n2 complete R 900+8\n";

#[test]
fn requests_that_stay_too_long_are_overruns_once_the_count_is_trusted() {
    let long = "issue R 100+8\n{b} complete R 100+8\n";
    let script = |from: u64, took: u64| {
        format!("{BEGIN}{from} {}", long.replace("{b}", &(from + took).to_string()))
    };
    for (from, took, observed, overruns) in
        [(1_000, 500, 0, 0), (1_000_001, 10, 1, 0), (1_000_001, 11, 1, 1)]
    {
        let seen = drains(&script(from, took));
        assert_eq!((seen.observed, seen.overruns), (observed, overruns), "{from} {took}");
    }
}

/// Goal: a completion without a dispatch, or a loss of events, makes the count unknown for a
/// second. Requests that are on the device when that second ends are counted.
#[test]
fn doubt_ends_a_second_after_its_cause() {
    for cause in ["2000000 complete R 500+8", "2000000 lose 1"] {
        let during = "2000010 issue R 100+8\n2000900 complete R 100+8";
        let seen = drains(&format!("{BEGIN}{cause}\n{during}"));
        assert_eq!((seen.observed, seen.overruns), (0, 0), "{cause}");
        let after = "3000100 issue R 100+8\n3000119 complete R 100+8";
        let seen = drains(&format!("{BEGIN}{cause}\n{during}\n{after}"));
        assert_eq!((seen.observed, seen.overruns, seen.max), (1, 1, us(9)), "{cause}");
        let on_device = "2999990 issue R 100+8\n3000100 issue R 200+8\n3000119 complete R 100+8\n\
                         3000122 complete R 200+8";
        let seen = drains(&format!("{BEGIN}{cause}\n{during}\n{on_device}"));
        assert_eq!((seen.observed, seen.overruns, seen.max), (2, 1, us(2)), "{cause}");
    }
}

/// A flush is not compared with the tables, and a request that the kernel took back is no longer on
/// the device.
#[test]
fn flushes_commands_and_requeues_are_told_apart() {
    let limits = limits();
    let mut watcher = watcher(None, Some(&limits));
    feed(
        &mut watcher,
        "1 issue R 900+8
         2 complete R 900+8
         2000000 issue FF 0+0
         2000001 issue N 0+0
         2000002 issue R 100+8
         2000003 requeue R 100+8
         2000007 complete N 18446744073709551615+0
         2000040 complete FF 18446744073709551615+0
         2000041 issue R 100+8
         2000045 complete R 100+3
         2000051 complete R 103+5",
    );
    let seen = watcher.seen(at(10));
    let record = seen.device.record();
    assert_eq!((record.flushes, record.flush_max), (1, Some(us(40))));
    assert_eq!((record.passthrough, record.passthrough_max), (1, Some(us(6))));
    assert_eq!((record.requeued, record.foreign, record.in_flight_max), (1, 0, 3));
    let drains = seen.device.contracts().unwrap().overruns(DriveContract::Drain).unwrap();
    assert_eq!((drains.observed, drains.overruns), (2, 0));
}

/// A command with which the device writes zeroes has a place, and is not counted as passthrough.
#[test]
fn zeroes_are_no_commands() {
    let mut watcher = watcher(None, None);
    feed(
        &mut watcher,
        "1 queue N 100+800 a\n2 issue N 100+800\n3 issue N 0+0\n4 complete N 18446744073709551615+0\n\
         9 complete N 100+800",
    );
    let seen = watcher.seen(at(10));
    assert_eq!(seen.device.record().passthrough, 1);
    assert_eq!((seen.accounts.requests(), seen.pending, seen.foreign_sectors), (1, 0, 0));
    assert_eq!(seen.accounts.rows()[0].1.bytes, 0);
}
