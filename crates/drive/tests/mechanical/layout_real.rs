// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Layouts of real drives: every boundary, every slip, and random sectors.
//!
//! The files are DiskSim's and are not part of the project: if they are absent, a test skips and
//! prints so.

use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use tidegate_drive::mechanical::{Layout, Position};
use tidegate_model::Lba;
use tidegate_model::mechanics::{self, Mechanics};

use crate::layout_disksim;
use crate::layout_support::{check_sector, check_zones, disk, held};

fn folder() -> PathBuf {
    let default = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    std::env::var_os("TIDEGATE_DRIVE_DATA").map_or_else(default, PathBuf::from).join("drives")
}

fn read(name: &str) -> Option<String> {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path);
    text.inspect_err(|error| println!("skipped: {}: {error}", path.display())).ok()
}

/// Returns a drive by zones, with as many sectors as it holds.
fn zoned(name: &str) -> Option<Mechanics> {
    let model = layout_disksim::model(&read(name)?);
    let layout = mechanics::Layout::Zones(model.zones);
    Some(full(disk(model.surfaces, model.cylinders, 1, layout)))
}

/// Returns a drive with an index, with as many sectors as it holds.
fn indexed(name: &str, surfaces: u32, cylinders: u32) -> Option<Mechanics> {
    let layout = mechanics::Layout::Index(layout_disksim::index(&read(name)?));
    Some(full(disk(surfaces, cylinders, 1, layout)))
}

fn full(mut mechanics: Mechanics) -> Mechanics {
    mechanics.sectors = held(&mechanics);
    mechanics
}

static ATLAS_III: LazyLock<Option<Mechanics>> = LazyLock::new(|| zoned("atlas_III.model"));
static CHEETAH_9LP: LazyLock<Option<Mechanics>> = LazyLock::new(|| zoned("cheetah9LP.model"));
static HP_C2490A: LazyLock<Option<Mechanics>> = LazyLock::new(|| zoned("hp_c2490a_validate.model"));
static ATLAS_10K5: LazyLock<Option<Mechanics>> =
    LazyLock::new(|| indexed("atlas10k5/maxtor300g-layout.model", 8, 80_512 + 1));
static CHEETAH_15K5: LazyLock<Option<Mechanics>> =
    LazyLock::new(|| indexed("cheetah15k5/Seagate-Cheetah15k5-skews.layout", 4, 72_170 + 1));

fn all() -> Vec<Mechanics> {
    let drives = [&ATLAS_III, &CHEETAH_9LP, &HP_C2490A, &ATLAS_10K5, &CHEETAH_15K5];
    drives.into_iter().filter_map(|drive| (*drive).clone()).collect()
}

fn layouts() -> &'static [Layout] {
    static LAYOUTS: LazyLock<Vec<Layout>> =
        LazyLock::new(|| all().iter().map(|drive| Layout::new(drive).unwrap()).collect());
    &LAYOUTS
}

/// Goal: the same number of sectors as DiskSim counts. The models state how many the host can
/// address: the Atlas III and the Cheetah 9LP keep the rest, at their ends, as spares; for the
/// two with an index the last sector defines it.
#[test]
fn capacities_are_those_that_disksim_counts() {
    for (drive, held, addressed) in [
        (&ATLAS_III, 17_797_944, 17_783_250),
        (&CHEETAH_9LP, 17_918_387, 17_783_240),
        (&HP_C2490A, 4_165_272, 4_165_272),
        (&ATLAS_10K5, 585_937_500, 585_937_499),
        (&CHEETAH_15K5, 286_749_488, 286_749_487),
    ] {
        if let Some(drive) = drive.as_ref() {
            assert_eq!(drive.sectors, held);
            let addressed = Mechanics { sectors: addressed, ..drive.clone() };
            assert!(Layout::new(&addressed).is_ok());
        }
    }
}

#[test]
fn zones_cover_the_disk() {
    layouts().iter().for_each(check_zones);
}

#[test]
fn sectors_around_zones_are_where_they_are_found() {
    for layout in layouts() {
        for zone in layout.zones() {
            around(layout, zone.start.get());
            around(layout, zone.start.get() + zone.sectors);
        }
    }
}

fn around(layout: &Layout, sector: u64) {
    for sector in sector.saturating_sub(3)..(sector + 3).min(layout.sectors()) {
        check_sector(layout, sector);
    }
}

/// Extents tile the whole disk; where one does not hold its whole track, there is a slip, a spare
/// or an end, and the sectors around it are checked too.
#[test]
fn extents_tile_the_disk_and_slips_are_jumped_over() {
    for layout in layouts() {
        let mut next = 0;
        while next < layout.sectors() {
            let extent = layout.extent(Lba::new(next), u64::MAX);
            assert_eq!(extent.start, extent.track_begin);
            next = extent.track_end.get();
            if extent.sectors != extent.sectors_per_track {
                around_slips(layout, extent.start.get(), next);
            }
        }
        assert_eq!(next, layout.sectors());
    }
}

fn around_slips(layout: &Layout, begin: u64, end: u64) {
    check_sector(layout, begin);
    for sector in begin + 1..end {
        let [before, after] = [sector - 1, sector].map(|each| layout.position(Lba::new(each)));
        if after.sector != before.sector + 1 {
            around(layout, sector);
            let slipped = Position { sector: before.sector + 1, ..before };
            assert_eq!(layout.sector_at(slipped), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn sectors_at_random_are_where_they_are_found(sector in any::<Index>()) {
        for layout in layouts() {
            let sectors = usize::try_from(layout.sectors()).unwrap();
            check_sector(layout, sector.index(sectors) as u64);
        }
    }
}
