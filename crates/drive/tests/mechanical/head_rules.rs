// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The queue's order, the heads' next action, and when a sector may leave the drive.
//!
//! Times are those of the disk in `disk_support.rs`, with or without memory.

use tidegate_drive::Drive;
use tidegate_model::mechanics::{
    Bus, Faults, Layout, Mechanics, Overhead, ReadAhead, Scheduler, WriteBack,
};
use tidegate_model::{Request, RequestId, Tag};

use crate::disk_support::{Host, plain, read, us, write};
use crate::memory::with_cache;
use crate::memory_rules::{at_of, switched};

fn ordered(request: Request) -> Request {
    Request { tag: Tag::Ordered, ..request }
}

/// No overheads; the host receives what is in memory at once.
fn without_overheads(mut mechanics: Mechanics) -> Mechanics {
    (mechanics.overhead, mechanics.bus) = (Overhead::default(), Bus::default());
    mechanics
}

/// Zero latency, and six sectors of skew between tracks: sector 100 begins at angle 6.
fn skewed() -> Mechanics {
    let mut mechanics = plain();
    mechanics.zero_latency = true;
    let Layout::Zones(zones) = &mut mechanics.layout else { unreachable!() };
    zones.zone[0].track_skew_millisectors = 6_000;
    mechanics
}

/// By distance both reads go before the write 95 cylinders away. Its seek takes 10.5 ms.
#[test]
fn flush_sends_its_destages_first() {
    let mut mechanics =
        switched(ReadAhead::Off, WriteBack::On, |cache| cache.writes_while_busy = true);
    mechanics.queue.scheduler = Scheduler::Sstf;
    for (flushes, write_is_first) in [(false, false), (true, true)] {
        let mut host = Host::new(&mechanics, 5);
        host.drive.submit(us(0), &[read(1, 0, 1)]);
        let mut done = Vec::new();
        host.drive.advance(us(1_000), &mut done);
        host.drive.submit(us(1_000), &[write(2, 19_000, 4), read(3, 20, 1), read(4, 40, 1)]);
        if flushes {
            host.drive.flush(us(1_000), RequestId(5));
        }
        host.drain(&mut done);
        let last_read = done.iter().rfind(|done| done.id == RequestId(4)).unwrap().at;
        assert_eq!(last_read > us(30_400), write_is_first, "{done:?}");
        let flushed = done.iter().find(|done| done.id == RequestId(5)).map(|done| done.at);
        assert_eq!(flushed, flushes.then_some(us(30_400)));
    }
}

/// Sector 5,000 has passed at 20.4 ms.
#[test]
fn write_does_not_pass_an_ordered_request() {
    let mechanics = switched(ReadAhead::Off, WriteBack::On, |cache| cache.writes_while_busy = true);
    let mut host = Host::new(&mechanics, 3);
    host.drive.submit(us(0), &[read(1, 90, 4), ordered(read(2, 5_000, 4))]);
    let done = host.serve(us(100), &[write(3, 5_000, 4)]);
    assert_eq!(done[..2], [(1, 9_410), (2, 20_410)]);
    assert!(at_of(&done, 3) > 20_410, "{done:?}");
}

#[test]
fn ordered_write_does_not_pass_earlier_requests() {
    let mechanics = switched(ReadAhead::Off, WriteBack::On, |cache| cache.writes_while_busy = true);
    let mut host = Host::new(&mechanics, 2);
    host.drive.submit(us(0), &[read(1, 90, 4)]);
    let done = host.serve(us(100), &[ordered(write(2, 5_000, 4))]);
    assert_eq!(done[0], (1, 9_410));
    assert!(at_of(&done, 2) > 9_410, "{done:?}");
}

/// Sector 10 is in memory; the heads are busy with sector 89 until 109.01 ms.
fn busy_beside_hits(simple_only: bool) -> Host {
    let mut mechanics =
        switched(ReadAhead::Off, WriteBack::Off, |cache| cache.hits_while_busy = true);
    mechanics.queue.simple_only = simple_only;
    let mut host = Host::new(&mechanics, 3);
    host.done_at(us(0), read(1, 10, 1));
    host.drive.submit(us(100_000), &[read(2, 89, 1)]);
    host
}

#[test]
fn ordered_read_waits_though_it_is_in_memory() {
    let done = busy_beside_hits(false).serve(us(101_000), &[ordered(read(3, 10, 1))]);
    assert_eq!(done, [(2, 109_010), (3, 109_020)]);
}

#[test]
fn hit_does_not_pass_an_ordered_request_that_waits() {
    let batch = [ordered(read(3, 5_000, 1)), read(4, 10, 1)];
    let done = busy_beside_hits(false).serve(us(101_000), &batch);
    assert_eq!(done.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn drive_without_tags_takes_ordered_requests_as_simple() {
    let done = busy_beside_hits(true).serve(us(101_000), &[ordered(read(3, 10, 1))]);
    assert_eq!(at_of(&done, 3), 101_210, "a hit like any other");
    let mut mechanics = plain();
    mechanics.queue.scheduler = Scheduler::Sstf;
    mechanics.queue.simple_only = true;
    let batch = [read(1, 19_000, 1), ordered(read(2, 10_000, 1)), read(3, 200, 1)];
    let done = Host::new(&mechanics, 3).serve(us(0), &batch);
    assert_eq!(done.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [3, 2, 1]);
}

/// Sector 300 is one cylinder away and 19,000 is 95: the near one is always first.
#[test]
fn requests_of_one_instant_are_one_batch() {
    let mut mechanics = plain();
    mechanics.queue.scheduler = Scheduler::Sstf;
    let mut host = Host::new(&mechanics, 2);
    host.drive.submit(us(0), &[read(1, 19_000, 1)]);
    host.drive.submit(us(0), &[read(2, 300, 1)]);
    let mut done = Vec::new();
    host.drain(&mut done);
    let done: Vec<_> = done.iter().map(|done| (done.id.0, done.at)).collect();
    assert_eq!(done, [(2, us(10_100)), (1, us(30_100))]);
}

/// At 5 ms the head is within sectors 0 to 97; a write begins with the first, 5 ms later.
#[test]
fn satf_knows_that_writes_begin_with_their_first_sector() {
    let mut mechanics = plain();
    mechanics.zero_latency = true;
    mechanics.queue.scheduler = Scheduler::Satf;
    let done = Host::new(&mechanics, 2).serve(us(5_000), &[write(1, 0, 98), write(2, 60, 1)]);
    assert_eq!(done, [(2, 6_100), (1, 19_800)]);
}

/// At 5 ms the head is within sectors 20 to 79: they cost a turn minus their 6 ms, and sector 0
/// costs 5 ms.
#[test]
fn satf_knows_that_reads_begin_in_their_middle() {
    let mut mechanics = plain();
    mechanics.zero_latency = true;
    mechanics.queue.scheduler = Scheduler::Satf;
    let done = Host::new(&mechanics, 2).serve(us(5_000), &[read(1, 20, 60), read(2, 0, 1)]);
    assert_eq!(done, [(1, 15_000), (2, 20_100)]);
}

/// Read-ahead ended at 10 ms with sector 99. Sector 100 passes at 110 ms, and 1,050, five
/// cylinders away, at 105 ms.
#[test]
fn satf_does_not_take_heads_that_stopped_for_heads_on_their_way() {
    let mut mechanics = without_overheads(with_cache(ReadAhead::Track, WriteBack::Off));
    mechanics.queue.scheduler = Scheduler::Satf;
    let mut host = Host::new(&mechanics, 2);
    host.done_at(us(0), read(1, 10, 4));
    let done = host.serve(us(101_000), &[read(2, 100, 1), read(3, 1_050, 1)]);
    assert_eq!(done, [(3, 105_100), (2, 110_100)]);
}

/// At 15 ms the heads are at sector 50 and recalibrate until 18 ms: the sector returns at 25 ms.
#[test]
fn recalibration_delays_heads_that_read_ahead() {
    let mut mechanics = without_overheads(with_cache(ReadAhead::Track, WriteBack::Off));
    mechanics.faults = Some(Faults {
        recalibration_ppm: 1_000_000,
        recalibration_ns: 3_000_000,
        ..Faults::default()
    });
    let mut host = Host::new(&mechanics, 1);
    assert_eq!(host.done_at(us(0), read(1, 10, 4)), 11_400);
    assert_eq!(host.done_at(us(15_000), read(2, 50, 2)), 25_200);
}

/// Sectors 50 to 99 pass first, and sector 0 has passed at 10.1 ms: then 0.2 ms for each sector.
#[test]
fn sector_leaves_after_it_has_passed() {
    let mut mechanics = plain();
    mechanics.zero_latency = true;
    mechanics.bus.read_sector_ps = 200_000_000;
    assert_eq!(Host::new(&mechanics, 1).done_at(us(5_000), read(1, 0, 100)), 30_100);
    let mut skewed = skewed();
    skewed.bus.read_sector_ps = 200_000_000;
    let done_at = Host::new(&skewed, 1).done_at(us(7_000), read(1, 50, 70));
    assert_eq!(done_at, 29_100, "sector 50 has passed at 15.1 ms, over two tracks");
}

/// Sectors 70 to 99 pass at 7 ms, 100 to 119 at 10.6 ms, 50 to 69 at 15 ms. In order the
/// second track would be reached at 20.6 ms.
#[test]
fn zero_latency_read_over_two_tracks_begins_in_the_middle_of_the_first() {
    assert_eq!(Host::new(&skewed(), 1).done_at(us(7_000), read(1, 50, 70)), 17_000);
}

/// The other head is in use at 2 ms and reaches sectors 114 to 119; 50 to 99 pass at 5 ms and 100
/// to 113 at 10.6 ms. In order the last would have passed at 12.6 ms.
#[test]
fn zero_latency_read_over_two_tracks_begins_on_the_second() {
    assert_eq!(Host::new(&skewed(), 1).done_at(us(1_500), read(1, 50, 70)), 12_000);
}

/// Of the seventy sectors the front of the first track arrives last, at 17 ms.
#[test]
fn watermark_waits_for_the_sectors_that_pass_last() {
    let mut mechanics = skewed();
    mechanics.bus.read_watermark_ppm = 1_000_000;
    assert_eq!(Host::new(&mechanics, 1).done_at(us(7_000), read(1, 50, 70)), 17_000);
}

/// At 10 ms read-ahead moves to the next cylinder and arrives at 11.1 ms; the way back takes 1.1
/// ms more, so sector 20 is missed at 12 ms.
#[test]
fn seek_that_has_begun_is_finished_first() {
    let mut host = Host::new(&with_cache(ReadAhead::Segment, WriteBack::Off), 1);
    assert_eq!(host.done_at(us(0), read(1, 190, 4)), 9_410);
    assert_eq!(host.done_at(us(10_500), read(2, 20, 1)), 22_110);
}

/// Cylinder 10 is 2 ms away: sector 25 there is reached at 2.5 ms.
#[test]
fn write_takes_its_least_seek_unless_it_goes_on() {
    let mut mechanics = plain();
    mechanics.write_seek_ns_min = 3_000_000;
    assert_eq!(Host::new(&mechanics, 1).done_at(us(0), write(1, 2_025, 1)), 12_600);
    let done = Host::new(&mechanics, 2).serve(us(0), &[write(1, 2_040, 1), write(2, 2_041, 1)]);
    assert_eq!(done, [(1, 4_100), (2, 4_200)], "the second is next under the head");
}

/// The last of ten sectors arrives at 2 ms, when the tenth from 11 begins, not the tenth from 10.
#[test]
fn write_waits_a_turn_rather_than_for_its_data() {
    let mut mechanics = plain();
    mechanics.bus.write_sector_ps = 200_000_000;
    assert_eq!(Host::new(&mechanics, 1).done_at(us(0), write(1, 10, 10)), 12_000);
    assert_eq!(Host::new(&mechanics, 1).done_at(us(0), write(1, 11, 10)), 2_100);
}

/// A drive with memory processes every command like a hit: sector 1 has passed by then.
#[test]
fn the_cost_of_a_hit_remains_if_the_heads_hardly_move() {
    let back = with_cache(ReadAhead::Off, WriteBack::On);
    assert_eq!(Host::new(&back, 1).done_at(us(0), read(1, 1, 1)), 10_210);
    let through = Request { fua: true, ..write(1, 1, 1) };
    assert_eq!(Host::new(&back, 1).done_at(us(0), through), 10_200);
}
