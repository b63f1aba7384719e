// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Layouts by an index over tracks: small ones computed by hand, and random trees.

use std::fmt::Write as _;

use proptest::prelude::*;
use tidegate_drive::mechanical::{Angle, Layout, Position};
use tidegate_model::Lba;
use tidegate_model::mechanics::TrackIndex;

use super::layout_support::{check_all, held, index, indexed};

fn at(cylinder: u32, head: u32, sector: u32) -> Position {
    Position { cylinder, head, sector }
}

fn ppm(millionths: u64) -> Angle {
    Angle::of_turn(millionths, 1_000_000)
}

fn layout(surfaces: u32, cylinders: u32, index: &TrackIndex) -> Layout {
    let mut mechanics = indexed(surfaces, cylinders, 1, index);
    mechanics.sectors = held(&mechanics);
    Layout::new(&mechanics).unwrap()
}

/// Three tracks inwards under head 0, then back under head 1, as on serpentine disks.
const SERPENTINE: &str = "
    0 0 0 10 1 100000 30 3 T 0 0
    30 2 500000 8 1 200000 24 -3 T 1 1
";

#[test]
fn run_of_negative_cylinders_comes_back() {
    let layout = layout(2, 3, &index("0 9 10\n0 7 8", SERPENTINE));
    let positions = [0, 25, 30, 38, 53].map(|sector| layout.position(Lba::new(sector)));
    assert_eq!(positions, [at(0, 0, 0), at(2, 0, 5), at(2, 1, 0), at(1, 1, 0), at(0, 1, 7)]);
    check_all(&layout);
}

#[test]
fn angles_go_on_by_the_skew_in_both_directions() {
    let layout = layout(2, 3, &index("0 9 10\n0 7 8", SERPENTINE));
    let begins = [0, 10, 20, 30, 38, 46].map(|sector| layout.extent(Lba::new(sector), 1).begin);
    assert_eq!(begins, [0, 100_000, 200_000, 500_000, 700_000, 900_000].map(ppm));
    let into = layout.extent(Lba::new(33), 2);
    assert_eq!((into.begin, into.span), (ppm(875_000), ppm(250_000)));
}

#[test]
fn nodes_add_up_sectors_cylinders_and_angles() {
    let text = format!("{SERPENTINE} - \n 0 1 900000 54 3 250000 108 6 N 0");
    let layout = layout(2, 7, &index("0 9 10\n0 7 8", &text));
    assert_eq!(layout.position(Lba::new(54 + 38)), at(5, 1, 0));
    // The second node begins at 0.9 + 0.25 turns; its second track under head 1 is 0.5 + 0.2
    // further on.
    assert_eq!(layout.extent(Lba::new(54 + 38), 1).begin, ppm(850_000));
    check_all(&layout);
}

#[test]
fn node_whose_end_is_not_used_has_no_data_there() {
    let text = format!("{SERPENTINE} - \n 0 0 0 35 3 0 70 6 N 0");
    let layout = layout(2, 6, &index("0 9 10\n0 7 8", &text));
    assert_eq!(layout.sectors(), 70);
    assert_eq!(layout.position(Lba::new(35)), at(3, 0, 0));
    assert_eq!(layout.sector_at(at(2, 1, 5)), None);
    assert_eq!(layout.sector_at(at(1, 1, 0)), None);
    check_all(&layout);
}

/// The last row may have more sectors than the disk: an extraction that ran beyond the end of the
/// disk ends like this.
#[test]
fn last_row_may_promise_more_than_there_is() {
    let text = format!("{SERPENTINE} - \n 0 0 0 54 3 0 54 3 N 0\n54 3 0 60 3 0 60 3 N 0");
    let layout = layout(2, 6, &index("0 9 10\n0 7 8", &text));
    assert_eq!(layout.sectors(), 108);
    check_all(&layout);
}

#[test]
fn last_piece_of_a_run_may_be_shorter() {
    let rows = "0 0 0 10 1 0 25 3 T 0 0\n25 3 0 10 1 0 10 1 T 0 0";
    let layout = layout(1, 4, &index("0 9 10", rows));
    assert_eq!(layout.extent(Lba::new(20), 100).track_end, Lba::new(25));
    assert_eq!(layout.position(Lba::new(25)), at(3, 0, 0));
    assert_eq!(layout.sector_at(at(2, 0, 5)), None);
    check_all(&layout);
}

/// As in DiskSim, the offset belongs to the first sector with data.
#[test]
fn track_may_begin_behind_sectors_without_data() {
    let layout = layout(1, 1, &index("3 6 8", "0 0 250000 4 1 0 4 1 T 0 0"));
    let extent = layout.extent(Lba::new(1), 10);
    assert_eq!(layout.position(Lba::new(1)), at(0, 0, 4));
    assert_eq!((extent.begin, extent.span), (ppm(375_000), ppm(375_000)));
    assert_eq!(layout.sector_at(at(0, 0, 2)), None);
    assert_eq!(layout.sector_at(at(0, 0, 7)), None);
}

#[test]
fn slips_leave_out_sectors_of_the_index() {
    let slips = "2 1\n9 3\n".to_owned();
    let layout = layout(1, 2, &TrackIndex { slips, ..index("0 9 10", "0 0 0 10 1 0 20 2 T 0 0") });
    assert_eq!(layout.sectors(), 16);
    let positions = [1, 2, 7, 8].map(|sector| layout.position(Lba::new(sector)));
    assert_eq!(positions, [at(0, 0, 1), at(0, 0, 3), at(0, 0, 8), at(1, 0, 2)]);
    assert_eq!(layout.extent(Lba::new(0), 100).sectors, 8);
    assert_eq!(layout.extent(Lba::new(0), 100).span, ppm(900_000));
    check_all(&layout);
}

/// Sectors 4 and 5 are on a track of the index that is not full; sector 8 is on a track outside it.
#[test]
fn remapped_sectors_are_extents_of_their_own() {
    let remaps = "4 2 1 0 6 10\n8 1 2 0 3 4\n".to_owned();
    let rows = index("0 9 10\n0 5 10", "0 0 0 10 1 0 10 1 T 0 0\n10 1 300000 6 1 0 6 1 T 1 0");
    let layout = layout(1, 3, &TrackIndex { remaps, ..rows });
    let positions = [3, 4, 5, 8].map(|sector| layout.position(Lba::new(sector)));
    assert_eq!(positions, [at(0, 0, 3), at(1, 0, 6), at(1, 0, 7), at(2, 0, 3)]);
    assert_eq!(layout.extent(Lba::new(4), 100).begin, ppm(900_000));
    assert_eq!(layout.extent(Lba::new(8), 100).begin, ppm(750_000));
    assert_eq!([0, 4, 6, 8, 9].map(|at| layout.extent(Lba::new(at), 100).sectors), [4, 2, 2, 1, 1]);
    assert_eq!(layout.sector_at(at(0, 0, 4)), None);
    check_all(&layout);
}

#[test]
fn rows_of_the_root_are_zones_where_density_changes() {
    let rows = "0 0 0 10 1 0 20 2 T 0 0\n20 2 0 10 1 0 10 1 T 0 0\n30 3 0 8 1 0 16 2 T 1 0";
    let zones = layout(1, 5, &index("0 9 10\n0 7 8", rows)).zones();
    let facts: Vec<_> = zones
        .iter()
        .map(|zone| (zone.cylinder_first, zone.cylinder_last, zone.sectors_per_track, zone.sectors))
        .collect();
    assert_eq!(facts, [(0, 2, 10, 30), (3, 4, 8, 16)]);
}

/// A node that occurs `repeated` times on the disk: a run of all its cylinders under head 0,
/// inwards, and one under head 1, back.
#[derive(Debug, Clone)]
struct Group {
    cylinders: u64,
    kinds: [usize; 2],
    used: u64,
    repeated: u64,
    skews: [u64; 4],
}

const KINDS: [(u64, u64, u64); 4] = [(0, 9, 10), (0, 6, 7), (2, 5, 9), (1, 12, 13)];

prop_compose! {
    fn group()(
        cylinders in 1_u64..5,
        kinds in [0..KINDS.len(), 0..KINDS.len()],
        unused in 0_u64..4,
        repeated in 1_u64..4,
        skews in [0_u64..1_000_000, 0_u64..1_000_000, 0_u64..1_000_000, 0_u64..1_000_000],
    ) -> Group {
        let used = kinds.map(|kind| (KINDS[kind].1 - KINDS[kind].0 + 1) * cylinders);
        Group { cylinders, kinds, used: used[0] + used[1] - unused, repeated, skews }
    }
}

fn rows(groups: &[Group]) -> TrackIndex {
    let (mut text, mut root) = (String::new(), String::new());
    let (mut before, mut cylinder) = (0, 0);
    for (node, group) in groups.iter().enumerate() {
        let Group { cylinders, kinds, used, repeated, skews } = group;
        let data = kinds.map(|kind| KINDS[kind].1 - KINDS[kind].0 + 1);
        let run = data.map(|data| data * cylinders);
        writeln!(
            text,
            "0 0 {} {} 1 {} {} {cylinders} T {} 0",
            skews[0], data[0], skews[1], run[0], kinds[0]
        )
        .unwrap();
        writeln!(
            text,
            "{} {} {} {} 1 {} {} -{cylinders} T {} 1\n-",
            run[0],
            cylinders - 1,
            skews[2],
            data[1],
            skews[3],
            run[1],
            kinds[1]
        )
        .unwrap();
        writeln!(
            root,
            "{before} {cylinder} {} {used} {cylinders} {} {} {} N {node}",
            skews[3],
            skews[0],
            used * repeated,
            cylinders * repeated
        )
        .unwrap();
        before += used * repeated;
        cylinder += cylinders * repeated;
    }
    let mut tracks = String::new();
    for (first, last, sectors) in KINDS {
        writeln!(tracks, "{first} {last} {sectors}").unwrap();
    }
    index(&tracks, &(text + &root))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_sector_of_a_small_index_is_where_it_is_found(
        groups in proptest::collection::vec(group(), 1..4),
        slips in proptest::collection::vec((1_u64..30, 1_u64..25), 0..5),
        cut in 0_u64..5,
    ) {
        let mut index = rows(&groups);
        let mut next = 0;
        for (gap, count) in slips {
            writeln!(index.slips, "{} {count}", next + gap).unwrap();
            next += gap + count;
        }
        let mut mechanics = indexed(2, 60, 1, &index);
        mechanics.sectors = held(&mechanics).saturating_sub(cut);
        prop_assume!(mechanics.sectors > 0);
        check_all(&Layout::new(&mechanics).unwrap());
    }
}
