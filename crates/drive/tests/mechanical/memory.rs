// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's memory: read-ahead, hits, write-back, flushes.

use tidegate_drive::Drive;
use tidegate_model::mechanics::{Bus, Mechanics, Overhead, ReadAhead, Scheduler, WriteBack};
use tidegate_model::{Request, RequestId, Time};

use crate::disk_support::{Host, cache, plain, read, us, write};

/// A hit is processed in 0.2 ms and each sector takes 0.01 ms on the bus.
pub(crate) fn with_cache(read_ahead: ReadAhead, write_back: WriteBack) -> Mechanics {
    Mechanics {
        cache: Some(cache(read_ahead, write_back)),
        overhead: Overhead {
            read_hit_after_read_ns: 200_000,
            read_hit_after_write_ns: 200_000,
            write_hit_after_read_ns: 200_000,
            write_hit_after_write_ns: 200_000,
            ..Overhead::default()
        },
        bus: Bus { read_sector_ps: 10_000_000, write_sector_ps: 10_000_000, ..Bus::default() },
        ..plain()
    }
}

#[test]
fn read_ahead_sectors_are_served_from_memory() {
    let mut host = Host::new(&with_cache(ReadAhead::Track, WriteBack::Off), 1);
    assert_eq!(host.done_at(us(0), read(1, 10, 4)), 1_410);
    assert_eq!(host.done_at(us(20_000), read(2, 14, 4)), 20_240, "0.2 ms and 4 sectors");
    assert_eq!(host.done_at(us(30_000), read(3, 96, 4)), 30_240, "to the end of the track");
    assert_eq!(host.done_at(us(40_000), read(4, 100, 1)), 50_110, "the other head: a turn");
}

#[test]
fn without_read_ahead_only_read_sectors_are_in_memory() {
    let mut host = Host::new(&with_cache(ReadAhead::Off, WriteBack::Off), 1);
    host.done_at(us(0), read(1, 10, 4));
    assert_eq!(host.done_at(us(20_000), read(2, 11, 2)), 20_220);
    assert_eq!(host.done_at(us(30_000), read(3, 14, 1)), 31_510);
}

/// Sectors 14 to 19 are available when they have passed the head, not before.
#[test]
fn read_of_what_is_being_read_ahead_streams() {
    let mut host = Host::new(&with_cache(ReadAhead::Track, WriteBack::Off), 1);
    host.done_at(us(0), read(1, 10, 4));
    assert_eq!(host.done_at(us(1_650), read(2, 14, 6)), 2_010, "the last passes at 2 ms");
}

#[test]
fn read_ahead_of_a_segment_goes_on_over_tracks() {
    let mut host = Host::new(&with_cache(ReadAhead::Segment, WriteBack::Off), 1);
    host.done_at(us(0), read(1, 10, 4));
    assert_eq!(host.done_at(us(100_000), read(2, 250, 4)), 100_240);
    let mut host = Host::new(&with_cache(ReadAhead::Cylinder, WriteBack::Off), 1);
    host.done_at(us(0), read(1, 10, 4));
    assert_eq!(host.done_at(us(100_000), read(2, 150, 4)), 100_240);
    assert!(host.done_at(us(200_000), read(3, 250, 4)) > 200_240, "the next cylinder");
}

#[test]
fn adaptive_read_ahead_goes_one_track_further_along_a_stream() {
    let mut host = Host::new(&with_cache(ReadAhead::Adaptive, WriteBack::Off), 1);
    host.done_at(us(0), read(1, 10, 4));
    assert!(host.done_at(us(100_000), read(2, 100, 4)) > 100_240, "the next track is not there");
    let mut host = Host::new(&with_cache(ReadAhead::Adaptive, WriteBack::Off), 1);
    host.done_at(us(0), read(1, 90, 20));
    assert_eq!(host.done_at(us(100_000), read(2, 250, 4)), 100_240, "the read crossed a track");
}

#[test]
fn drive_that_gives_up_read_sectors_keeps_only_the_sectors_ahead() {
    let mut mechanics = with_cache(ReadAhead::Track, WriteBack::Off);
    mechanics.cache.as_mut().unwrap().gives_up_read = true;
    let mut host = Host::new(&mechanics, 1);
    host.done_at(us(0), read(1, 10, 4));
    assert_eq!(host.done_at(us(20_000), read(2, 14, 4)), 20_240);
    assert!(host.done_at(us(30_000), read(3, 10, 4)) > 30_240);
}

/// The head arrives at sector 0 and passes ten sectors before the requested one.
#[test]
fn drive_that_reads_on_arrival_keeps_the_sectors_before() {
    let mut mechanics = with_cache(ReadAhead::Off, WriteBack::Off);
    mechanics.cache.as_mut().unwrap().reads_on_arrival = true;
    let mut host = Host::new(&mechanics, 1);
    host.done_at(us(0), read(1, 10, 4));
    assert_eq!(host.done_at(us(20_000), read(2, 2, 4)), 20_240);
}

#[test]
fn oldest_segment_is_given_up() {
    let mut host = Host::new(&with_cache(ReadAhead::Off, WriteBack::Off), 1);
    host.done_at(us(0), read(1, 10, 1));
    host.done_at(us(50_000), read(2, 500, 1));
    host.done_at(us(100_000), read(3, 10, 1));
    host.done_at(us(150_000), read(4, 900, 1));
    assert_eq!(host.done_at(us(200_000), read(5, 10, 1)), 200_210, "used after the other");
    assert!(host.done_at(us(250_000), read(6, 500, 1)) > 250_210);
}

#[test]
fn write_back_answers_when_the_data_is_in_memory() {
    let mut host = Host::new(&with_cache(ReadAhead::Off, WriteBack::On), 2);
    assert_eq!(host.done_at(us(0), write(1, 5_000, 10)), 300);
    assert_eq!(host.done_at(us(100_000), read(2, 5_002, 2)), 100_220, "and can be read there");
}

#[test]
fn write_without_write_back_or_with_fua_waits_for_the_medium() {
    let through =
        Host::new(&with_cache(ReadAhead::Off, WriteBack::Off), 1).done_at(us(0), write(1, 50, 10));
    let fua = Host::new(&with_cache(ReadAhead::Off, WriteBack::On), 1)
        .done_at(us(0), Request { fua: true, ..write(1, 50, 10) });
    assert_eq!((through, fua), (6_000, 6_000));
}

/// One segment takes writes: while it is full, the next write waits for the medium.
#[test]
fn write_that_finds_no_room_waits_until_there_is() {
    let mut host = Host::new(&with_cache(ReadAhead::Off, WriteBack::On), 2);
    let done = host.serve(us(0), &[write(1, 50, 10), write(2, 5_050, 10)]);
    assert_eq!(done[0], (1, 300));
    // The first is on the medium at 6 ms; only then is the second taken, in 0.1 ms.
    assert_eq!(done[1], (2, 6_100));
}

/// By distance the third write would be served long before the second; but the second has waited
/// longer for room in memory.
#[test]
fn room_goes_to_the_write_that_has_waited_longest() {
    let mut mechanics = with_cache(ReadAhead::Off, WriteBack::On);
    mechanics.queue.scheduler = Scheduler::Sstf;
    let batch = [write(1, 50, 10), write(2, 15_000, 10), write(3, 150, 10), read(4, 300, 1)];
    let done = Host::new(&mechanics, 4).serve(us(0), &batch);
    let at = |id: u64| done.iter().find(|(of, _)| *of == id).unwrap().1;
    assert_eq!((at(1), at(2)), (300, 6_100), "taken when the first is on the medium");
    assert!(at(3) > at(2));
}

/// The second write continues the first and arrives in time: no turn is lost.
#[test]
fn writes_that_go_on_share_a_segment_and_stream() {
    let mut host = Host::new(&with_cache(ReadAhead::Off, WriteBack::On), 3);
    let done = host.serve(us(0), &[write(1, 50, 10), write(2, 60, 10)]);
    assert_eq!(done, [(1, 300), (2, 400)]);
    assert_eq!(flushed_at(&mut host, us(1_000)), 7_000);
}

#[test]
fn long_write_goes_through_the_segment() {
    let mut host = Host::new(&with_cache(ReadAhead::Off, WriteBack::On), 1);
    assert!(host.done_at(us(0), write(1, 0, 400)) > 40_000);
}

fn flushed_at(host: &mut Host, at: Time) -> u64 {
    let mut done = Vec::new();
    host.drive.advance(at, &mut done);
    host.drive.flush(at, RequestId(99));
    host.drain(&mut done);
    let flush = done.iter().find(|completion| completion.id == RequestId(99));
    flush.expect("it comes back").at.ns() / 1_000
}

#[test]
fn flush_waits_until_completed_writes_are_on_the_medium() {
    let mut host = Host::new(&with_cache(ReadAhead::Off, WriteBack::On), 2);
    assert_eq!(flushed_at(&mut host, us(0)), 0, "nothing to wait for");
    assert_eq!(host.done_at(us(10_000), write(1, 50, 10)), 10_300);
    assert_eq!(flushed_at(&mut host, us(10_400)), 16_000);
    assert_eq!(flushed_at(&mut host, us(20_000)), 20_000, "it is there already");
}

#[test]
fn write_makes_read_sectors_stale() {
    let mut host = Host::new(&with_cache(ReadAhead::Off, WriteBack::Off), 1);
    host.done_at(us(0), read(1, 10, 4));
    host.done_at(us(20_000), write(2, 12, 1));
    assert!(host.done_at(us(40_000), read(3, 10, 1)) > 40_210);
}

/// A hit that continues a hit costs 0.1 ms, one elsewhere the cost of a hit after a write.
#[test]
fn hits_cost_less_in_a_stream() {
    let mut mechanics = with_cache(ReadAhead::Track, WriteBack::Off);
    mechanics.overhead.read_hit_after_read_ns = 100_000;
    let mut host = Host::new(&mechanics, 1);
    host.done_at(us(0), read(1, 10, 4));
    assert_eq!(host.done_at(us(20_000), read(2, 14, 4)), 20_140);
    assert_eq!(host.done_at(us(30_000), read(3, 40, 4)), 30_240);
}

#[test]
fn hits_are_answered_beside_the_heads_only_where_the_drive_does_so() {
    let mut mechanics = with_cache(ReadAhead::Off, WriteBack::Off);
    for (beside, done_at) in [(false, 109_020), (true, 101_210)] {
        mechanics.cache.as_mut().unwrap().hits_while_busy = beside;
        let mut host = Host::new(&mechanics, 2);
        host.done_at(us(0), read(1, 10, 1));
        // The heads are busy with sector 89 until 109.01 ms.
        host.drive.submit(us(100_000), &[read(2, 89, 1)]);
        let done = host.serve(us(101_000), &[read(3, 10, 1)]);
        let hit = done.iter().find(|(id, _)| *id == 3).unwrap();
        assert_eq!(hit.1, done_at);
    }
}
