// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a look-up in a layout and in a seek curve, and of reading an index.
//!
//! One iteration makes 4096 look-ups at random positions: divan's items per second count single
//! look-ups. The disks are modelled on real ones: zones with slips and skews, and an index with as
//! many rows, slips and levels as a full extraction of a 300 GB disk.

use std::fmt::Write as _;

use divan::Bencher;
use divan::counter::ItemsCount;
use tidegate_drive::mechanical::{Layout, MechanicalDrive, SeekCurve};
use tidegate_model::mechanics::{self, Mechanics, Seek, TrackIndex};
use tidegate_model::{DriveFile, Lba};

const LOOK_UPS: u64 = 4_096;

fn main() {
    divan::main();
}

/// Returns `count` numbers below `below` that look random: multiples of a constant from the golden
/// ratio.
fn scattered(count: u64, below: u64) -> Vec<u64> {
    let part = |index: u64| u128::from(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let number = |index| u64::try_from((part(index) * u128::from(below)) >> 64);
    (0..count).map(|index| number(index).expect("below a 64-bit number")).collect()
}

/// Returns a disk of ten surfaces and eleven zones, with `slips` slips in each zone.
fn zoned(slips: u64, sparing: &str) -> Mechanics {
    let mut zones = String::new();
    for zone in 0..11_u64 {
        let sectors = 256 - 8 * zone;
        let unit = if sparing == "zone-tracks" { sectors } else { 1 };
        let slips = scattered(slips, 700 * 10 * sectors / unit);
        writeln!(
            zones,
            "[[layout.zones.zone]]\ncylinder_first = {}\ncylinder_last = {}\n\
             sectors_per_track = {sectors}\ntrack_skew_millisectors = 75_000\n\
             cylinder_skew_millisectors = 86_000\nspares = 200\nslips = {slips:?}",
            700 * zone,
            700 * zone + 699,
        )
        .expect("a string takes everything");
    }
    disk(10, 7_700, &format!("layout.zones.sparing = '{sparing}'\n{zones}"))
}

fn disk(surfaces: u32, cylinders: u32, layout: &str) -> Mechanics {
    let text = format!(
        "rpm = 10_000\nsurfaces = {surfaces}\ncylinders = {cylinders}\nsectors = 1\n\
         head_switch_ns = 1\nseek.points = [[1, 1]]\n{layout}"
    );
    full(toml::from_str(&text).expect("a disk"))
}

fn full(mut mechanics: Mechanics) -> Mechanics {
    mechanics.sectors = Layout::held(&mechanics).expect("a sound layout").sectors;
    mechanics
}

/// Returns an index of eighty zones, each a run of equal groups and a group of tracks listed row by
/// row.
fn index() -> TrackIndex {
    let (mut nodes, mut root) = (String::new(), String::new());
    let (mut before, mut cylinder) = (0, 0);
    for zone in 0..80_u64 {
        let sectors = 1_170 - 6 * zone;
        for row in 0..8_u64 {
            let (from, sign) = if row % 2 == 0 { (0, ' ') } else { (31, '-') };
            let run = 32 * sectors;
            writeln!(
                nodes,
                "{} {from} 690240 {sectors} 1 240364 {run} {sign}32 T {zone} {row}",
                row * run
            )
            .expect("a string takes everything");
        }
        nodes.push_str("-\n");
        for row in 0..256_u64 {
            let (at, head) = (row % 32, row / 32);
            writeln!(
                nodes,
                "{} {at} 139353 {sectors} 1 277705 {sectors} 1 T {zone} {head}",
                row * sectors
            )
            .expect("a string takes everything");
        }
        nodes.push_str("-\n");
        let group = 256 * sectors;
        for (node, repeated) in [(2 * zone, 30), (2 * zone + 1, 1)] {
            let (run, cylinders) = (repeated * group, repeated * 32);
            writeln!(
                root,
                "{before} {cylinder} 76899 {group} 32 306276 {run} {cylinders} N {node}"
            )
            .expect("a string takes everything");
            before += run;
            cylinder += cylinders;
        }
    }
    let mut slips = scattered(15_000, before);
    slips.sort_unstable();
    TrackIndex {
        tracks: rows((0..80).map(|zone| [0, 1_169 - 6 * zone, 1_170 - 6 * zone])),
        index: nodes + &root,
        slips: rows(slips.into_iter().map(|slip| [slip, 1])),
        remaps: String::new(),
    }
}

fn rows<const COLUMNS: usize>(rows: impl Iterator<Item = [u64; COLUMNS]>) -> String {
    let line = |row: [u64; COLUMNS]| row.map(|number| number.to_string()).join(" ") + "\n";
    rows.map(line).collect()
}

fn indexed() -> Mechanics {
    let mut mechanics = zoned(0, "none");
    mechanics.surfaces = 8;
    mechanics.cylinders = 80_000;
    mechanics.layout = mechanics::Layout::Index(index());
    full(mechanics)
}

fn extents(bencher: Bencher<'_, '_>, mechanics: &Mechanics) {
    let layout = Layout::new(mechanics).expect("a sound layout");
    let sectors = scattered(LOOK_UPS, layout.sectors());
    bencher.counter(ItemsCount::new(LOOK_UPS)).bench_local(|| {
        for &sector in &sectors {
            divan::black_box(layout.extent(Lba::new(sector), 8));
        }
    });
}

#[divan::bench]
fn extent_in_zones_without_slips(bencher: Bencher<'_, '_>) {
    extents(bencher, &zoned(0, "none"));
}

#[divan::bench(args = ["none", "zone", "cylinder", "zone-tracks"])]
fn extent_in_zones_with_slips(bencher: Bencher<'_, '_>, sparing: &str) {
    extents(bencher, &zoned(30, sparing));
}

#[divan::bench]
fn extent_in_index(bencher: Bencher<'_, '_>) {
    extents(bencher, &indexed());
}

#[divan::bench]
fn start_with_index(bencher: Bencher<'_, '_>) {
    let mechanics = indexed();
    bencher.bench_local(|| Layout::new(&mechanics));
}

/// Measures the whole path from the text of a drive file to an idle drive.
#[divan::bench]
fn start_from_the_file_of_an_index(bencher: Bencher<'_, '_>) {
    let section = toml::Table::try_from(indexed()).expect("plain figures");
    let file = toml::Table::from_iter([("mechanics".to_owned(), toml::Value::Table(section))]);
    let text = format!("name = \"index\"\nkind = \"mechanical\"\ndepth = 1\n{file}");
    bencher.counter(divan::counter::BytesCount::of_str(&text)).bench_local(|| {
        let file = DriveFile::parse(&text).expect("it is in order");
        let mechanics = file.mechanics.expect("it was written");
        MechanicalDrive::new(&mechanics, file.depth, 1).expect("it is in order")
    });
}

fn seeks(bencher: Bencher<'_, '_>, seek: &Seek) {
    let curve = SeekCurve::new(seek, 80_000).expect("a sound curve");
    let distances = scattered(LOOK_UPS, 80_000);
    let narrow = |distance: &u64| u32::try_from(*distance).expect("a distance");
    let distances: Vec<u32> = distances.iter().map(narrow).collect();
    bencher.counter(ItemsCount::new(LOOK_UPS)).bench_local(|| {
        for &distance in &distances {
            divan::black_box(curve.time(distance));
        }
    });
}

/// Measures a curve with many points at short distances and fewer at long ones.
#[divan::bench]
fn seek_by_350_points(bencher: Bencher<'_, '_>) {
    let point = |index: u32| (1 + index + index.pow(3) / 540, 500_000 + 20_000 * u64::from(index));
    seeks(bencher, &Seek::Points((0..350).map(point).collect()));
}

#[divan::bench]
fn seek_by_formula(bencher: Bencher<'_, '_>) {
    let formula = Seek::Formula {
        short_ns: 500_000,
        per_root_ns: 30_000,
        long_ns: 4_000_000,
        per_cylinder_ps: 60_000,
        long_from: 20_000,
    };
    seeks(bencher, &formula);
}
