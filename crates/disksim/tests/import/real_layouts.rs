// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Layouts of real disks, if present: every boundary, every slip, and random sectors.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use tidegate_drive::mechanical::{Layout, Position};
use tidegate_model::Lba;
use tidegate_model::mechanics::Mechanics;

use crate::layout_checks::{check_sector, check_zones};
use crate::real::{drives, imported};

/// The disks' files, each with the number of sectors in its layout and the number that the host can
/// address.
///
/// DiskSim gives the same numbers. The Atlas III and the Cheetah 9LP keep the rest, at their ends,
/// as spares; for the two disks with an index, the last sector of the index defines the number.
const DISKS: [(&str, u64, u64); 5] = [
    ("atlas_III.diskspecs", 17_797_944, 17_783_250),
    ("cheetah9LP.diskspecs", 17_918_387, 17_783_240),
    ("hp_c2490a.diskspecs", 4_165_272, 4_165_272),
    ("atlas10k5", 585_937_500, 585_937_499),
    ("cheetah15k5", 286_749_488, 286_749_487),
];

/// Returns the layouts of all disks that are present, with as many sectors as they hold.
fn layouts() -> &'static [Layout] {
    static LAYOUTS: LazyLock<Vec<Layout>> = LazyLock::new(|| {
        let Some(drives) = drives() else { return Vec::new() };
        let layout = |(name, held, addressed)| {
            let mechanics = imported(&[drives.join(name)]).drive.mechanics.expect("a hard disk");
            assert_eq!(mechanics.sectors, addressed, "{name}");
            assert_eq!(Layout::held(&mechanics).unwrap().sectors, held, "{name}");
            Layout::new(&Mechanics { sectors: held, ..*mechanics }).unwrap()
        };
        DISKS.into_iter().map(layout).collect()
    });
    &LAYOUTS
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

/// Extents tile the whole disk. Where an extent does not cover its whole track, there is a slip, a
/// spare or an end, and the sectors around it are checked too.
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
