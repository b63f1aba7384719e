// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest time of a batch on wide disks: 3,000 cylinders in two zones, where seeks decide. An
//! adversary varies the places of a batch, its order, the position of the heads, and the instant,
//! and keeps changes that make the batch take longer. Before the batch it can have the beginnings
//! of some requests read into memory. Some disks have remapped sectors.

use tidegate_drive::Drive as _;
use tidegate_drive::mechanical::{BatchCeiling, MechanicalDrive};
use tidegate_model::mechanics::{Layout, Mechanics, Scheduler, Seek, Sparing, TrackOrder, Zone};
use tidegate_model::{Bytes, Duration, Lba, Op, Request};

use super::any_disk::{Dice, SCHEDULERS, any_disk, remap};
use super::disk_support::{Host, request};

const CYLINDERS: u32 = 3_000;
/// The first cylinder of the inner zone.
const INNER: u32 = 1_300;

const ORDERS: [TrackOrder; 4] = [
    TrackOrder::Cylinder,
    TrackOrder::CylinderSerpentine,
    TrackOrder::CylinderSerpentineParity,
    TrackOrder::SurfaceSerpentine,
];

/// The number of disks for each scheduler: the environment variable `DISKS`, or 60.
fn disks() -> u64 {
    std::env::var("DISKS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// Returns seek curves: one that rises ever faster, one that is flat and then rises a hundredfold,
/// one that falls at its end, a straight line, and one that rises ever more slowly.
fn seeks() -> [Seek; 5] {
    let of = |points: &[(u32, u64)]| Seek::Points(points.to_vec());
    [
        of(&[(1, 100_000), (1_000, 1_000_000), (2_000, 8_000_000), (2_999, 40_000_000)]),
        of(&[(1, 300_000), (2_700, 400_000), (2_999, 40_000_000)]),
        of(&[(1, 500_000), (1_500, 30_000_000), (2_999, 2_000_000)]),
        of(&[(1, 10_010), (2_999, 30_000_000)]),
        Seek::Formula {
            short_ns: 500_000,
            per_root_ns: 300_000,
            long_ns: 5_000_000,
            per_cylinder_ps: 6_000_000,
            long_from: 700,
        },
    ]
}

/// Returns a random wide disk with this scheduler.
fn wide_disk(dice: &mut Dice, scheduler: Scheduler) -> Mechanics {
    let mut mechanics = any_disk(dice);
    let Layout::Zones(zones) = &mut mechanics.layout else { unreachable!() };
    let only = zones.zone[0].clone();
    zones.order = dice.pick(&ORDERS);
    zones.range_cylinders = (zones.order == TrackOrder::SurfaceSerpentine).then_some(50);
    // On short tracks a request spans many cylinders.
    let (longer, shorter) = dice.pick(&[(131, 100), (9, 7)]);
    let mut outer = Zone { cylinder_last: INNER - 1, sectors_per_track: longer, ..only.clone() };
    let mut inner = Zone {
        cylinder_first: INNER,
        cylinder_last: CYLINDERS - 1,
        sectors_per_track: shorter,
        ..only
    };
    mechanics.sectors = 0;
    for zone in [&mut outer, &mut inner] {
        let cylinders = u64::from(zone.cylinder_last - zone.cylinder_first + 1);
        let tracks = cylinders * u64::from(mechanics.surfaces);
        let sectors = tracks * u64::from(zone.sectors_per_track);
        zone.defects.clear();
        let is_remapped = zones.sparing == Sparing::Zone;
        let spares = if is_remapped { remap(dice, zone, sectors) } else { 0 };
        mechanics.sectors += sectors - spares;
    }
    zones.zone = vec![outer, inner];
    mechanics.cylinders = CYLINDERS;
    mechanics.seek = seeks()[usize::try_from(dice.below(5)).expect("few")].clone();
    mechanics.queue.scheduler = scheduler;
    mechanics.queue.starvation_ns = None;
    let is_ageing = scheduler == Scheduler::SatfAging;
    mechanics.queue.aging_ns_per_ms = is_ageing.then(|| dice.pick(&[0, 1_000, u64::MAX]));
    mechanics
}

/// Returns the remapped sectors of a disk.
fn remapped(mechanics: &Mechanics) -> Vec<u64> {
    let Layout::Zones(zones) = &mechanics.layout else { unreachable!() };
    let disk = MechanicalDrive::new(mechanics, 1, 0).expect("a disk");
    let starts = disk.layout().zones().into_iter().map(|zone| zone.start.get());
    let zones = zones.zone.iter().zip(starts);
    zones.flat_map(|(zone, start)| zone.defects.iter().map(move |&(at, _)| start + at)).collect()
}

/// A request's operation, first sector and number of sectors.
type Access = (Op, u64, u64);

/// The adversary's choices.
#[derive(Debug, Clone)]
struct Choice {
    /// Where the heads were before.
    before: Access,
    /// The time for which the disk is then idle.
    pause: Duration,
    batch: Vec<Access>,
    /// How many sectors of each request of the batch are read before the heads go to `before`.
    begun: Vec<u64>,
}

struct Adversary {
    mechanics: Mechanics,
    kinds: Vec<(Op, Bytes)>,
    /// The remapped sectors, which are not stored next to their neighbours.
    remapped: Vec<u64>,
    dice: Dice,
}

impl Adversary {
    fn new(seed: u64, scheduler: Scheduler) -> Self {
        let mut dice = Dice::new(seed);
        let mechanics = wide_disk(&mut dice, scheduler);
        let size = Bytes::new(dice.pick(&[1, 8, 64]) * Lba::SECTOR_BYTES);
        let ops: &[Op] = dice.pick(&[&[Op::Read][..], &[Op::Write], &[Op::Read, Op::Write]]);
        let kinds = ops.iter().map(|&op| (op, size)).collect();
        Self { remapped: remapped(&mechanics), mechanics, kinds, dice }
    }

    /// Returns an access near this position, in thousandths of the disk, or near a remapped sector.
    fn at(&mut self, share: u64) -> Access {
        let kinds = self.kinds.clone();
        let (op, size) = self.dice.pick(&kinds);
        let last = self.mechanics.sectors - size.sectors_ceil();
        let near = match &self.remapped[..] {
            [_, ..] if self.dice.once_in(4) => self.dice.pick(&self.remapped).min(last),
            _ => last * share / 1_000,
        };
        (op, near.saturating_sub(self.dice.below(200)), size.sectors_ceil())
    }

    /// Returns a choice whose places are at the two ends in turn, at even distances, or anywhere.
    fn first(&mut self, count: u64) -> Choice {
        let pattern = self.dice.below(3);
        let share = |index: u64, dice: &mut Dice| match pattern {
            0 => index % 2 * 1_000,
            1 => index * 1_000 / count,
            _ => dice.below(1_001),
        };
        let mut accesses: Vec<Access> = (0..=count)
            .map(|index| {
                let share = share(index, &mut self.dice);
                self.at(share)
            })
            .collect();
        let pause = Duration::from_ns(self.dice.below(20_000_000));
        let before = accesses.remove(0);
        let begun = accesses.iter().map(|it| self.beginning(it)).collect();
        Choice { before, pause, batch: accesses, begun }
    }

    /// Returns the number of sectors of this request that are read beforehand: none, all but one,
    /// or any number.
    fn beginning(&mut self, &(op, _, sectors): &Access) -> u64 {
        match op {
            Op::Read => match self.dice.below(3) {
                0 => 0,
                1 => sectors - 1,
                _ => self.dice.below(sectors),
            },
            Op::Write => 0,
        }
    }

    /// Returns the choice with one thing changed.
    fn next(&mut self, choice: &Choice) -> Choice {
        let mut next = choice.clone();
        let which = self.dice.below(next.batch.len() as u64 + 2);
        if which == 0 {
            next.pause = Duration::from_ns(self.dice.below(20_000_000));
            return next;
        }
        let to = self.dice.below(1_001);
        let anew = self.at(to);
        let scale = 1 << self.dice.below(18);
        let (by, up) = (self.dice.below(scale), self.dice.once_in(2));
        let last = self.mechanics.sectors;
        let moved = |(op, start, sectors): Access| {
            let start = if up { start + by } else { start.saturating_sub(by) };
            (op, start.min(last - sectors), sectors)
        };
        let index = usize::try_from(which - 1).expect("few");
        let access = next.batch.get_mut(index).unwrap_or(&mut next.before);
        *access = if self.dice.once_in(4) { anew } else { moved(*access) };
        let access = *access;
        if let Some(begun) = next.begun.get_mut(index)
            && self.dice.once_in(2)
        {
            *begun = self.beginning(&access);
        }
        next
    }

    /// Returns the time that the batch takes.
    fn took(&self, choice: &Choice) -> Duration {
        let mut host = Host::new(&self.mechanics, 16);
        let mut done = Vec::new();
        let beginnings = choice.batch.iter().zip(&choice.begun);
        let beginnings = beginnings.filter(|&(_, &begun)| begun > 0);
        let before = beginnings.map(|(&(op, start, _), &begun)| (op, start, begun));
        let before: Vec<Access> = before.chain([choice.before]).collect();
        let requests: Vec<Request> = (0..)
            .zip(before.iter().chain(&choice.batch))
            .map(|(id, &(op, start, sectors))| request(id, op, start, sectors))
            .collect();
        let (before, batch) = requests.split_at(before.len());
        for request in before {
            done.clear();
            host.drive.submit(host.now, std::slice::from_ref(request));
            host.drain(&mut done);
        }
        let begun = host.now + choice.pause;
        done.clear();
        host.go_to(begun, &mut done);
        host.drive.submit(begun, batch);
        host.drain(&mut done);
        done.iter().map(|done| done.at).max().expect("some requests").since(begun)
    }

    /// Returns the highest share of this limit that a batch of `count` requests takes, per mille.
    fn climb(&mut self, count: u64, limit: Duration) -> u64 {
        const STEPS: u32 = 150;
        let mut choice = self.first(count);
        let mut longest = self.took(&choice);
        for _ in 0..STEPS {
            let next = self.next(&choice);
            let took = self.took(&next);
            if took >= longest {
                (choice, longest) = (next, took);
            }
        }
        (longest.ns() * 1_000).div_ceil(limit.ns())
    }
}

/// The numbers of requests of the batches.
const COUNTS: [u32; 4] = [1, 2, 3, 6];

/// The longest times allowed for batches of 1, 2, .. requests.
type Limits = Vec<Duration>;

/// Returns the ceilings of batches up to one request more than the largest of `COUNTS`; `None`
/// without a ceiling.
fn ceilings(mechanics: &Mechanics, kinds: &[(Op, Bytes)]) -> Option<Limits> {
    let ceiling = BatchCeiling::of(mechanics, kinds).expect("a disk")?;
    Some(ceiling.batches(COUNTS[COUNTS.len() - 1] + 1))
}

/// Returns the highest share of the limits, per mille, by number of requests.
fn attack(
    scheduler: Scheduler,
    limits: impl Fn(&Adversary) -> Option<Limits>,
) -> [u64; COUNTS.len()] {
    let mut highest = [0; COUNTS.len()];
    for seed in 0..disks() {
        let mut adversary = Adversary::new(seed, scheduler);
        let Some(limits) = limits(&adversary) else { continue };
        for (highest, count) in highest.iter_mut().zip(COUNTS) {
            let share = adversary.climb(count.into(), limits[count as usize - 1]);
            *highest = share.max(*highest);
        }
    }
    println!("{scheduler:?}: at most {highest:?} per mille for {COUNTS:?}");
    highest
}

#[test]
fn no_batch_of_a_wide_disk_exceeds_its_ceiling() {
    for scheduler in SCHEDULERS {
        let highest = attack(scheduler, |it| ceilings(&it.mechanics, &it.kinds));
        assert!(highest.iter().all(|&share| (650..=1_000).contains(&share)), "{scheduler:?}");
    }
}

/// Canary: ceilings computed with seeks that are a tenth faster are caught, for every scheduler.
#[test]
fn ceilings_with_faster_seeks_are_caught() {
    let faster = |mechanics: &Mechanics| {
        let seek = match &mechanics.seek {
            Seek::Points(points) => {
                Seek::Points(points.iter().map(|&(at, ns)| (at, ns / 10 * 9)).collect())
            }
            &Seek::Formula { short_ns, per_root_ns, long_ns, per_cylinder_ps, long_from } => {
                let [short_ns, per_root_ns, long_ns, per_cylinder_ps] =
                    [short_ns, per_root_ns, long_ns, per_cylinder_ps].map(|part| part / 10 * 9);
                Seek::Formula { short_ns, per_root_ns, long_ns, per_cylinder_ps, long_from }
            }
        };
        Mechanics { seek, ..mechanics.clone() }
    };
    for scheduler in SCHEDULERS {
        let highest = attack(scheduler, |it| ceilings(&faster(&it.mechanics), &it.kinds));
        assert!(highest.iter().any(|&share| share > 1_000), "{scheduler:?} survives");
    }
}

/// Canary: for schedulers that sweep, ceilings that are too low by the longest time of one request
/// are caught.
#[test]
fn ceilings_without_the_longest_movement_are_caught() {
    for scheduler in [Scheduler::Scan, Scheduler::CLook] {
        let highest = attack(scheduler, |it| {
            let times = ceilings(&it.mechanics, &it.kinds)?;
            let without = |next: &Duration| next.checked_sub(times[0]);
            times[1..].iter().map(without).collect()
        });
        assert!(highest[1..].iter().any(|&share| share > 1_000), "{scheduler:?} survives");
    }
}

/// Canary: ceilings computed for the same disks without remapped sectors are caught.
#[test]
fn ceilings_without_remapped_sectors_are_caught() {
    let whole = |mechanics: &Mechanics| {
        let mut whole = mechanics.clone();
        let Layout::Zones(zones) = &mut whole.layout else { unreachable!() };
        zones.zone.iter_mut().for_each(|zone| zone.defects.clear());
        whole
    };
    let is_caught = |&scheduler: &Scheduler| {
        let highest = attack(scheduler, |it| ceilings(&whole(&it.mechanics), &it.kinds));
        highest.iter().any(|&share| share > 1_000)
    };
    assert!(SCHEDULERS.iter().any(is_caught));
}
