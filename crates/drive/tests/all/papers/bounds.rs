// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the bounds of dissertation 7.4.1, as functions of a disk's mechanics, against simulation:
//! under a scheduler that meets a bound's assumption no batch may exceed the bound.
//!
//! The transfer time in the equations must cover everything that a read takes after its first
//! sector is under the head; `transfer_max` computes it.

use tidegate_drive::Amortised;
use tidegate_drive::data_sheet::SeekFigures;
use tidegate_drive::mechanical::Layout;
use tidegate_model::mechanics::{self, Scheduler, TrackOrder};
use tidegate_model::{Bytes, DriveFile, Duration, Lba, Op, Random};

use super::common::{
    Host, Places, layout, load, mechanics, mechanics_mut, seek_curve, turn, zones,
};

/// The built-in hard disks, with the request sizes of their sources.
const DISKS: [(&str, Bytes); 7] = [
    ("maxtor-atlas-10k-v", Bytes::from_kib(255)),
    ("fujitsu-max3036rc", Bytes::from_kib(256)),
    ("ibm-40k1044", Bytes::from_kib(256)),
    ("ibm-36z15", Bytes::from_kib(64)),
    ("seagate-36es2", Bytes::from_kib(64)),
    ("seagate-st340810a", Bytes::from_kib(64)),
    ("nearline-7200", Bytes::from_kib(128)),
];
/// The number of requests in the largest batch.
const BATCH_MAX: u32 = 32;

/// Returns the disk as the bounds assume it: no faults, and the order of 7.4.1.6 or of
/// `scheduler`. A disk without a queue gets one.
fn assumed(name: &str, scheduler: Scheduler) -> DriveFile {
    let mut file = load(name);
    file.depth = BATCH_MAX;
    let mechanics = mechanics_mut(&mut file);
    mechanics.faults = None;
    mechanics.queue = mechanics::Queue { scheduler, ..mechanics::Queue::default() };
    file
}

fn ppm_of_turn(file: &DriveFile, ppm: u64) -> Duration {
    Duration::from_ns((turn(file).ns() * ppm).div_ceil(1_000_000))
}

/// Returns the skews of head and cylinder switches: the same in all zones.
fn skews(file: &DriveFile) -> [Duration; 2] {
    let zone = &zones(file).zone[0];
    [zone.track_skew_ppm, zone.cylinder_skew_ppm].map(|ppm| ppm_of_turn(file, ppm))
}

/// Returns the longest time from the moment when a read's first sector is under the head until
/// the drive is free. The time consists of the read's sectors at the lowest density; the skew at
/// each track change, within which the arm moves (`skews_leave_time_for_the_arm`); the command,
/// which the drive processes while the heads are busy, if they are; and the last sector on the bus.
/// Zero-latency access changes the order only if it is faster, and the bus, which is faster than
/// the medium, catches up.
fn transfer_max(file: &DriveFile, size: Bytes) -> Duration {
    let (disk, sectors) = (mechanics(file), size.sectors_ceil());
    let per_track = zones(file).zone.iter().map(|zone| u64::from(zone.sectors_per_track));
    let lowest = per_track.min().unwrap();
    let medium = Duration::from_ns((turn(file).ns() * sectors).div_ceil(lowest));
    let changes = (sectors - 1).div_ceil(lowest);
    let [track, cylinder] = skews(file);
    let bus = Duration::from_ns(disk.bus.read_sector_ps.div_ceil(1_000));
    let command = Duration::from_ns(disk.overhead.read_miss_after_read_ns);
    // Rounding: each wait and each transfer ends on a nanosecond.
    medium + track.max(cylinder) * changes + bus + command + Duration::from_ns(changes + 2)
}

fn amortised(file: &DriveFile, size: Bytes) -> Amortised {
    let (seek_min, seek_max) = seek_curve(file).linear_upper_bound();
    let transfer_max = transfer_max(file, size);
    Amortised { seek_max, seek_min, rotation_max: turn(file), transfer_max }
}

/// A host that rests before each batch, until read-ahead has ended and the platter's angle is
/// arbitrary.
struct Fixture {
    host: Host,
    phases: Random,
    size: Bytes,
}

impl Fixture {
    fn of(file: &DriveFile, size: Bytes) -> Self {
        Self { host: Host::of(file), phases: Random::new(1, 3), size }
    }

    fn rest(&mut self) {
        let phase = Duration::from_ns(self.phases.below(20_000_000));
        self.host.rest(Duration::from_ms(1_000) + phase);
    }

    fn batch(&mut self, starts: &[u64]) -> Duration {
        self.rest();
        self.host.batch(Op::Read, starts, self.size)
    }
}

/// Tests an assumption of `transfer_max` and of sequential reading: a step to the next track ends
/// before the track's first sector passes.
#[test]
fn skews_leave_time_for_the_arm() {
    for (name, _) in DISKS {
        let file = load(name);
        let curve = seek_curve(&file);
        let range = zones(&file).range_cylinders.unwrap_or(1);
        let is_by_surface = zones(&file).order == TrackOrder::SurfaceSerpentine;
        let step = if is_by_surface { curve.time(range) } else { curve.time(1) };
        let switch = Duration::from_ns(mechanics(&file).head_switch_ns);
        let [track, cylinder] = skews(&file);
        assert!(switch < track && step.max(switch) < cylinder, "{name}: {switch} {step}");
        for (zone, next) in zones(&file).zone.iter().zip(&zones(&file).zone[1..]) {
            assert_eq!(zone.track_skew_ppm, next.track_skew_ppm, "{name}");
            assert_eq!(zone.cylinder_skew_ppm, next.cylinder_skew_ppm, "{name}");
        }
    }
}

fn check_random_batches(file: &DriveFile, size: Bytes, count: u32, trials: usize) {
    let (mut fixture, mut places) = (Fixture::of(file, size), Places::on(file, size, count.into()));
    let bound = amortised(file, size).batch_time_max(count);
    for _ in 0..trials {
        let starts = places.take(usize::try_from(count).unwrap());
        let time = fixture.batch(&starts);
        assert!(time <= bound, "{}: {time} above {bound}: {starts:?}", file.name);
    }
}

/// Equation 7.4.1.7 on the Maxtor: 10,000 random batches of every size, in three parts that run in
/// parallel.
#[test]
fn no_random_batch_of_the_maxtor_exceeds_equation_7_4_1_7() {
    let (name, size) = DISKS[0];
    let file = &assumed(name, Scheduler::ScanSstf);
    std::thread::scope(|scope| {
        for sizes in [1..=20, 21..=27, 28..=BATCH_MAX] {
            scope.spawn(move || {
                sizes.for_each(|count| check_random_batches(file, size, count, 10_000));
            });
        }
    });
}

#[test]
fn no_random_batch_of_the_other_disks_exceeds_equation_7_4_1_7() {
    for (name, size) in &DISKS[1..] {
        let file = assumed(name, Scheduler::ScanSstf);
        for count in 1..=BATCH_MAX {
            check_random_batches(&file, *size, count, 300);
        }
    }
}

/// Makes batches with the longest arm movements, from the worst positions.
struct Adversary {
    random: Random,
    /// The first sectors at the outer edge, in the middle, and at the inner edge.
    edges: [u64; 3],
    layout: Layout,
}

impl Adversary {
    fn of(file: &DriveFile, size: Bytes) -> Self {
        let layout = layout(file);
        let last = layout.sectors() - size.sectors_ceil();
        Self { random: Random::new(1, 4), edges: [0, last / 2, last], layout }
    }

    /// Returns a position from which the next batch begins.
    fn arm(&mut self) -> u64 {
        self.edges[self.random.index(3)]
    }

    /// Returns `count` positions that follow one of the plans.
    fn batch(&mut self, count: u32) -> Vec<u64> {
        let plan = self.random.below(4);
        (0..u64::from(count)).map(|index| self.place(plan, index)).collect()
    }

    fn place(&mut self, plan: u64, index: u64) -> u64 {
        let [outer, middle, inner] = self.edges;
        match plan {
            // Edge to edge, alternating.
            0 => [outer, inner][usize::try_from(index % 2).unwrap()],
            // All on one cylinder at an edge.
            1 => self.near(inner),
            2 => self.near(outer),
            // The nearest on one side of the middle, all others at the opposite edge.
            _ if index == 0 => self.near(middle),
            _ => self.near(outer),
        }
    }

    /// Returns a position less than two tracks before `start`, or within the first two tracks of
    /// the disk if `start` lies there.
    fn near(&mut self, start: u64) -> u64 {
        let track = self.layout.extent(Lba::new(start), 1);
        let sectors = u64::from(track.sectors_per_track) * 2;
        if start < sectors {
            self.random.below(sectors)
        } else {
            start - self.random.below(sectors)
        }
    }
}

#[test]
fn no_adversary_exceeds_equation_7_4_1_7() {
    for (name, size) in DISKS {
        let file = assumed(name, Scheduler::ScanSstf);
        let bounds = amortised(&file, size);
        let (mut fixture, mut adversary) = (Fixture::of(&file, size), Adversary::of(&file, size));
        for trial in 0..5_000_u32 {
            let count = trial % BATCH_MAX + 1;
            let (arm, starts) = (adversary.arm(), adversary.batch(count));
            fixture.batch(&[arm]);
            let time = fixture.batch(&starts);
            let bound = bounds.batch_time_max(count);
            assert!(time <= bound, "{name}: {time} above {bound}: {arm} {starts:?}");
        }
    }
}

/// The bound on a single request is nearly reached: from edge to edge, at some angle of the
/// platter, a read comes within 1 % of it.
#[test]
fn bound_on_one_request_is_nearly_reached() {
    for (name, size) in DISKS {
        let mut file = assumed(name, Scheduler::ScanSstf);
        mechanics_mut(&mut file).zero_latency = false;
        let (mut fixture, mut adversary) = (Fixture::of(&file, size), Adversary::of(&file, size));
        let [outer, _, inner] = adversary.edges;
        let mut from_edge_to_edge = || {
            fixture.batch(&[outer]);
            let inner_tracks = adversary.near(inner);
            fixture.batch(&[inner_tracks])
        };
        let longest = (0..10_000).map(|_| from_edge_to_edge()).max().unwrap();
        let bound = amortised(&file, size).batch_time_max(1);
        assert!(
            longest <= bound && longest.ns() * 100 > bound.ns() * 99,
            "{name}: {longest} {bound}"
        );
    }
}

/// Canary: a disk that serves in order of arrival breaks the bound when it is sent from edge to
/// edge.
#[test]
fn disk_without_an_order_of_its_own_exceeds_the_bound() {
    let size = Bytes::from_kib(4);
    let [orderly, fifo] = [Scheduler::ScanSstf, Scheduler::Fifo].map(|scheduler| {
        let file = assumed(DISKS[0].0, scheduler);
        let (mut fixture, edges) = (Fixture::of(&file, size), Adversary::of(&file, size).edges);
        let starts: Vec<u64> = [edges[0], edges[2]].into_iter().cycle().take(16).collect();
        fixture.batch(&starts) <= amortised(&file, size).batch_time_max(16)
    });
    assert!(orderly && !fifo);
}

/// Equation 7.4.1.5: no disk has the order that it assumes, so the test orders the requests and
/// sends them one at a time. The measured time includes the seek to the first request.
#[test]
fn no_single_sweep_exceeds_equation_7_4_1_5() {
    for (name, size) in &DISKS[..3] {
        let file = assumed(name, Scheduler::Fifo);
        let (bounds, layout) = (amortised(&file, *size), layout(&file));
        let (mut fixture, mut places) = (Fixture::of(&file, *size), Places::on(&file, *size, 1));
        let mut adversary = Adversary::of(&file, *size);
        let mut arm = 0;
        for trial in 0..10_000_u32 {
            let count = trial % 12 + 1;
            let is_random = trial % 2 == 0;
            let random = places.take(usize::try_from(count).unwrap());
            let starts = if is_random { random } else { adversary.batch(count) };
            let order = single_sweep(&layout, mechanics(&file).cylinders, arm, starts);
            fixture.rest();
            let begin = fixture.host.now;
            for &start in &order {
                fixture.host.batch(Op::Read, &[start], *size);
            }
            let each = bounds.rotation_max + bounds.transfer_max;
            let bound = bounds.seek_time_single_sweep_max(count) + each * u64::from(count);
            let time = fixture.host.now - begin;
            assert!(time <= bound, "{name}: {time} above {bound}: {order:?}");
            let end = order[order.len() - 1] + size.sectors_ceil() - 1;
            arm = layout.position(Lba::new(end)).cylinder;
        }
    }
}

/// The order of 7.4.1: first the request nearest to the edge among those in the arm's half or, if
/// there are none, the nearest; then all others in one sweep.
fn single_sweep(layout: &Layout, cylinders: u32, arm: u32, mut starts: Vec<u64>) -> Vec<u64> {
    let cylinder = |start: &u64| layout.position(Lba::new(*start)).cylinder;
    starts.sort_unstable_by_key(cylinder);
    let is_outer = |cylinder: u32| cylinder < cylinders / 2;
    let is_in_arms_half = |start: &u64| is_outer(cylinder(start)) == is_outer(arm);
    // If no request is in the arm's half, the nearest is at the end of the other half's requests
    // that faces the arm.
    let inner_first = if starts.iter().any(is_in_arms_half) {
        !is_outer(arm)
    } else {
        is_outer(cylinder(&starts[0]))
    };
    if inner_first {
        starts.reverse();
    }
    starts
}

/// Returns the mean seek between random sectors, which are denser on outer cylinders.
fn mean_seek(file: &DriveFile) -> Duration {
    const SEEKS: u64 = 20_000;
    let (curve, layout) = (seek_curve(file), layout(file));
    let mut random = Random::new(1, 7);
    let mut cylinder = || layout.position(Lba::new(random.below(layout.sectors()))).cylinder;
    let mut seek = || match cylinder().abs_diff(cylinder()) {
        0 => 0,
        distance => curve.time(distance).ns(),
    };
    Duration::from_ns((0..SEEKS).map(|_| seek()).sum::<u64>() / SEEKS)
}

/// Goal: the line that a data sheet gives lies above the seek curves of real disks. Method: the
/// three figures of each built-in disk, from its own curve, against the lowest line above this
/// curve.
#[test]
fn the_line_of_a_data_sheet_is_above_each_disks_curve() {
    for (name, _) in DISKS {
        let file = load(name);
        let (curve, cylinders) = (seek_curve(&file), mechanics(&file).cylinders);
        let figures = SeekFigures {
            track: curve.time(1),
            average: mean_seek(&file),
            full: curve.time(cylinders - 1),
        };
        let (needed, _) = curve.linear_upper_bound();
        let line = figures.line();
        assert!(line.seek_min >= needed, "{name}: {line:?}, but {needed} is needed");
        // The line is not so far above the curve that the tables would be useless.
        assert!(line.seek_min.ns() < needed.ns() * 2, "{name}: {line:?} for {needed}");
    }
}
