// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Any text and any figures are refused or accepted, without a panic, a hang or excessive memory.
//!
//! An accepted layout must be consistent: each sector is found at its position.

use proptest::prelude::*;
use tidegate_drive::mechanical::Layout;
use tidegate_model::Lba;
use tidegate_model::mechanics::{self, Mechanics, TrackIndex, Zone, Zones};

use super::layout_checks::{check_sector, check_zones};
use super::layout_support::{ORDERS, SPARINGS, disk, index};

/// Rows as in real extractions.
const ROWS: &str = "0 31 0 1170 1 240191 37440 -32 T 0 0
37440 0 690240 1114 1 240364 35648 32 T 1 1
-
0 0 0 1170 1 0 1170 1 T 0 0
1170 1 139353 1170 1 277705 1170 1 T 0 0
-
0 0 0 73088 32 76899 1242496 544 N 0
1242496 544 306276 2340 2 845623 2340 2 N 1
";

const TRACKS: &str = "0 1169 1170\n0 1113 1114\n";

/// Checks the layout with all the sectors that it holds, if it is accepted. It must then be
/// accepted with its own figures, and refused with one sector more or one cylinder less.
fn check_if_accepted(surfaces: u32, cylinders: u32, layout: mechanics::Layout) {
    let mechanics = disk(surfaces, cylinders, 1, layout);
    let held = Layout::held(&mechanics).ok().filter(|held| held.sectors > 0);
    let Some(held) = held else { return };
    let disk = |cylinders, sectors| Mechanics { cylinders, sectors, ..mechanics.clone() };
    assert!(Layout::new(&disk(held.cylinders, held.sectors + 1)).is_err());
    assert!(Layout::new(&disk(held.cylinders - 1, held.sectors)).is_err());
    // Remapped sectors can lie beyond the last cylinder with other data.
    Layout::new(&disk(cylinders, held.sectors)).iter().for_each(check_some);
}

/// Checks some sectors, the first and the last included.
fn check_some(layout: &Layout) {
    let last = layout.sectors() - 1;
    for part in 0..20 {
        let sector = u64::try_from(u128::from(last) * part / 19).unwrap();
        check_sector(layout, sector);
        let extent = layout.extent(Lba::new(sector), u64::MAX);
        check_sector(layout, extent.track_begin.get());
    }
    check_zones(layout);
}

/// Generates replacements for a number of a row: a near number, a far one, or a limit.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (0_u64..5).prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<i32>().prop_map(|number| number.to_string()),
        prop::sample::select(vec![
            "",
            "-",
            "--",
            "T",
            "N",
            "18446744073709551616",
            "4294967296",
            "-18446744073709551615",
            "73088",
            "1170",
            "999999",
            "1000000",
            "\u{0}",
            "\u{e9}",
            "1e3",
            "0x10",
            "+1",
        ])
        .prop_map(str::to_owned),
    ]
}

fn mutated(text: &str, changes: &[(prop::sample::Index, String)]) -> String {
    let mut rows: Vec<Vec<String>> =
        text.lines().map(|row| row.split(' ').map(str::to_owned).collect()).collect();
    for (place, number) in changes {
        let row = place.index(rows.len());
        let word = place.index(rows[row].len());
        rows[row][word].clone_from(number);
    }
    rows.iter().map(|row| row.join(" ") + "\n").collect()
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9 TN\n-]{0,200}",
        ".{0,100}",
        proptest::collection::vec(number(), 0..40).prop_map(|words| words.join(" ")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn rows_with_other_numbers_are_taken_or_refused(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), number()), 1..4),
        slips in prop_oneof![Just(String::new()), text(), Just("5 1\n70000 9\n".to_owned())],
        remaps in prop_oneof![Just(String::new()), text(), Just("7 1 599 1 0 9\n".to_owned())],
        surfaces in 1_u32..4,
        cylinders in prop_oneof![Just(600_u32), 0_u32..1_000, any::<u32>()],
    ) {
        let index = TrackIndex { slips, remaps, ..index(TRACKS, &mutated(ROWS, &changes)) };
        check_if_accepted(surfaces, cylinders, mechanics::Layout::Index(index));
    }

    #[test]
    fn any_text_is_taken_or_refused(tracks in text(), rows in text(), slips in text(), remaps in text()) {
        let index = TrackIndex { tracks, index: rows, slips, remaps };
        check_if_accepted(2, 100, mechanics::Layout::Index(index));
    }

    #[test]
    fn any_zones_are_taken_or_refused(
        zone in proptest::collection::vec(any_zone(), 0..4),
        order in prop::sample::select(&ORDERS),
        sparing in prop::sample::select(&SPARINGS),
        range_cylinders in prop::option::of(figure().prop_map(narrow)),
        slips_keep_spares in any::<bool>(),
        surfaces in prop_oneof![1_u32..5, 1_000_u32..1_030, any::<u32>()],
        cylinders in prop_oneof![1_u32..500, Just(1 << 24), any::<u32>()],
    ) {
        let zones = Zones { order, sparing, range_cylinders, slips_keep_spares, zone };
        check_if_accepted(surfaces, cylinders, mechanics::Layout::Zones(zones));
    }
}

fn narrow(figure: u64) -> u32 {
    u32::try_from(figure).unwrap_or(u32::MAX)
}

/// Generates figures that are mostly small and sometimes as large as possible.
fn figure() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0_u64..20, 2 => 0_u64..2_000_000, 1 => any::<u64>()]
}

prop_compose! {
    fn any_zone()(
        cylinders in (figure(), figure()),
        sectors_per_track in prop_oneof![1_u32..40, 131_000_u32..131_080, any::<u32>()],
        figures in proptest::array::uniform8(figure()),
        slips in proptest::collection::vec(figure(), 0..6),
        defects in proptest::collection::vec((figure(), figure()), 0..3),
    ) -> Zone {
        let cylinder_first = narrow(cylinders.0);
        Zone {
            cylinder_first,
            cylinder_last: cylinder_first.saturating_add(narrow(cylinders.1)),
            sectors_per_track,
            offset_millisectors: figures[0],
            offset_ppm: figures[1],
            skipped_sectors: figures[2],
            track_skew_millisectors: figures[3],
            track_skew_ppm: figures[4],
            cylinder_skew_millisectors: figures[5],
            cylinder_skew_ppm: figures[6],
            spares: narrow(figures[7]),
            slips,
            defects,
        }
    }
}
