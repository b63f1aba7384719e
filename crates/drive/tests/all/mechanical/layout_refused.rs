// SPDX-License-Identifier: MIT OR Apache-2.0
//! Invalid disks, zones and indexes, with their error messages.
//!
//! In each table a line with figures is followed by the error for a disk with these figures.

use tidegate_model::mechanics::{Mechanics, TrackIndex, Zone};

use super::layout_support::{cases, disk_with_zones, index, indexed, plain, refusal, zone, zoned};

/// Checks every case of a table: a disk made from the first line is refused as the second says.
fn check(table: &str, disk: impl Fn(&str) -> Mechanics) {
    for [figures, expected] in cases(table) {
        assert_eq!(refusal(&disk(figures)), expected, "{figures}");
    }
}

#[test]
fn disks_and_zones_that_cannot_be() {
    check(
        r#"
        surfaces = 0 | cylinder_last = 0
          surfaces: 0 is not possible for a disk; write a number from 1 to 1024
        cylinders = 4294967295 | cylinder_last = 0
          cylinders: 4294967295 is not possible for a disk; write a number from 1 to 16777216
        sectors = 9 | cylinder_last = 0
          sectors: the disk has 9 sectors, but the layout holds 8; write a number from 1 to 8
        sectors = 0 | cylinder_last = 0
          sectors: the disk has 0 sectors, but the layout holds 8; write a number from 1 to 8
        sectors = 8
          sectors: the disk has 8 sectors, but the layout holds 0; check zones, spares and slips: they leave no sectors

        // Cylinders and tracks.
        | cylinder_last = 4 | cylinder_first = 4; cylinder_last = 6
          zone 1: cylinder_first: cylinder 4 belongs to the previous zone; write zones in order of their cylinders, this one from 5 on
        | cylinder_first = 3; cylinder_last = 2
          zone 0: cylinder_last: cylinders 3 to 2, but the disk has 10 cylinders; write the last cylinder of the zone, counted from 0, or correct `cylinders`
        | cylinder_first = 8; cylinder_last = 10
          zone 0: cylinder_last: cylinders 8 to 10, but the disk has 10 cylinders; write the last cylinder of the zone, counted from 0, or correct `cylinders`
        | cylinder_last = 4294967295
          zone 0: cylinder_last: cylinders 0 to 4294967295, but the disk has 10 cylinders; write the last cylinder of the zone, counted from 0, or correct `cylinders`
        | cylinder_last = 0; sectors_per_track = 0
          zone 0: sectors_per_track: a track cannot have 0 sectors; write a number from 1 to 131072
        | cylinder_last = 0; sectors_per_track = 131073
          zone 0: sectors_per_track: a track cannot have 131073 sectors; write a number from 1 to 131072
        | cylinder_last = 0; sectors_per_track = 4294967295
          zone 0: sectors_per_track: a track cannot have 4294967295 sectors; write a number from 1 to 131072

        // Spares.
        range_cylinders = 0 | cylinder_last = 0
          range_cylinders: a range cannot have 0 cylinders; write 1 or more, or omit it: a range is then the whole zone
        sparing = "cylinder"; order = "surface-serpentine" | cylinder_last = 0
          sparing: spares in each cylinder need an order in which a cylinder's tracks are consecutive; choose `track`, `range` or `zone`, or another `order`
        sparing = "cylinder-front"; order = "surface-serpentine" | cylinder_last = 0
          sparing: spares in each cylinder need an order in which a cylinder's tracks are consecutive; choose `track`, `range` or `zone`, or another `order`
        sparing = "track" | spares = 4
          zone 0: spares: 4 of every 4 sectors are spares: no sectors are left; write fewer spares
        sparing = "zone-tracks" | spares = 4294967295
          zone 0: spares: 17179869180 of every 16 sectors are spares: no sectors are left; write fewer spares

        // Slips and skipped sectors.
        sparing = "zone" | slips = [16]
          zone 0: slips: 16 is beyond the end of the zone, which has 16; count from the first sector (with `zone-tracks`, track) of the zone, from 0
        sparing = "zone-tracks" | slips = [4]
          zone 0: slips: 4 is beyond the end of the zone, which has 4; count from the first sector (with `zone-tracks`, track) of the zone, from 0
        sparing = "none" | slips = [3, 1, 3]
          zone 0: slips: 3 is listed twice; list each slip once
        sparing = "zone-tracks" | slips = [3, 1, 3]
          zone 0: slips: 3 is listed twice; list each slip once
        sparing = "cylinder" | spares = 1; slips = [2, 9, 12]
          zone 0: slips: 2 slips around 9, but only 1 spares for them; write more spares, or set `slips_keep_spares = true` to move the whole zone up
        sparing = "zone" | slips = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
          zone 0: slips: slips skip all sectors of the zone; list fewer slips
        sparing = "zone" | spares = 3; skipped_sectors = 14
          zone 0: skipped_sectors: 14 sectors skipped, but the zone holds 13; write at most 13

        // Defects.
        sparing = "zone" | spares = 3; defects = [[1, 16]]
          zone 0: defects: 16 is beyond the end of the zone, which has 16; count from the first sector (with `zone-tracks`, track) of the zone, from 0
        sparing = "zone" | spares = 3; defects = [[1, 13], [1, 14]]
          zone 0: defects: 1 is listed twice; list each sector once
        sparing = "zone" | spares = 3; defects = [[1, 12]]
          zone 0: defects: 12 replaces another, but holds data itself; name a spare
        sparing = "zone" | spares = 3; defects = [[1, 14], [2, 14]]
          defects: two sectors are stored at cylinder 1, head 1, sector 2; give each defect a spare sector of its own
        "#,
        disk_with_zones,
    );
}

/// Tests a number that is larger than a drive file can hold.
#[test]
fn defect_at_the_largest_number() {
    let zone = Zone { spares: 3, defects: vec![(u64::MAX, 1)], ..zone(0, 1, 4) };
    let beyond = "18446744073709551615 is beyond the end of the zone, which has 16; count from \
                  the first sector (with `zone-tracks`, track) of the zone, from 0";
    let disk = zoned(2, 10, 8, &plain(vec![zone]));
    assert_eq!(refusal(&disk), format!("zone 0: defects: {beyond}"));
}

/// Returns a disk with an index of these rows, separated by slashes.
fn disk_with_index(index: &TrackIndex) -> Mechanics {
    let rows = |text: &str| text.split('/').map(str::trim).collect::<Vec<_>>().join("\n");
    let TrackIndex { tracks, index, slips, remaps } = index;
    let [tracks, index, slips, remaps] = [tracks, index, slips, remaps].map(|text| rows(text));
    indexed(2, 10, 8, &TrackIndex { tracks, index, slips, remaps })
}

const TRACKS: &str = "0 3 4";
const ROWS: &str = "0 0 0 4 1 0 12 3 T 0 0";

#[test]
fn kinds_of_track_that_cannot_be() {
    check(
        "
        0 3 4 / / 3 2 4
          tracks: row 3: last: data from sector 3 to sector 2 of 4; write the first and the last sector with data, counted from 0
        0 4 4
          tracks: row 1: last: data from sector 0 to sector 4 of 4; write the first and the last sector with data, counted from 0
        0 0 0
          tracks: row 1: sectors_per_track: a track cannot have 0 sectors; write a number from 1 to 131072
        0 3
          tracks: row 1: sectors_per_track: the row ends too early; write a decimal number
        0 3 four
          tracks: row 1: sectors_per_track: `four` is not a number; write a decimal number
        0 3x 4
          tracks: row 1: last: `3x` is not a number; write a decimal number
        0 -3 4
          tracks: row 1: last: `-3` is not a number; write a decimal number
        0 3 4 5 6
          tracks: row 1: unexpected text: `5 6`; remove it
        0 3 18446744073709551616
          tracks: row 1: sectors_per_track: a number too large; write a smaller one
        ",
        |tracks| disk_with_index(&index(tracks, "")),
    );
}

#[test]
fn rows_of_an_index_that_cannot_be() {
    check(
        "
        0 0 0 4 1 0 4 1 X 0 0
          index: row 1: T or N: the row names neither tracks nor nodes; write `T kind head` or `N node` after eight numbers
        0 0 0 4 1 0 4 1 N 0
          index: row 1: node: 0, but only 0 precede this row; count from 0, and write a node before the rows that refer to it
        0 0 0 4 1 0 4 1 T 1 0
          index: row 1: kind: 1, but only 1 precede this row; count from 0, and write a node before the rows that refer to it
        0 0 0 4 1 0 4 1 T 0 2
          index: row 1: head: 2 is too large; write at most 1
        0 10 0 4 1 0 4 1 T 0 0
          index: row 1: cylinder: 10 is too large; write at most 9
        0 0 1000000 4 1 0 4 1 T 0 0
          index: row 1: offset_ppm: 1000000 is too large; write at most 999999
        0 0 0 4 1 1000000 4 1 T 0 0
          index: row 1: skew_ppm: 1000000 is too large; write at most 999999

        // Nodes: one that refers to itself or ahead, and nodes of no rows.
        0 0 0 4 1 0 4 1 T 0 0 / - / 0 0 0 4 1 0 4 1 N 1
          index: row 3: node: 1, but only 1 precede this row; count from 0, and write a node before the rows that refer to it
        0 0 0 4 1 0 4 1 T 0 0 / - / 0 0 0 4 1 0 4 1 N 2
          index: row 3: node: 2, but only 1 precede this row; count from 0, and write a node before the rows that refer to it
        /
          index: node 0: the node has no rows; write `-` between nodes only
        0 0 0 4 1 0 4 1 T 0 0 / - /
          index: node 1: the node has no rows; write `-` between nodes only
        0 0 0 4 1 0 4 1 T 0 0 / 5 1 0 4 1 0 4 1 T 0 0
          index: row 2: sectors_before: 5, but the rows before it cover 4; let each row begin where the one before ends

        // Runs.
        0 0 0 0 1 0 4 1 T 0 0
          index: row 1: sectors: the run or its piece is empty; write 1 or more
        0 0 0 4 0 0 4 1 T 0 0
          index: row 1: sectors: the run or its piece is empty; write 1 or more
        0 0 0 4 1 0 0 0 T 0 0
          index: row 1: sectors: the run or its piece is empty; write 1 or more
        0 0 0 4 1 0 8 3 T 0 0
          index: row 1: run_cylinders: 3 cylinders for 2 pieces of 1; let each piece have its own cylinders
        0 0 0 1 1 0 4294967296 4294967296 T 0 0
          index: row 1: run_sectors: the run is too long; write less
        0 9 0 4 1 0 8 2 T 0 0
          index: row 1: run_cylinders: the run leaves the disk, which has 10 cylinders; correct the row, or `cylinders`
        0 0 0 4 1 0 8 -2 T 0 0
          index: row 1: run_cylinders: the run leaves the disk, which has 10 cylinders; correct the row, or `cylinders`
        0 9 0 4 2 0 8 -4 T 0 0
          index: row 1: run_cylinders: the run leaves the disk, which has 10 cylinders; correct the row, or `cylinders`

        // Pieces that contradict their entries.
        0 0 0 5 1 0 10 2 T 0 0
          index: row 1: sectors: 5 sectors, but the piece has 4; write at most 4
        0 0 0 5 1 0 5 1 T 0 0 / 5 1 0 4 1 0 4 1 T 0 0
          index: row 1: sectors: 5 sectors, but the piece has 4; write at most 4
        0 0 0 4 2 0 4 2 T 0 0
          index: row 1: cylinders: 2 for a piece of 1; write 1
        0 0 0 4 1 0 8 2 T 0 0 / - / 0 0 0 8 1 0 8 1 N 0
          index: row 3: cylinders: 1 for a piece of 2; write 2
        0 0 0 4 1 0 8 2 T 0 0 / - / 0 0 0 9 2 0 18 4 N 0
          index: row 3: sectors: 9 sectors, but the piece has 8; write at most 8

        // Tracks in two rows.
        0 0 0 4 1 0 8 2 T 0 0 / 8 0 0 4 1 0 8 2 T 0 1 / 16 1 0 4 1 0 4 1 T 0 1
          index: node 0: two rows contain the same track of cylinder 1; write each track in one row only
        0 0 0 4 1 0 8 2 T 0 0 / 8 2 0 4 1 0 8 -2 T 0 0
          index: node 0: two rows contain the same track of cylinder 1; write each track in one row only
        0 0 0 4 1 0 8 2 T 0 0 / - / 0 3 0 8 2 0 8 2 N 0 / 8 4 0 4 1 0 4 1 T 0 1
          index: node 1: two rows contain the same track of cylinder 4; write each track in one row only
        ",
        |rows| disk_with_index(&index(TRACKS, rows)),
    );
}

#[test]
fn nodes_nested_too_deep() {
    let mut rows = vec!["0 0 0 4 1 0 4 1 T 0 0".to_owned()];
    rows.extend((0..16).map(|node| format!("0 0 0 4 1 0 4 1 N {node}")));
    let disk = disk_with_index(&index(TRACKS, &rows.join(" / - / ")));
    assert_eq!(refusal(&disk), "index: row 33: node: too deep; nest at most 16 nodes");
}

#[test]
fn slips_of_an_index_out_of_order() {
    check(
        "
        5 2 / 6 1
          slips: 1 sectors from 6 on are out of order or slipped twice; write them in order, each sector once
        5 2 / 4 1
          slips: 1 sectors from 4 on are out of order or slipped twice; write them in order, each sector once
        5 18446744073709551615
          slips: 18446744073709551615 sectors from 5 on are out of order or slipped twice; write them in order, each sector once
        ",
        |slips| disk_with_index(&TrackIndex { slips: slips.to_owned(), ..index(TRACKS, ROWS) }),
    );
}

#[test]
fn remaps_that_cannot_be() {
    check(
        "
        1 0 9 0 0 4
          remaps: row 1: count: 0 sectors from 1 on do not fit on the disk or on the track; write sectors of the disk, and a run on one track
        11 2 9 0 0 4
          remaps: row 1: count: 2 sectors from 11 on do not fit on the disk or on the track; write sectors of the disk, and a run on one track
        1 3 9 0 2 4
          remaps: row 1: count: 3 sectors from 1 on do not fit on the disk or on the track; write sectors of the disk, and a run on one track
        1 1 10 0 0 4
          remaps: row 1: cylinder: 10 is too large; write at most 9
        1 1 9 2 0 4
          remaps: row 1: head: 2 is too large; write at most 1
        1 1 9 0 0 0
          remaps: row 1: sectors_per_track: a track cannot have 0 sectors; write a number from 1 to 131072
        1 1 2 0 0 5
          remaps: row 1: sectors_per_track: 5, but in the index this track has 4; write 4
        1 1 2 0 3 4
          remaps: row 1: first: these sectors already hold data; name sectors without data
        1 2 9 0 0 4 / 2 1 8 0 0 4
          remaps: sector 2 is stored twice; name each sector and each position once
        1 2 9 0 0 4 / 5 1 9 0 1 4
          remaps: two sectors are stored at cylinder 9, head 0, sector 1; name each sector and each position once
        ",
        |remaps| disk_with_index(&TrackIndex { remaps: remaps.to_owned(), ..index(TRACKS, ROWS) }),
    );
}
