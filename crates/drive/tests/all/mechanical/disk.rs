// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the heads without memory: seeks, rotation, transfers, the queue, and faults.

use proptest::prelude::*;
use tidegate_drive::Drive;
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::mechanics::{Faults, Queue, Scheduler};
use tidegate_model::{Duration, Op, Request, Time};

use super::disk_support::{Host, SECTORS, plain, read, request, us};
use super::table::check;
use crate::checked::Checked;

/// Compares every response time with one computed by hand.
#[test]
fn heads_take_the_times_of_their_parts() {
    check(
        &plain(),
        r#"
        read on the track waits for its sector and passes it
          0 read 50+8 -> 5_800
          6_000 read 50+8 -> 15_800    // just missed

        // Cylinder 10 is 2 ms away: sector 0 comes round 8 ms later.
        seek goes before rotation
          0 read 2_000+1 -> 10_100
          0 read 2_020+1 -> 2_100      // just in time
          0 read 2_019+1 -> 12_000     // just missed

        // The head switch takes 5 sectors.
        read over two tracks loses a turn without skew and goes on behind it
          0 read 90+20 -> 21_000
          with layout.zones.zone.track_skew_millisectors = 6_000
          0 read 90+20 -> 11_600

        // The head arrives at 5 ms in the middle of sectors 20 to 79: without zero latency the read
        // begins at 12 ms; with it the later sectors are read first and the earlier ones after a turn.
        zero-latency read begins where the head arrives
          5_000 read 20+60 -> 18_000
          with zero_latency = true
          5_000 read 20+60 -> 15_000
          5_050 read 20+60 -> 15_100   // a cut sector
          9_000 read 20+60 -> 18_000   // arrives before

        write takes its settling only after a move
          with write_settle_ns = 300_000
          0 write 0+1 -> 100           // no move
          0 write 2_022+1 -> 12_300    // missed
          0 write 2_023+1 -> 2_400

        // Sector 30 of the same track passes at 13 ms, in time.
        command is processed before the heads move
          with overhead.read_miss_after_read_ns = 1_000_000; overhead.read_completion_ns = 50_000
          0 read 5+1 -> 10_650 | 10_700 read 30+1 -> 13_150

        // A waiting command is processed while the heads are busy.
        overhead of a waiting request is not paid again
          with overhead.read_miss_after_read_ns = 1_000_000
          0 read 20+1 -> 2_100 | 0 read 22+1 -> 2_300

        // The first sector passes at 1.1 ms, and each takes 0.25 ms.
        slow bus goes on after the heads
          with bus.read_sector_ps = 250_000_000
          0 read 10+4 -> 2_100

        // Ten sectors until 2 ms, 0.2 ms to reconnect to the bus, ten transfers of 0.01 ms.
        watermark holds the transfer back
          with bus.read_sector_ps = 10_000_000; bus.read_watermark_ppm = 1_000_000
          with overhead.reconnect_ns = 200_000
          0 read 10+10 -> 2_300

        an ordered request is a barrier
          with queue.scheduler = "sstf"
          0 read 19_000+1 -> 20_100 | 0 ordered read 10_000+1 -> 30_100 | 0 read 200+1 -> 40_100

        request beyond the end fails
          0 read 19_999+2 -> failed

        a retry costs a turn and too many fail
          with faults.retry_ppm = 1_000_000; faults.retries_max = 2
          0 read 50+8 -> failed 25_800 // two turns more

        a recalibration delays the heads
          with faults.recalibration_ppm = 1_000_000; faults.recalibration_ns = 23_000_000
          0 read 50+8 -> 25_800
          0 write 20+1 -> 32_100
        "#,
    );
}

fn order(scheduler: Scheduler, starts: &[u64]) -> Vec<u64> {
    let mut mechanics = plain();
    mechanics.queue = Queue { scheduler, ..Queue::default() };
    let depth = u32::try_from(starts.len() + 1).unwrap();
    let mut host = Host::new(&mechanics, depth);
    // Move the arm to cylinder 50 first.
    host.done_at(us(0), read(0, 10_000, 1));
    let batch: Vec<Request> = (1..).zip(starts).map(|(id, &start)| read(id, start, 1)).collect();
    host.serve(us(100_000), &batch).into_iter().map(|(id, _)| id).collect()
}

/// The arm is at cylinder 50, and the requests are at 40, 95, 52 and 51.
#[test]
fn schedulers_serve_a_batch_in_their_order() {
    let starts = [8_000, 19_000, 10_400, 10_200];
    assert_eq!(order(Scheduler::Fifo, &starts), [1, 2, 3, 4]);
    assert_eq!(order(Scheduler::Sstf, &starts), [4, 3, 1, 2]);
    assert_eq!(order(Scheduler::Scan, &starts), [4, 3, 2, 1]);
    assert_eq!(order(Scheduler::CLook, &starts), [4, 3, 2, 1]);
    assert_eq!(order(Scheduler::ScanSstf, &starts), [4, 3, 2, 1]);
}

/// Sector 90 of the next cylinder is reached later than sector 30 ten cylinders away.
#[test]
fn satf_looks_at_rotation_and_sstf_does_not() {
    let starts = [10_290, 12_030];
    assert_eq!(order(Scheduler::Sstf, &starts), [1, 2]);
    assert_eq!(order(Scheduler::Satf, &starts), [2, 1]);
}

#[test]
#[should_panic(expected = "already holds 1")]
fn more_requests_than_the_depth_are_a_broken_protocol() {
    Host::new(&plain(), 1).drive.submit(us(0), &[read(1, 0, 1), read(2, 1, 1)]);
}

/// One access in a hundred is retried: about that share of 10,000 reads takes a turn longer.
#[test]
fn faults_come_as_often_as_the_file_says() {
    let mut mechanics = plain();
    mechanics.faults = Some(Faults { retry_ppm: 10_000, retries_max: 9, ..Faults::default() });
    let mut host = Host::new(&mechanics, 1);
    let slow = (0..10_000_u64).filter(|&id| {
        let begin = us(id * 100_000);
        host.done_at(begin, read(id, 0, 1)) > begin.ns() / 1_000 + 10_000
    });
    // 100 are expected, with a standard deviation of 10.
    let count = slow.count();
    assert!((60..=140).contains(&count), "{count}");
}

proptest! {
    /// No read ends before its sectors can have passed a head, nor later than a full stroke plus
    /// a turn and the transfer of each track.
    #[test]
    fn reads_are_neither_faster_nor_slower_than_the_mechanics(
        starts in prop::collection::vec((0..SECTORS - 250, 1_u64..250, 0_u64..30_000), 1..40),
        zero_latency: bool,
    ) {
        let mut mechanics = plain();
        mechanics.zero_latency = zero_latency;
        let mut host = Host::new(&mechanics, 1);
        let mut now = us(0);
        for (id, (start, sectors, idle_us)) in (0..).zip(starts) {
            let done = us(host.done_at(now, read(id, start, sectors)));
            let response = (done - now).ns() / 1_000;
            let tracks = (start + sectors - 1) / 100 - start / 100 + 1;
            prop_assert!(response >= sectors * 100 - 1, "{response} us for {sectors} sectors");
            prop_assert!(response <= 10_900 + tracks * 20_100, "{response} us over {tracks} tracks");
            now = done + Duration::from_us(idle_us);
        }
    }

    /// Each request completes exactly once, in order of time, with any queue and any mix.
    #[test]
    fn every_request_comes_back_once(
        steps in prop::collection::vec((0..SECTORS - 64, 1_u64..64, any::<bool>(), 0_u64..20_000), 1..100),
        scheduler in prop::sample::select(vec![
            Scheduler::Fifo, Scheduler::Sstf, Scheduler::Scan, Scheduler::CLook, Scheduler::Satf,
            Scheduler::ScanSstf,
        ]),
    ) {
        let mut mechanics = plain();
        mechanics.queue.scheduler = scheduler;
        let mut host = Checked::new(MechanicalDrive::new(&mechanics, 200, 1).unwrap(), 200, None);
        for (id, &(start, sectors, is_read, gap_us)) in (0..).zip(&steps) {
            let op = if is_read { Op::Read } else { Op::Write };
            host.submit(&[request(id, op, start, sectors)]);
            host.advance(host.now + Duration::from_us(gap_us));
        }
        prop_assert_eq!(host.finish().1.len(), steps.len());
    }
}

/// After a day of virtual time, the platter's angle is still exact.
#[test]
fn phase_is_the_same_a_day_later() {
    let day = Time::from_ns(86_400_000_000_000);
    let early = Host::new(&plain(), 1).done_at(us(3_000), read(1, 50, 8));
    let late = Host::new(&plain(), 1).done_at(day + Duration::from_us(3_000), read(1, 50, 8));
    assert_eq!(us(late) - day, us(early) - us(0));
}
