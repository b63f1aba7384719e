// SPDX-License-Identifier: MIT OR Apache-2.0
//! The drive's memory: read-ahead, hits, write-back, flushes, and its switches and limits one by
//! one.
//!
//! Times are those of the disk in `disk_support.rs`: a sector passes in 0.1 ms, a hit is
//! processed in 0.2 ms, and the bus takes 0.01 ms for each sector.

use tidegate_drive::Drive;
use tidegate_model::mechanics::{Mechanics, Scheduler};
use tidegate_model::{Request, RequestId};

use super::disk_support::{Host, plain, read, us, write};
use super::table::{changed, check};

/// Two segments of 300 sectors, at most one of them for writes; neither read-ahead nor write-back.
pub(crate) const CACHE: &str = "
    cache.segments = 2
    cache.segment_sectors = 300
    cache.write_segments = 1
    cache.read = true
    cache.read_hits_on_writes = true
";

/// Returns a disk with memory: a hit is processed in 0.2 ms, and each sector takes 0.01 ms on the
/// bus.
pub(crate) fn with_cache() -> Mechanics {
    let times = "
        overhead.read_hit_after_read_ns = 200_000
        overhead.read_hit_after_write_ns = 200_000
        overhead.write_hit_after_read_ns = 200_000
        overhead.write_hit_after_write_ns = 200_000
        bus.read_sector_ps = 10_000_000
        bus.write_sector_ps = 10_000_000
    ";
    changed(&plain(), &format!("{CACHE}{times}"))
}

#[test]
fn reads_come_from_memory_or_from_the_heads() {
    check(
        &with_cache(),
        r#"
        read-ahead sectors are served from memory
          with cache.read_ahead = "track"
          0 read 10+4 -> 1_410 |
            20_000 read 14+4 -> 20_240 |   // 0.2 ms and 4 sectors
            30_000 read 96+4 -> 30_240 |   // to the end of the track
            40_000 read 100+1 -> 50_110    // the other head: a turn

        without read-ahead only read sectors are in memory
          0 read 10+4 | 20_000 read 11+2 -> 20_220 | 30_000 read 14+1 -> 31_510

        // Sectors 14 to 19 are available when they have passed the head, not before: the last one
        // at 2 ms.
        read of what is being read ahead streams
          with cache.read_ahead = "track"
          0 read 10+4 | 1_650 read 14+6 -> 2_010

        read-ahead of a segment goes on over tracks, that of a cylinder to its end
          with cache.read_ahead = "segment"
          0 read 10+4 | 100_000 read 250+4 -> 100_240
          with cache.read_ahead = "cylinder"
          0 read 10+4 | 100_000 read 150+4 -> 100_240 | 200_000 read 250+4 -> > 200_240

        // The next track is not there, unless the read crossed a track.
        adaptive read-ahead goes one track further along a stream
          with cache.read_ahead = "adaptive"
          0 read 10+4 | 100_000 read 100+4 -> > 100_240
          0 read 90+20 | 100_000 read 250+4 -> 100_240

        drive that gives up read sectors keeps only the sectors ahead
          with cache.read_ahead = "track"; cache.gives_up_read = true
          0 read 10+4 | 20_000 read 14+4 -> 20_240 | 30_000 read 10+4 -> > 30_240

        // The head arrives at sector 0 and passes ten sectors before the requested one.
        drive that reads on arrival keeps the sectors before
          with cache.reads_on_arrival = true
          0 read 10+4 | 20_000 read 2+4 -> 20_240

        // The head arrives in the middle of sectors 20 to 79, and passes 0 to 19 on its way round.
        // Sectors 50 to 79 wait in memory until 49 has been sent at 15.01 ms.
        drive that reads on arrival keeps sectors between the last and the first
          with cache.reads_on_arrival = true; zero_latency = true
          4_800 read 20+60 -> 15_310 | 30_000 read 5+4 -> 30_240

        // Sector 10 is used after sector 500.
        oldest segment is given up
          0 read 10+1 | 50_000 read 500+1 | 100_000 read 10+1 | 150_000 read 900+1 |
            200_000 read 10+1 -> 200_210 | 250_000 read 500+1 -> > 250_210

        write makes read sectors stale
          0 read 10+4 | 20_000 write 12+1 | 40_000 read 10+1 -> > 40_210

        // A hit that continues a hit costs 0.1 ms, one elsewhere the cost of a hit after a write.
        hits cost less in a stream
          with cache.read_ahead = "track"; overhead.read_hit_after_read_ns = 100_000
          0 read 10+4 | 20_000 read 14+4 -> 20_140 | 30_000 read 40+4 -> 30_240

        // The heads are busy with sector 89 until 109.01 ms.
        hits are answered beside the heads only where the drive does so
          0 read 10+1 | 100_000 read 89+1 | 101_000 read 10+1 -> 109_020
          with cache.hits_while_busy = true
          0 read 10+1 | 100_000 read 89+1 | 101_000 read 10+1 -> 101_210

        // Sectors 80 to 89 are in memory at 9 ms, and the bus carries the first read until 9.01 ms.
        hit beside the heads waits for a running read
          with cache.hits_while_busy = true
          0 read 80+10 -> 9_010 | 1_000 read 80+10 -> 9_110

        // The bus is as slow as the medium: 10 ms for each of two hits of 100 sectors.
        hits share the bus
          with cache.hits_while_busy = true; bus.read_sector_ps = 100_000_000
          0 read 0+100 | 100_000 read 0+100 -> 110_200 | 100_001 read 0+100 -> 120_200

        // The drive read up to sector 34 and stopped. The hit makes room for 20 more behind 18, but
        // the heads start only then: sector 37 has passed at 1003.8 ms.
        read-ahead after a hit begins at the hit
          with cache.read_ahead = "segment"; cache.read_ahead_sectors_max = 20
          0 read 10+4 | 1_000_500 read 14+4 -> 1_000_740 | 1_000_800 read 34+4 -> 1_003_810

        // After a read elsewhere, a hit in a segment read up to sector 33: the heads return only
        // when sector 34 is requested, or immediately and reach it long before.
        idle drive reads on after a hit only where it does so
          with cache.read_ahead = "segment"; cache.read_ahead_sectors_max = 20
          0 read 10+4 | 50_000 read 500+4 | 100_000 read 14+4 -> 100_240 |
            120_000 read 34+4 -> 123_810
          with cache.read_ahead_after_hits = true
          0 read 10+4 | 50_000 read 500+4 | 100_000 read 14+4 -> 100_240 |
            120_000 read 34+4 -> 120_240

        read-ahead ends after its most sectors
          with cache.read_ahead = "segment"; cache.read_ahead_sectors_max = 20
          0 read 10+4 | 50_000 read 32+2 -> 50_220    // the last two
          0 read 10+4 | 50_000 read 34+1 -> 53_510    // the one behind them

        // Two segments: without a separate one for writes both hold read data.
        segment apart for writes is not read into
          0 read 10+1 | 50_000 read 30+1 | 200_000 read 10+1 -> 200_210
          with cache.write_segment_apart = true
          0 read 10+1 | 50_000 read 30+1 | 200_000 read 10+1 -> 201_110

        // Forty sectors, read ahead to 54: sectors more than 40 before the end are gone.
        segment slides along with read-ahead
          with cache.read_ahead = "segment"; cache.segment_sectors = 40
          0 read 10+4 | 50_000 read 50+4 -> 50_240 | 100_000 read 10+4 -> 101_410

        // Sectors 50 to 53 have passed at 55.4 ms, the second time no earlier than the first.
        failed read leaves nothing in memory
          with faults.retry_ppm = 1_000_000
          0 read 50+4 -> failed > 5_399 | 50_000 read 50+4 -> failed > 55_399
        "#,
    );
}

#[test]
fn writes_end_in_memory_or_on_the_medium() {
    check(
        &changed(&with_cache(), "cache.write_back = 'on'"),
        r#"
        write back answers when the data is in memory, and it can be read there
          0 write 5_000+10 -> 300 | 100_000 read 5_002+2 -> 100_220

        write without write-back or with fua waits for the medium
          0 fua write 50+10 -> 6_000
          with cache.write_back = "off"
          0 write 50+10 -> 6_000

        // One segment takes writes: while it is full, the next write waits until the first is on the
        // medium at 6 ms; only then is it taken, in 0.1 ms.
        write that finds no room waits until there is
          0 write 50+10 -> 300 | 0 write 5_050+10 -> 6_100

        // By distance the third write would be served long before the second; but the second has
        // waited longer for room in memory. It is taken when the first is on the medium.
        room goes to the write that has waited longest
          with queue.scheduler = "sstf"
          0 write 50+10 -> 300 | 0 write 15_000+10 -> 6_100 | 0 write 150+10 -> > 6_100 |
            0 read 300+1

        // The second write continues the first and arrives in time: no turn is lost.
        writes that go on share a segment and stream
          0 write 50+10 -> 300 | 0 write 60+10 -> 400 | 1_000 flush -> 7_000

        long write goes through the segment
          0 write 0+400 -> > 40_000

        // At 0 there is nothing to wait for, and at 20 ms the data is there already.
        flush waits until completed writes are on the medium
          0 flush -> 0 | 10_000 write 50+10 -> 10_300 | 10_400 flush -> 16_000 |
            20_000 flush -> 20_000

        // The host believes that the write is done; exactly one flush waits and reports the
        // failure.
        failed destage makes the next flush fail and no other
          with faults.retry_ppm = 1_000_000
          0 write 50+4 -> 240 | 1_000 flush -> failed 5_400 | 20_000 flush -> 20_000
          0 write 50+4 -> 240 | 50_000 flush -> failed        // long after

        // The write makes the read segment stale while the heads read ahead into it.
        read-ahead does not restore stale sectors
          with cache.write_segment_apart = true; cache.read_hits_on_writes = false
          with cache.read_ahead = "track"
          0 read 10+4 | 5_000 write 12+1 | 100_000 read 10+4 -> 101_410

        // The same while the heads are moving to the requested sectors.
        write beside a read makes the read's sectors stale
          with cache.write_segment_apart = true; cache.read_hits_on_writes = false
          with cache.writes_while_busy = true
          0 read 50+10 | 1_000 write 52+1 -> 1_210 | 100_000 read 50+10 -> 106_010

        // The heads are busy with sector 89 until 9.01 ms.
        writes are taken beside the heads only where the drive does so
          0 read 89+1 | 1_000 write 5_000+10 -> 9_110
          with cache.writes_while_busy = true
          0 read 89+1 | 1_000 write 5_000+10 -> 1_300

        data is prepared before each transfer
          with overhead.data_preparation_ns = 50_000
          0 read 10+1 -> 1_160 |            // it has passed at 1.1 ms
            20_000 read 10+1 -> 20_260 |    // 0.2 + 0.05 + 0.01 ms
            40_000 write 5_000+10 -> 40_350

        // The head is at the sector when the read has been processed: 0.2 ms, two sectors.
        written data is read from memory only where the drive does so
          0 write 5_000+10 | 100_000 read 5_002+2 -> 100_220
          with cache.read_hits_on_writes = false
          0 write 5_000+10 | 100_000 read 5_002+2 -> 100_410
        "#,
    );
}

/// The first write is on its way to the medium, far away, when its id is reused.
#[test]
fn number_of_an_answered_write_may_be_used_again() {
    let switches = "cache.write_back = 'on'; cache.writes_while_busy = true";
    let mut mechanics = changed(&with_cache(), switches);
    mechanics.queue.scheduler = Scheduler::Sstf;
    let mut host = Host::new(&mechanics, 4);
    let mut done = Vec::new();
    host.drive.submit(us(0), &[read(1, 50, 1), write(7, 19_050, 10)]);
    host.drive.advance(us(300), &mut done);
    assert_eq!((done[0].id, done[0].at), (RequestId(7), us(300)));
    host.drive.submit(us(400), &[Request { fua: true, ..write(7, 70, 1) }]);
    host.drain(&mut done);
    assert_eq!((done[2].id, done[2].at), (RequestId(7), us(7_100)), "sector 70, near by");
    // 95 cylinders take 10.5 ms; sector 50 comes round at 25 ms.
    host.go_to(us(8_000), &mut done);
    assert_eq!(done.len(), 3, "nothing is left of what was before");
    host.drive.flush(us(8_000), RequestId(9));
    host.drain(&mut done);
    assert_eq!(done[3].at, us(26_000));
}
