// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Invalid indexes, with their error messages.

use tidegate_model::mechanics::TrackIndex;

use crate::layout_support::{index, indexed, refusal};

fn refused_rows(tracks: &str, rows: &str, expected: &str) {
    assert_eq!(refusal(&indexed(2, 10, 8, &index(tracks, rows))), expected);
}

fn refused_index(index: &TrackIndex, expected: &str) {
    assert_eq!(refusal(&indexed(2, 10, 8, index)), expected);
}

const TRACKS: &str = "0 3 4\n";

#[test]
fn kinds_of_track_that_cannot_be() {
    refused_rows(
        "0 3 4\n\n3 2 4",
        "",
        "tracks: row 3: last: data from sector 3 to sector 2 of 4; write the first and the last sector with data, counted from 0",
    );
    refused_rows(
        "0 4 4",
        "",
        "tracks: row 1: last: data from sector 0 to sector 4 of 4; write the first and the last sector with data, counted from 0",
    );
    refused_rows(
        "0 0 0",
        "",
        "tracks: row 1: sectors_per_track: a track cannot have 0 sectors; write a number from 1 \
         to 131072",
    );
}

#[test]
fn words_where_numbers_belong() {
    refused_rows(
        "0 3",
        "",
        "tracks: row 1: sectors_per_track: the row ends too early; write a decimal number",
    );
    refused_rows(
        "0 3 four",
        "",
        "tracks: row 1: sectors_per_track: `four` is not a number; write a decimal number",
    );
    refused_rows("0 3x 4", "", "tracks: row 1: last: `3x` is not a number; write a decimal number");
    refused_rows("0 -3 4", "", "tracks: row 1: last: `-3` is not a number; write a decimal number");
    refused_rows("0 3 4 5 6", "", "tracks: row 1: unexpected text: `5 6`; remove it");
    refused_rows(
        "0 3 18446744073709551616",
        "",
        "tracks: row 1: sectors_per_track: a number too large; write a smaller one",
    );
}

#[test]
fn rows_that_are_no_entries() {
    refused_rows(
        TRACKS,
        "0 0 0 4 1 0 4 1 X 0 0",
        "index: row 1: T or N: the row names neither tracks nor nodes; write `T kind head` or `N node` after eight numbers",
    );
    refused_rows(
        TRACKS,
        "0 0 0 4 1 0 4 1 N 0",
        "index: row 1: node: 0, but only 0 precede this row; count from 0, and write a node before the rows that refer to it",
    );
    refused_rows(
        TRACKS,
        "0 0 0 4 1 0 4 1 T 1 0",
        "index: row 1: kind: 1, but only 1 precede this row; count from 0, and write a node before the rows that refer to it",
    );
    refused_rows(
        TRACKS,
        "0 0 0 4 1 0 4 1 T 0 2",
        "index: row 1: head: 2 is too large; write at most 1",
    );
    refused_rows(
        TRACKS,
        "0 10 0 4 1 0 4 1 T 0 0",
        "index: row 1: cylinder: 10 is too large; write at most 9",
    );
    refused_rows(
        TRACKS,
        "0 0 1000000 4 1 0 4 1 T 0 0",
        "index: row 1: offset_ppm: 1000000 is too large; write at most 999999",
    );
    refused_rows(
        TRACKS,
        "0 0 0 4 1 1000000 4 1 T 0 0",
        "index: row 1: skew_ppm: 1000000 is too large; write at most 999999",
    );
}

#[test]
fn node_that_refers_to_itself_or_ahead() {
    for node in [1, 2] {
        let rows = format!("0 0 0 4 1 0 4 1 T 0 0\n-\n0 0 0 4 1 0 4 1 N {node}");
        let expected = format!(
            "index: row 3: node: {node}, but only 1 precede this row; count from 0, and \
             write a node before the rows that refer to it"
        );
        refused_rows(TRACKS, &rows, &expected);
    }
}

#[test]
fn node_of_no_rows() {
    let help = "the node has no rows; write `-` between nodes only";
    refused_rows(TRACKS, "", &format!("index: node 0: {help}"));
    refused_rows(TRACKS, "0 0 0 4 1 0 4 1 T 0 0\n-\n", &format!("index: node 1: {help}"));
}

#[test]
fn gap_between_rows() {
    refused_rows(
        TRACKS,
        "0 0 0 4 1 0 4 1 T 0 0\n5 1 0 4 1 0 4 1 T 0 0",
        "index: row 2: sectors_before: 5, but the rows before it cover 4; let each row begin \
         where the one before ends",
    );
}

#[test]
fn runs_that_cannot_be() {
    for row in ["0 0 0 0 1 0 4 1 T 0 0", "0 0 0 4 0 0 4 1 T 0 0", "0 0 0 4 1 0 0 0 T 0 0"] {
        refused_rows(
            TRACKS,
            row,
            "index: row 1: sectors: the run or its piece is empty; write 1 or more",
        );
    }
    refused_rows(
        TRACKS,
        "0 0 0 4 1 0 8 3 T 0 0",
        "index: row 1: run_cylinders: 3 cylinders for 2 pieces of 1; let each piece have its \
         own cylinders",
    );
    refused_rows(
        TRACKS,
        "0 0 0 1 1 0 4294967296 4294967296 T 0 0",
        "index: row 1: run_sectors: the run is too long; write less",
    );
    for row in ["0 9 0 4 1 0 8 2 T 0 0", "0 0 0 4 1 0 8 -2 T 0 0", "0 9 0 4 2 0 8 -4 T 0 0"] {
        refused_rows(
            TRACKS,
            row,
            "index: row 1: run_cylinders: the run leaves the disk, which has 10 cylinders; correct the \
             row, or `cylinders`",
        );
    }
}

#[test]
fn pieces_that_contradict_their_entries() {
    let surplus = "sectors: 5 sectors, but the piece has 4; write at most 4";
    let next = "5 1 0 4 1 0 4 1 T 0 0";
    for rows in ["0 0 0 5 1 0 10 2 T 0 0".to_owned(), format!("0 0 0 5 1 0 5 1 T 0 0\n{next}")] {
        refused_rows(TRACKS, &rows, &format!("index: row 1: {surplus}"));
    }
    refused_rows(
        TRACKS,
        "0 0 0 4 2 0 4 2 T 0 0",
        "index: row 1: cylinders: 2 for a piece of 1; write 1",
    );
    refused_rows(
        TRACKS,
        "0 0 0 4 1 0 8 2 T 0 0\n-\n0 0 0 8 1 0 8 1 N 0",
        "index: row 3: cylinders: 1 for a piece of 2; write 2",
    );
    refused_rows(
        TRACKS,
        "0 0 0 4 1 0 8 2 T 0 0\n-\n0 0 0 9 2 0 18 4 N 0",
        "index: row 3: sectors: 9 sectors, but the piece has 8; write at most 8",
    );
}

#[test]
fn tracks_that_stand_in_two_rows() {
    let help = "write each track in one row only";
    for second in ["8 0 0 4 1 0 8 2 T 0 1\n16 1 0 4 1 0 4 1 T 0 1", "8 2 0 4 1 0 8 -2 T 0 0"] {
        let expected =
            format!("index: node 0: two rows contain the same track of cylinder 1; {help}");
        refused_rows(TRACKS, &format!("0 0 0 4 1 0 8 2 T 0 0\n{second}"), &expected);
    }
    let node = "0 0 0 4 1 0 8 2 T 0 0\n-\n";
    let rows = format!("{node}0 3 0 8 2 0 8 2 N 0\n8 4 0 4 1 0 4 1 T 0 1");
    let expected = format!("index: node 1: two rows contain the same track of cylinder 4; {help}");
    refused_rows(TRACKS, &rows, &expected);
}

#[test]
fn nodes_nested_too_deep() {
    let nodes = (0..16).map(|node| format!("0 0 0 4 1 0 4 1 N {node}"));
    let rows: Vec<String> =
        std::iter::once("0 0 0 4 1 0 4 1 T 0 0".to_owned()).chain(nodes).collect();
    refused_rows(
        TRACKS,
        &rows.join("\n-\n"),
        "index: row 33: node: too deep; nest at most 16 nodes",
    );
}

#[test]
fn slips_out_of_order() {
    let rows = index(TRACKS, "0 0 0 4 1 0 12 3 T 0 0");
    for slips in ["5 2\n6 1", "5 2\n4 1", "5 18446744073709551615"] {
        let (sector, count) = slips.lines().last().unwrap().split_once(' ').unwrap();
        let expected = format!(
            "slips: {count} sectors from {sector} on are out of order or slipped twice; write them \
             in order, each sector once"
        );
        refused_index(&TrackIndex { slips: slips.to_owned(), ..rows.clone() }, &expected);
    }
}

#[test]
fn remaps_that_cannot_be() {
    let rows = index(TRACKS, "0 0 0 4 1 0 12 3 T 0 0");
    let refused = |remaps: &str, expected: &str| {
        refused_index(&TrackIndex { remaps: remaps.to_owned(), ..rows.clone() }, expected);
    };
    for (row, count, start) in
        [("1 0 9 0 0 4", 0, 1), ("11 2 9 0 0 4", 2, 11), ("1 3 9 0 2 4", 3, 1)]
    {
        let expected = format!(
            "remaps: row 1: count: {count} sectors from {start} on do not fit on the disk or on the track; write sectors of the disk, and a run on one track"
        );
        refused(row, &expected);
    }
    refused("1 1 10 0 0 4", "remaps: row 1: cylinder: 10 is too large; write at most 9");
    refused("1 1 9 2 0 4", "remaps: row 1: head: 2 is too large; write at most 1");
    refused(
        "1 1 9 0 0 0",
        "remaps: row 1: sectors_per_track: a track cannot have 0 sectors; write a number from 1 \
         to 131072",
    );
    refused(
        "1 1 2 0 0 5",
        "remaps: row 1: sectors_per_track: 5, but in the index this track has 4; write 4",
    );
    refused(
        "1 1 2 0 3 4",
        "remaps: row 1: first: these sectors already hold data; name sectors without data",
    );
    refused(
        "1 2 9 0 0 4\n2 1 8 0 0 4",
        "remaps: sector 2 is stored twice; name each sector and each position once",
    );
    refused(
        "1 2 9 0 0 4\n5 1 9 0 1 4",
        "remaps: two sectors are stored at cylinder 9, head 0, sector 1; name each sector and each position once",
    );
}
