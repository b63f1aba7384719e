// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The switches and limits of the drive's memory, one by one: read-ahead, what is kept, hits
//! while the heads are busy, waits for the bus.
//!
//! Times are those of the disk in `disk_support.rs`: a sector passes in 0.1 ms, a hit is
//! processed in 0.2 ms, and the bus takes 0.01 ms for each sector.

use tidegate_drive::{Completion, Drive};
use tidegate_model::mechanics::{Cache, Faults, Mechanics, ReadAhead, WriteBack};
use tidegate_model::{Outcome, Request, RequestId, Time};

use crate::disk_support::{Host, read, us, write};
use crate::memory::with_cache;

/// Returns the same drive with other switches.
pub(crate) fn switched(
    read_ahead: ReadAhead,
    write_back: WriteBack,
    switch: impl FnOnce(&mut Cache),
) -> Mechanics {
    let mut mechanics = with_cache(read_ahead, write_back);
    switch(mechanics.cache.as_mut().expect("it was made with one"));
    mechanics
}

/// Returns when this request completed, in microseconds.
pub(crate) fn at_of(done: &[(u64, u64)], id: u64) -> u64 {
    done.iter().find(|(of, _)| *of == id).expect("it came back").1
}

/// Returns a disk on which every access to the medium fails at once.
fn broken(mut mechanics: Mechanics) -> Mechanics {
    mechanics.faults = Some(Faults { retry_ppm: 1_000_000, ..Faults::default() });
    mechanics
}

/// Returns the completions of these requests, failed or not.
fn outcomes(host: &mut Host, at: Time, give: impl FnOnce(&mut Host)) -> Vec<Completion> {
    let mut done = Vec::new();
    host.drive.advance(at, &mut done);
    assert_eq!(done, [], "nothing is left of what was before");
    give(host);
    host.drain(&mut done);
    done
}

/// The drive read up to sector 34 and stopped. The hit makes room for 20 more behind 18, but the
/// heads start only then: sector 37 has passed at 1003.8 ms.
#[test]
fn read_ahead_after_a_hit_begins_at_the_hit() {
    let mechanics = switched(ReadAhead::Segment, WriteBack::Off, |cache| {
        cache.read_ahead_sectors_max = Some(20);
    });
    let mut host = Host::new(&mechanics, 1);
    host.done_at(us(0), read(1, 10, 4));
    assert_eq!(host.done_at(us(1_000_500), read(2, 14, 4)), 1_000_740);
    assert_eq!(host.done_at(us(1_000_800), read(3, 34, 4)), 1_003_810);
}

/// Sectors 80 to 89 are in memory at 9 ms, and the bus carries the first read until 9.01 ms.
#[test]
fn hit_beside_the_heads_waits_for_a_running_read() {
    let mechanics = switched(ReadAhead::Off, WriteBack::Off, |cache| cache.hits_while_busy = true);
    let mut host = Host::new(&mechanics, 2);
    host.drive.submit(us(0), &[read(1, 80, 10)]);
    let done = host.serve(us(1_000), &[read(2, 80, 10)]);
    assert_eq!(done, [(1, 9_010), (2, 9_110)]);
}

#[test]
fn failed_destage_makes_the_next_flush_fail_and_no_other() {
    let mut host = Host::new(&broken(with_cache(ReadAhead::Off, WriteBack::On)), 2);
    let taken = outcomes(&mut host, us(0), |host| host.drive.submit(us(0), &[write(1, 50, 4)]));
    assert_eq!((taken[0].at, taken[0].outcome), (us(240), Outcome::Done), "the host believes it");
    let flush = |host: &mut Host, at| {
        let done = outcomes(host, at, |host| host.drive.flush(at, RequestId(2)));
        (done[0].at, done[0].outcome)
    };
    assert_eq!(flush(&mut host, us(1_000)), (us(5_400), Outcome::Failed), "waits and is told");
    assert_eq!(flush(&mut host, us(20_000)), (us(20_000), Outcome::Done), "said once");
}

#[test]
fn flush_long_after_a_failed_destage_fails_too() {
    let mut host = Host::new(&broken(with_cache(ReadAhead::Off, WriteBack::On)), 2);
    outcomes(&mut host, us(0), |host| host.drive.submit(us(0), &[write(1, 50, 4)]));
    let at = us(50_000);
    let done = outcomes(&mut host, at, |host| host.drive.flush(at, RequestId(2)));
    assert_eq!(done[0].outcome, Outcome::Failed);
}

/// Sectors 50 to 53 have passed at 55.4 ms, the second time no earlier than the first.
#[test]
fn failed_read_leaves_nothing_in_memory() {
    let mut host = Host::new(&broken(with_cache(ReadAhead::Off, WriteBack::Off)), 1);
    for (id, at) in [(1, us(0)), (2, us(50_000))] {
        let submit = |host: &mut Host| host.drive.submit(at, &[read(id, 50, 4)]);
        let done = outcomes(&mut host, at, submit);
        assert_eq!(done[0].outcome, Outcome::Failed);
        assert!(done[0].at.ns() - at.ns() >= 5_400_000, "{done:?}");
    }
}

/// The write makes the read segment stale while the heads read ahead into it.
#[test]
fn read_ahead_does_not_restore_stale_sectors() {
    let mechanics = switched(ReadAhead::Track, WriteBack::On, |cache| {
        cache.write_segment_apart = true;
        cache.read_hits_on_writes = false;
    });
    let mut host = Host::new(&mechanics, 2);
    host.done_at(us(0), read(1, 10, 4));
    host.done_at(us(5_000), write(2, 12, 1));
    assert_eq!(host.done_at(us(100_000), read(3, 10, 4)), 101_410);
}

/// The same while the heads are moving to the requested sectors.
#[test]
fn write_beside_a_read_makes_the_reads_sectors_stale() {
    let mechanics = switched(ReadAhead::Off, WriteBack::On, |cache| {
        cache.writes_while_busy = true;
        cache.write_segment_apart = true;
        cache.read_hits_on_writes = false;
    });
    let mut host = Host::new(&mechanics, 2);
    host.drive.submit(us(0), &[read(1, 50, 10)]);
    assert_eq!(at_of(&host.serve(us(1_000), &[write(2, 52, 1)]), 2), 1_210);
    assert_eq!(host.done_at(us(100_000), read(3, 50, 10)), 106_010);
}

/// The bus is as slow as the medium: 10 ms for each of two hits of 100 sectors.
#[test]
fn hits_share_the_bus() {
    let mut mechanics =
        switched(ReadAhead::Off, WriteBack::Off, |cache| cache.hits_while_busy = true);
    mechanics.bus.read_sector_ps = 100_000_000;
    let mut host = Host::new(&mechanics, 2);
    host.done_at(us(0), read(1, 0, 100));
    host.drive.submit(us(100_000), &[read(2, 0, 100)]);
    assert_eq!(host.serve(us(100_001), &[read(3, 0, 100)]), [(2, 110_200), (3, 120_200)]);
}

/// Two segments: without a separate one for writes both hold read data.
#[test]
fn segment_apart_for_writes_is_not_read_into() {
    for (apart, done_at) in [(false, 200_210), (true, 201_110)] {
        let mechanics = switched(ReadAhead::Off, WriteBack::Off, |cache| {
            cache.write_segment_apart = apart;
        });
        let mut host = Host::new(&mechanics, 1);
        host.done_at(us(0), read(1, 10, 1));
        host.done_at(us(50_000), read(2, 30, 1));
        assert_eq!(host.done_at(us(200_000), read(3, 10, 1)), done_at, "apart: {apart}");
    }
}

/// After a read elsewhere, a hit in a segment read up to sector 33: the heads return at once and
/// reach sector 34 long before it is requested, or return only when it is.
#[test]
fn idle_drive_reads_on_after_a_hit_only_where_it_does_so() {
    for (after_hits, done_at) in [(false, 123_810), (true, 120_240)] {
        let mechanics = switched(ReadAhead::Segment, WriteBack::Off, |cache| {
            cache.read_ahead_sectors_max = Some(20);
            cache.read_ahead_after_hits = after_hits;
        });
        let mut host = Host::new(&mechanics, 1);
        host.done_at(us(0), read(1, 10, 4));
        host.done_at(us(50_000), read(2, 500, 4));
        assert_eq!(host.done_at(us(100_000), read(3, 14, 4)), 100_240);
        assert_eq!(host.done_at(us(120_000), read(4, 34, 4)), done_at, "{after_hits}");
    }
}

/// The heads are busy with sector 89 until 9.01 ms.
#[test]
fn writes_are_taken_beside_the_heads_only_where_the_drive_does_so() {
    for (beside, done_at) in [(false, 9_110), (true, 1_300)] {
        let mechanics =
            switched(ReadAhead::Off, WriteBack::On, |cache| cache.writes_while_busy = beside);
        let mut host = Host::new(&mechanics, 2);
        host.drive.submit(us(0), &[read(1, 89, 1)]);
        let done = host.serve(us(1_000), &[write(2, 5_000, 10)]);
        assert_eq!(at_of(&done, 2), done_at, "beside: {beside}");
    }
}

#[test]
fn data_is_prepared_before_each_transfer() {
    let mut mechanics = with_cache(ReadAhead::Off, WriteBack::On);
    mechanics.overhead.data_preparation_ns = 50_000;
    let mut host = Host::new(&mechanics, 1);
    assert_eq!(host.done_at(us(0), read(1, 10, 1)), 1_160, "it has passed at 1.1 ms");
    assert_eq!(host.done_at(us(20_000), read(2, 10, 1)), 20_260, "0.2 + 0.05 + 0.01 ms");
    assert_eq!(host.done_at(us(40_000), write(3, 5_000, 10)), 40_350);
}

/// The head is at the sector when the read has been processed: 0.2 ms, two sectors.
#[test]
fn written_data_is_read_from_memory_only_where_the_drive_does_so() {
    for (hits, done_at) in [(false, 100_410), (true, 100_220)] {
        let mechanics =
            switched(ReadAhead::Off, WriteBack::On, |cache| cache.read_hits_on_writes = hits);
        let mut host = Host::new(&mechanics, 1);
        host.done_at(us(0), write(1, 5_000, 10));
        assert_eq!(host.done_at(us(100_000), read(2, 5_002, 2)), done_at, "hits: {hits}");
    }
}

/// The head arrives in the middle of sectors 20 to 79, and passes 0 to 19 on its way round.
/// Sectors 50 to 79 wait in memory until 49 has been sent at 15.01 ms.
#[test]
fn drive_that_reads_on_arrival_keeps_sectors_between_the_last_and_the_first() {
    let mut mechanics =
        switched(ReadAhead::Off, WriteBack::Off, |cache| cache.reads_on_arrival = true);
    mechanics.zero_latency = true;
    let mut host = Host::new(&mechanics, 1);
    assert_eq!(host.done_at(us(4_800), read(1, 20, 60)), 15_310);
    assert_eq!(host.done_at(us(30_000), read(2, 5, 4)), 30_240);
}

/// Forty sectors, read ahead to 54: sectors more than 40 before the end are gone.
#[test]
fn segment_slides_along_with_read_ahead() {
    let small = switched(ReadAhead::Segment, WriteBack::Off, |cache| cache.segment_sectors = 40);
    let mut host = Host::new(&small, 1);
    host.done_at(us(0), read(1, 10, 4));
    assert_eq!(host.done_at(us(50_000), read(2, 50, 4)), 50_240);
    assert_eq!(host.done_at(us(100_000), read(3, 10, 4)), 101_410);
}

#[test]
fn read_ahead_ends_after_its_most_sectors() {
    let mechanics = switched(ReadAhead::Segment, WriteBack::Off, |cache| {
        cache.read_ahead_sectors_max = Some(20);
    });
    let second = |start, sectors| {
        let mut host = Host::new(&mechanics, 1);
        host.done_at(us(0), read(1, 10, 4));
        host.done_at(us(50_000), read(2, start, sectors))
    };
    assert_eq!(second(32, 2), 50_220, "the last two");
    assert_eq!(second(34, 1), 53_510, "the one behind them");
}

/// The first write is on its way to the medium, far away, when its id is reused.
#[test]
fn number_of_an_answered_write_may_be_used_again() {
    let mut mechanics =
        switched(ReadAhead::Off, WriteBack::On, |cache| cache.writes_while_busy = true);
    mechanics.queue.scheduler = tidegate_model::mechanics::Scheduler::Sstf;
    let mut host = Host::new(&mechanics, 4);
    let mut done = Vec::new();
    host.drive.submit(us(0), &[read(1, 50, 1), write(7, 19_050, 10)]);
    host.drive.advance(us(300), &mut done);
    assert_eq!((done[0].id, done[0].at), (RequestId(7), us(300)));
    host.drive.submit(us(400), &[Request { fua: true, ..write(7, 70, 1) }]);
    host.drain(&mut done);
    assert_eq!((done[2].id, done[2].at), (RequestId(7), us(7_100)), "sector 70, near by");
    // 95 cylinders take 10.5 ms; sector 50 comes round at 25 ms.
    let at = us(8_000);
    let flushed = outcomes(&mut host, at, |host| host.drive.flush(at, RequestId(9)));
    assert_eq!(flushed[0].at, us(26_000));
}
