// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the longest time of one request against an adversary that chooses the position of the
//! heads, the instant at which the request is sent, and its first sector. The adversary climbs: it
//! changes one of these at a time and keeps a change that makes the request take longer.

use std::fmt;

use tidegate_drive::mechanical::{Ceiling, MechanicalDrive};
use tidegate_drive::{Completion, Drive, builtin};
use tidegate_model::mechanics::{Faults, Mechanics, WriteBack};
use tidegate_model::{Bytes, Duration, Op, Random, Time};

use super::disk_support::{plain, request};

/// The number of steps in each climb.
const STEPS: u64 = 500;
/// The number of climbs.
const CLIMBS: u64 = 4;

/// The adversary's choices.
#[derive(Debug, Clone, Copy)]
struct Choice {
    /// The first sectors of the two preceding requests, which place the heads and their read-ahead.
    before: [u64; 2],
    /// The time for which the disk is then idle.
    pause: Duration,
    /// The request's first sector.
    start: u64,
}

struct Adversary<'a> {
    mechanics: &'a Mechanics,
    op: Op,
    sectors: u64,
    /// The sector where the climbs begin; by default at the end far from the heads.
    hint: Option<u64>,
    random: Random,
}

impl Adversary<'_> {
    fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit.max(1))
    }

    /// Returns the time that the chosen request takes.
    fn took(&self, choice: Choice) -> Duration {
        let mut drive = MechanicalDrive::new(self.mechanics, 1, 1).expect("the disk is in order");
        let mut now = Time::ZERO;
        let mut serve = |number: u64, op, start, now: &mut Time| {
            let (begun, mut done) = (*now, Vec::<Completion>::new());
            drive.advance(begun, &mut done);
            drive.submit(begun, &[request(number, op, start, self.sectors)]);
            while done.is_empty() {
                *now = drive.next_event().expect("a request is outstanding");
                drive.advance(*now, &mut done);
            }
            now.since(begun)
        };
        serve(1, Op::Read, choice.before[0], &mut now);
        serve(2, Op::Read, choice.before[1], &mut now);
        now += choice.pause;
        serve(3, self.op, choice.start, &mut now)
    }

    /// Draws a first sector, half of the time near one of the ends.
    fn anywhere(&mut self) -> u64 {
        let last = self.mechanics.sectors - self.sectors;
        let near = self.below(50_000).min(last);
        match self.below(4) {
            0 => near,
            1 => last - near,
            _ => self.below(last + 1),
        }
    }

    fn first(&mut self, climb: u64) -> Choice {
        let last = self.mechanics.sectors - self.sectors;
        let (before, start) = if climb.is_multiple_of(2) { (0, last) } else { (last, 0) };
        let start = self.hint.unwrap_or(start);
        Choice { before: [before; 2], pause: Duration::ZERO, start }
    }

    /// Returns a neighbouring choice, in which one of the places or the instant differs by a small
    /// or a large amount.
    fn next(&mut self, choice: Choice) -> Choice {
        let mut next = choice;
        let last = self.mechanics.sectors - self.sectors;
        let scale = 1 << self.below(22);
        let (by, up) = (self.below(scale), self.below(2) == 0);
        let moved = |at: u64| if up { (at + by).min(last) } else { at.saturating_sub(by) };
        match self.below(8) {
            0 => next.before[1] = self.anywhere(),
            1 => next.before[1] = moved(choice.before[1]),
            2 => next.before[0] = self.anywhere(),
            3 => next.start = self.anywhere(),
            4 | 5 => next.start = moved(choice.start),
            6 => next.pause = Duration::from_ns(self.below(20_000_000)),
            _ => {
                let ns = choice.pause.ns();
                next.pause = Duration::from_ns(if up { ns + by } else { ns.saturating_sub(by) });
            }
        }
        next
    }

    fn climb(&mut self, number: u64) -> Duration {
        let mut choice = self.first(number);
        let mut longest = self.took(choice);
        for _ in 0..STEPS {
            let next = self.next(choice);
            let took = self.took(next);
            if took >= longest {
                (choice, longest) = (next, took);
            }
        }
        longest
    }
}

/// Returns the longest time that the adversary finds.
fn longest(mechanics: &Mechanics, op: Op, size: Bytes, hint: Option<u64>) -> Duration {
    let random = Random::new(size.get(), 3);
    let mut adversary = Adversary { mechanics, op, sectors: size.sectors_ceil(), hint, random };
    (0..CLIMBS).map(|number| adversary.climb(number)).max().expect("some climbs")
}

struct Us(Duration);

impl fmt::Display for Us {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} us", self.0.ns() / 1_000)
    }
}

/// Asserts that the adversary never exceeds the ceiling and comes within `1 / part` of it.
fn check(name: &str, mechanics: &Mechanics, op: Op, kib: u64, part: u64, hint: Option<u64>) {
    let size = Bytes::from_kib(kib);
    let ceiling = Ceiling::of(mechanics, op, size).expect("a disk").expect("a ceiling");
    let (total, seen) = (ceiling.total(), longest(mechanics, op, size, hint));
    println!("{name}, {} of {size}: {} of {}, {ceiling:?}", op.name(), Us(seen), Us(total));
    assert!(seen <= total, "{name}, {op:?} of {size}: {seen} is above {total}");
    let distance = total - seen;
    let distance_max = Duration::from_ns(total.ns() / part);
    assert!(distance <= distance_max, "{name}, {op:?} of {size}: {seen} is far below {total}");
    // Canary: each of the large parts is needed.
    for part in [ceiling.movement, ceiling.rotation, ceiling.transfer] {
        assert!(part <= distance || total - part < seen, "{name}: {part} is not needed");
    }
}

/// Returns the disks that Tidegate includes, without random faults.
fn disks() -> impl Iterator<Item = (&'static str, Mechanics)> {
    builtin::names().filter_map(|name| {
        let mechanics = *builtin::load(name).expect("built in").mechanics?;
        Some((name, Mechanics { faults: None, ..mechanics }))
    })
}

/// Returns n, where the adversary must come within 1/n of the ceiling. A disk that can begin in the
/// middle of a request saves up to the time in which the request's sectors pass, and the ceiling
/// includes this time.
const fn part(mechanics: &Mechanics) -> u64 {
    if mechanics.zero_latency { 5 } else { 15 }
}

#[test]
fn no_request_of_a_built_in_disk_exceeds_its_ceiling_and_some_come_near() {
    let mut count = 0;
    for (name, mechanics) in disks() {
        for kib in [4, 256] {
            check(name, &mechanics, Op::Read, kib, part(&mechanics), None);
        }
        let takes = mechanics.cache.as_ref().is_some_and(|it| it.write_back == WriteBack::On);
        let of_writes = Ceiling::of(&mechanics, Op::Write, Bytes::from_kib(4)).expect("a disk");
        assert_eq!(of_writes.is_none(), takes, "{name}: memory takes writes");
        if !takes {
            check(name, &mechanics, Op::Write, 128, part(&mechanics), None);
        }
        count += 1;
    }
    assert_eq!(count, 7);
}

/// Goal: the ceiling counts the parts that the built-in disks lack. Method: a small disk with each
/// of these parts.
#[test]
fn every_part_of_a_disk_counts() {
    let text = "
        [overhead]
        read_hit_after_read_ns = 700_000
        read_miss_after_read_ns = 300_000
        read_miss_after_write_ns = 400_000
        write_miss_after_read_ns = 500_000
        read_completion_ns = 50_000
        write_completion_ns = 60_000
        reconnect_ns = 80_000
        data_preparation_ns = 30_000
        [bus]
        read_sector_ps = 120_000_000
        write_sector_ps = 150_000_000
        read_watermark_ppm = 500_000
        [cache]
        segments = 2
        segment_sectors = 400
        read = true
        read_ahead = 'segment'
    ";
    let parts: toml::Table = toml::from_str(text).expect("well formed");
    let mut whole = toml::Table::try_from(plain()).expect("a table");
    whole.extend(parts);
    let slow_bus: Mechanics = whole.try_into().expect("a disk");
    for op in [Op::Read, Op::Write] {
        // The ceiling adds the wait for the watermark and a change of tracks, although they do not
        // both delay the last sectors.
        check("a slow bus", &slow_bus, op, 32, 3, None);
        let slow_writes = Mechanics { write_seek_ns_min: 15_000_000, ..slow_bus.clone() };
        check("slow positioning of writes", &slow_writes, op, 32, 3, None);
    }
}

/// Goal: the ceiling counts every fault. Method: each access has all faults.
#[test]
fn faults_count() {
    let faults = Faults {
        retry_ppm: 1_000_000,
        retries_max: 3,
        recalibration_ppm: 1_000_000,
        recalibration_ns: 5_000_000,
    };
    let mechanics = Mechanics { faults: Some(faults), ..plain() };
    for op in [Op::Read, Op::Write] {
        check("a disk with faults", &mechanics, op, 32, 10, None);
    }
}

/// Goal: a layout that does not repeat itself is examined as a whole. Method: one defect and one
/// slip far from the beginning of the zone; the heads leave for the defect's place and return.
#[test]
fn defects_and_slips_count() {
    let plain = plain();
    let mut other = plain.clone();
    let tidegate_model::mechanics::Layout::Zones(zones) = &mut other.layout else { panic!() };
    zones.sparing = tidegate_model::mechanics::Sparing::Zone;
    let zone = &mut zones.zone[0];
    (zone.spares, zone.slips, zone.defects) = (100, vec![9_000], vec![(10_050, 19_950)]);
    other.sectors = 19_800;
    let of = |mechanics: &Mechanics| {
        let ceiling = Ceiling::of(mechanics, Op::Read, Bytes::from_kib(32));
        ceiling.expect("a disk").expect("a ceiling").transfer
    };
    assert!(of(&other) > of(&plain) + Duration::from_ms(10), "{} {}", of(&other), of(&plain));
    check("a defect", &other, Op::Read, 32, 3, Some(10_040));
}
