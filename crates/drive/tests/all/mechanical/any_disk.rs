// SPDX-License-Identifier: Apache-2.0 OR MIT
//! For any disk and any host: no request is lost, completes twice or too early, and the result
//! does not depend on how often the host calls `advance`.
//!
//! One number determines disk and script; a failure prints it.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_drive::{Completion, Drive};
use tidegate_model::mechanics::{
    Bus, Cache, Faults, Layout, Mechanics, Overhead, Queue, ReadAhead, Scheduler, Seek, Sparing,
    WriteBack, Zone,
};
use tidegate_model::{Duration, Op, Outcome, Random, Request, RequestId, Tag, Time};

use super::disk_support::{Host, plain, read, request};
use crate::checked::Checked;

const READ_AHEAD: [ReadAhead; 5] = [
    ReadAhead::Off,
    ReadAhead::Track,
    ReadAhead::Cylinder,
    ReadAhead::Segment,
    ReadAhead::Adaptive,
];
pub(crate) const SCHEDULERS: [Scheduler; 7] = [
    Scheduler::Fifo,
    Scheduler::Sstf,
    Scheduler::Scan,
    Scheduler::CLook,
    Scheduler::Satf,
    Scheduler::SatfAging,
    Scheduler::ScanSstf,
];
const TAGS: [Tag; 6] =
    [Tag::Simple, Tag::Simple, Tag::Simple, Tag::Ordered, Tag::HeadOfQueue, Tag::Priority];
/// The maximum number of instants in a script.
const INSTANTS: u64 = 40;

/// A seeded generator for the random parts of a test.
pub(crate) struct Dice(Random);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random::new(seed, 0))
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.index(of.len())]
    }

    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.0.below(times) == 0
    }
}

/// Returns a disk of 2,000 to 39,300 sectors.
pub(crate) fn any_disk(dice: &mut Dice) -> Mechanics {
    let mut mechanics = Mechanics {
        rpm: dice.pick(&[3_600, 6_000, 10_045, 15_000]),
        surfaces: dice.pick(&[1, 2, 3]),
        cylinders: dice.pick(&[20, 100]),
        head_switch_ns: dice.pick(&[0, 500_000, 20_000_000]),
        write_settle_ns: dice.pick(&[0, 300_000, -300_000]),
        write_seek_ns_min: dice.pick(&[0, 3_000_000]),
        zero_latency: dice.once_in(2),
        overhead: any_overhead(dice),
        bus: any_bus(dice),
        cache: (!dice.once_in(6)).then(|| any_cache(dice)),
        queue: any_queue(dice),
        faults: dice.once_in(4).then(|| any_faults(dice)),
        ..plain()
    };
    if dice.once_in(4) {
        mechanics.seek = Seek::Points(vec![(1, 0)]);
    }
    lay_out(dice, &mut mechanics);
    mechanics
}

fn lay_out(dice: &mut Dice, mechanics: &mut Mechanics) {
    let Layout::Zones(zones) = &mut mechanics.layout else { unreachable!() };
    let zone = &mut zones.zone[0];
    zone.cylinder_last = mechanics.cylinders - 1;
    zone.sectors_per_track = dice.pick(&[100, 131]);
    zone.track_skew_millisectors = dice.0.below(20_000);
    zone.cylinder_skew_millisectors = dice.0.below(30_000);
    mechanics.sectors =
        u64::from(mechanics.surfaces * mechanics.cylinders * zone.sectors_per_track);
    if dice.once_in(4) {
        zones.sparing = Sparing::Zone;
        mechanics.sectors -= remap(dice, &mut zones.zone[0], mechanics.sectors);
    }
}

/// Remaps some sectors of a zone of `sectors` sectors to spares at the zone's end; returns the
/// number of spares.
pub(crate) fn remap(dice: &mut Dice, zone: &mut Zone, sectors: u64) -> u64 {
    const SPARES: u32 = 12;
    let data = sectors - u64::from(SPARES);
    let defects: BTreeSet<u64> = (0..SPARES).map(|_| dice.below(data)).collect();
    zone.spares = SPARES;
    zone.defects = defects.into_iter().zip(data..).collect();
    SPARES.into()
}

fn any_overhead(dice: &mut Dice) -> Overhead {
    let mut any = || dice.pick(&[0, 1, 100_000, 1_000_000]);
    Overhead {
        read_hit_after_read_ns: any(),
        read_hit_after_write_ns: any(),
        read_miss_after_read_ns: any(),
        read_miss_after_write_ns: any(),
        write_hit_after_read_ns: any(),
        write_hit_after_write_ns: any(),
        write_miss_after_read_ns: any(),
        write_miss_after_write_ns: any(),
        read_completion_ns: any(),
        write_completion_ns: any(),
        reconnect_ns: any(),
        data_preparation_ns: any(),
    }
}

/// Returns a bus whose speed is anywhere from infinite to a fifth of the medium's.
fn any_bus(dice: &mut Dice) -> Bus {
    Bus {
        read_sector_ps: dice.pick(&[0, 1, 10_000_000, 500_000_000]),
        write_sector_ps: dice.pick(&[0, 1, 10_000_000, 500_000_000]),
        read_watermark_ppm: dice.pick(&[0, 1, 500_000, 1_000_000]),
    }
}

fn any_cache(dice: &mut Dice) -> Cache {
    let segments = dice.pick(&[1, 2, 3, 8]);
    let read = !dice.once_in(4);
    Cache {
        segments,
        segment_sectors: dice.pick(&[1, 8, 50, 300]),
        write_segments: dice.pick(&[1, segments]),
        read,
        read_ahead: if read { dice.pick(&READ_AHEAD) } else { ReadAhead::Off },
        read_ahead_sectors_max: dice.pick(&[None, None, Some(0), Some(20), Some(300)]),
        write_back: dice.pick(&[WriteBack::On, WriteBack::Off]),
        read_hits_on_writes: dice.once_in(2),
        gives_up_read: dice.once_in(2),
        reads_on_arrival: dice.once_in(2),
        write_segment_apart: dice.once_in(2),
        read_ahead_after_hits: dice.once_in(2),
        hits_while_busy: dice.once_in(2),
        writes_while_busy: dice.once_in(2),
    }
}

fn any_queue(dice: &mut Dice) -> Queue {
    let scheduler = dice.pick(&SCHEDULERS);
    let aging = (scheduler == Scheduler::SatfAging).then(|| dice.pick(&[0, 1_000, u64::MAX]));
    Queue {
        scheduler,
        starvation_ns: dice.pick(&[None, Some(1), Some(50_000_000)]),
        aging_ns_per_ms: aging,
        priority: dice.once_in(2),
        simple_only: dice.once_in(3),
    }
}

fn any_faults(dice: &mut Dice) -> Faults {
    Faults {
        retry_ppm: dice.pick(&[0, 100_000, 500_000, 1_000_000]),
        retries_max: dice.pick(&[0, 1, 5]),
        recalibration_ppm: dice.pick(&[0, 100_000, 1_000_000]),
        recalibration_ns: dice.pick(&[1, 1_000, 50_000_000]),
    }
}

/// The host's actions at one instant.
struct Instant {
    at: Time,
    batches: [Vec<Request>; 2],
    flush: Option<RequestId>,
}

/// Returns requests in runs and at random, in quick succession or after long pauses; a few lie
/// beyond the end.
fn any_script(dice: &mut Dice, sectors: u64) -> Vec<Instant> {
    let gap_ns = dice.pick(&[1_000, 1_000_000, 10_000_000, 100_000_000]);
    let (mut at, mut next) = (Time::ZERO, 0);
    let mut ids = 0..;
    let mut script = Vec::new();
    for _ in 0..INSTANTS {
        at += Duration::from_ns(1 + dice.0.below(gap_ns));
        let mut batch = |dice: &mut Dice| {
            let count = dice.pick(&[0, 1, 1, 2]);
            (0..count).map(|_| any_request(dice, ids.next().unwrap(), sectors, &mut next)).collect()
        };
        let batches = [batch(dice), batch(dice)];
        let flush = dice.once_in(10).then(|| RequestId(ids.next().unwrap()));
        script.push(Instant { at, batches, flush });
    }
    script
}

fn any_request(dice: &mut Dice, id: u64, sectors: u64, next: &mut u64) -> Request {
    let count = dice.pick(&[1, 1, 8, 30, 64, 350]);
    let start = match dice.0.below(80) {
        0 => sectors,
        1 => sectors - 1,
        2..40 => *next,
        _ => dice.0.below(sectors - count),
    };
    *next = (start + count) % (sectors - 350);
    let op = dice.pick(&[Op::Read, Op::Read, Op::Write]);
    Request { fua: dice.once_in(6), tag: dice.pick(&TAGS), ..request(id, op, start, count) }
}

fn play(
    mechanics: &Mechanics,
    depth: u32,
    script: &[Instant],
    looks: Option<Random>,
) -> Vec<Completion> {
    let drive = MechanicalDrive::new(mechanics, depth, 7).expect("any disk is in order");
    let mut host = Checked::new(drive, depth, looks);
    for Instant { at, batches, flush } in script {
        host.go_to(*at);
        for batch in batches {
            host.submit(batch);
        }
        if let Some(id) = flush.filter(|_| host.room() > 0) {
            host.hold(id);
            host.drive.flush(host.now, id);
        }
    }
    host.finish().1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_request_and_flush_comes_back_once_however_often_the_host_looks(seed: u64) {
        let mut dice = Dice::new(seed);
        let mechanics = any_disk(&mut dice);
        let depth = dice.pick(&[1, 2, 5, 32]);
        let script = any_script(&mut dice, mechanics.sectors);
        let done = play(&mechanics, depth, &script, None);
        prop_assert_eq!(&play(&mechanics, depth, &script, None), &done);
        prop_assert_eq!(&play(&mechanics, depth, &script, Some(dice.0)), &done);
    }

    /// Each read is in a region of a thousand sectors of its own, so no drive here has its sectors
    /// in memory from an earlier read.
    #[test]
    fn no_read_is_faster_than_the_medium(seed: u64) {
        let mut dice = Dice::new(seed);
        let mut mechanics = any_disk(&mut dice);
        if let Some(faults) = &mut mechanics.faults {
            faults.retry_ppm = 0;
        }
        let Layout::Zones(zones) = &mechanics.layout else { unreachable!() };
        let turn_ns = 60_000_000_000 / u64::from(mechanics.rpm);
        let sector_ns = turn_ns / u64::from(zones.zone[0].sectors_per_track);
        let mut regions: Vec<u64> = (0..mechanics.sectors / 1_000).collect();
        let mut host = Host::new(&mechanics, 1);
        while !regions.is_empty() {
            let region = regions.swap_remove(dice.0.index(regions.len()));
            let start = region * 1_000 + 200 + dice.0.below(200);
            let sectors = 1 + dice.0.below(64);
            let begin = host.now + Duration::from_ns(dice.0.below(2 * turn_ns));
            let mut done = Vec::new();
            host.drive.advance(begin, &mut done);
            host.drive.submit(begin, &[read(region, start, sectors)]);
            host.drain(&mut done);
            prop_assert_eq!(done[0].outcome, Outcome::Done);
            let took = done[0].at - begin;
            prop_assert!(took >= Duration::from_ns(sectors * sector_ns), "{took} for {sectors} sectors of {sector_ns} ns");
        }
    }
}
