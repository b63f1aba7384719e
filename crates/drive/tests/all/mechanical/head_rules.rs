// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue's order, the heads' next action, and when a sector may leave the drive.
//!
//! Times are those of the disk in `disk_support.rs`, with or without memory.

use tidegate_drive::Drive;
use tidegate_model::mechanics::Scheduler;

use super::disk_support::{Host, plain, read, us};
use super::memory::{CACHE, with_cache};
use super::table::{changed, check};

/// Sector 300 is one cylinder away and sector 19,000 is 95 away: the near one is always first.
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

#[test]
fn heads_of_a_drive_without_memory() {
    check(
        &plain(),
        r#"
        // At 5 ms the head is within sectors 0 to 97; a write begins with the first, 5 ms later.
        satf knows that writes begin with their first sector
          with zero_latency = true; queue.scheduler = "satf"
          5_000 write 0+98 -> 19_800 | 5_000 write 60+1 -> 6_100

        // At 5 ms the head is within sectors 20 to 79: they cost a turn minus their 6 ms, and sector
        // 0 costs 5 ms.
        satf knows that reads begin in their middle
          with zero_latency = true; queue.scheduler = "satf"
          5_000 read 20+60 -> 15_000 | 5_000 read 0+1 -> 20_100

        // Sectors 50 to 99 pass first, and sector 0 has passed at 10.1 ms: then 0.2 ms for each sector.
        // Over two tracks, sector 50 has passed at 15.1 ms.
        sector leaves after it has passed
          with zero_latency = true; bus.read_sector_ps = 200_000_000
          5_000 read 0+100 -> 30_100
          with layout.zones.zone.track_skew_millisectors = 6_000
          7_000 read 50+70 -> 29_100

        // With six sectors of skew sector 100 begins at angle 6. At 7 ms: sectors 70 to 99 pass at
        // once, 100 to 119 at 10.6 ms, 50 to 69 at 15 ms; in order the second track would be reached
        // at 20.6 ms. At 1.5 ms: the other head is in use at 2 ms and reaches sectors 114 to 119; 50 to
        // 99 pass at 5 ms and 100 to 113 at 10.6 ms; in order the last would have passed at 12.6 ms.
        zero-latency read over two tracks begins in the middle of the first or on the second
          with zero_latency = true; layout.zones.zone.track_skew_millisectors = 6_000
          7_000 read 50+70 -> 17_000
          1_500 read 50+70 -> 12_000

        // Of the seventy sectors the front of the first track arrives last, at 17 ms.
        watermark waits for the sectors that pass last
          with zero_latency = true; layout.zones.zone.track_skew_millisectors = 6_000
          with bus.read_watermark_ppm = 1_000_000
          7_000 read 50+70 -> 17_000

        // Cylinder 10 is 2 ms away: sector 25 there is reached at 2.5 ms. The second of two writes is
        // next under the head.
        write takes its least seek unless it goes on
          with write_seek_ns_min = 3_000_000
          0 write 2_025+1 -> 12_600
          0 write 2_040+1 -> 4_100 | 0 write 2_041+1 -> 4_200

        // The last of ten sectors arrives at 2 ms, when the tenth from 11 begins, not the tenth from
        // 10.
        write waits a turn rather than for its data
          with bus.write_sector_ps = 200_000_000
          0 write 10+10 -> 12_000
          0 write 11+10 -> 2_100

        drive without tags takes ordered requests as simple
          with queue.scheduler = "sstf"; queue.simple_only = true
          0 read 19_000+1 -> 30_100 | 0 ordered read 10_000+1 -> 20_100 | 0 read 200+1 -> 10_100
        "#,
    );
}

/// The disk has no overheads, and the host receives data in memory immediately.
#[test]
fn heads_that_read_ahead() {
    check(
        &changed(&plain(), &format!("{CACHE}cache.read_ahead = 'track'")),
        r#"
        // Read-ahead ended at 10 ms with sector 99. Sector 100 passes at 110 ms, and 1,050, five
        // cylinders away, at 105 ms.
        satf does not take heads that stopped for heads on their way
          with queue.scheduler = "satf"
          0 read 10+4 | 101_000 read 100+1 -> 110_100 | 101_000 read 1_050+1 -> 105_100

        // At 15 ms the heads are at sector 50 and recalibrate until 18 ms: the sector returns at 25 ms.
        recalibration delays heads that read ahead
          with faults.recalibration_ppm = 1_000_000; faults.recalibration_ns = 3_000_000
          0 read 10+4 -> 11_400 | 15_000 read 50+2 -> 25_200
        "#,
    );
}

#[test]
fn order_of_a_drive_with_memory() {
    check(
        &with_cache(),
        r#"
        // By distance both reads go before the write 95 cylinders away. Its seek takes 10.5 ms.
        flush sends its destages first
          with cache.write_back = "on"; cache.writes_while_busy = true; queue.scheduler = "sstf"
          0 read 0+1 | 1_000 write 19_000+4 | 1_000 read 20+1 | 1_000 read 40+1 -> < 30_401
          0 read 0+1 | 1_000 write 19_000+4 | 1_000 read 20+1 | 1_000 read 40+1 -> > 30_400 |
            1_000 flush -> 30_400

        // Sector 5,000 has passed at 20.4 ms.
        write does not pass an ordered request
          with cache.write_back = "on"; cache.writes_while_busy = true
          0 read 90+4 -> 9_410 | 0 ordered read 5_000+4 -> 20_410 | 100 write 5_000+4 -> > 20_410

        ordered write does not pass earlier requests
          with cache.write_back = "on"; cache.writes_while_busy = true
          0 read 90+4 -> 9_410 | 100 ordered write 5_000+4 -> > 9_410

        // Sector 10 is in memory; the heads are busy with sector 89 until 109.01 ms. A drive without
        // tags takes the ordered read as a hit like any other.
        ordered read waits though it is in memory
          with cache.hits_while_busy = true
          0 read 10+1 | 100_000 read 89+1 -> 109_010 | 101_000 ordered read 10+1 -> 109_020
          with queue.simple_only = true
          0 read 10+1 | 100_000 read 89+1 -> 109_010 | 101_000 ordered read 10+1 -> 101_210

        hit does not pass an ordered request that waits
          with cache.hits_while_busy = true
          0 read 10+1 | 100_000 read 89+1 -> 109_010 | 101_000 ordered read 5_000+1 -> 120_110 |
            101_000 read 10+1 -> > 120_110

        // At 10 ms read-ahead moves to the next cylinder and arrives at 11.1 ms; the way back takes
        // 1.1 ms more, so sector 20 is missed at 12 ms.
        seek that has begun is finished first
          with cache.read_ahead = "segment"
          0 read 190+4 -> 9_410 | 10_500 read 20+1 -> 22_110

        // A drive with memory processes every command like a hit: sector 1 has passed by then.
        cost of a hit remains if the heads hardly move
          with cache.write_back = "on"
          0 read 1+1 -> 10_210
          0 fua write 1+1 -> 10_200
        "#,
    );
}
