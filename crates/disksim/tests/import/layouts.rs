// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Layouts by zones and by index, and disks that contradict their layouts.

use tidegate_model::mechanics::{Layout, Sparing, TrackIndex, TrackOrder, Zones};

use crate::common::{MemoryFiles, disk};

fn zones(shelf: &MemoryFiles) -> Zones {
    match shelf.mechanics().layout {
        Layout::Zones(zones) => zones,
        Layout::Index(_) => panic!("expected a layout by zones"),
    }
}

const INDEXED: &str = "\
dm_layout_g4 {
TP = [
   0, 99, 100, # outer
   0, 79, 80
],
IDX = [
   [ # two tracks in, two out
      0, 0, 0.0, 100, 1, 0.141669, 200, 2, TRACK, 0, 0,
      200, 1, 0.25, 100, 1, 1.000000, 200, -2, TRACK, 0, 1
   ],
   [ 0, 0, 0.9999996, 400, 2, -0.25, 4000, 20, IDX, 0 ]
],
Slips = [ 7, 1, 90, 2 ],
Remaps = [ ]
}";

fn indexed(text: &str) -> MemoryFiles {
    disk().with("d.layout", text).changed("d.model", "19000", "3900")
}

fn index(text: &str) -> TrackIndex {
    match indexed(text).mechanics().layout {
        Layout::Index(index) => index,
        Layout::Zones(_) => panic!("expected a layout by index"),
    }
}

#[test]
fn zones_keep_their_figures_in_the_units_of_the_file() {
    let zones = zones(&disk());
    assert_eq!(zones.order, TrackOrder::CylinderSerpentine);
    assert_eq!((zones.sparing, zones.slips_keep_spares), (Sparing::Cylinder, false));
    let [first, second] = &zones.zone[..] else { panic!("expected two zones") };
    assert_eq!((first.cylinder_first, first.cylinder_last), (0, 49));
    assert_eq!((first.sectors_per_track, first.skipped_sectors, first.spares), (100, 20, 3));
    assert_eq!((first.offset_millisectors, first.offset_ppm), (500, 0));
    assert_eq!(first.track_skew_millisectors, 10_000);
    assert_eq!(first.cylinder_skew_millisectors, 20_000);
    assert_eq!(first.slips, [7, 9], "each once");
    assert_eq!(first.defects, [(3, 199)], "one that stands for itself is none");
    assert_eq!((second.offset_ppm, second.offset_millisectors), (250_000, 0));
    assert_eq!((second.track_skew_ppm, second.cylinder_skew_ppm), (900_000, 200_000));
}

#[test]
fn sparing_schemes_are_told_apart() {
    for (scheme, sparing, keeps) in [
        (0, Sparing::None, false),
        (2, Sparing::Cylinder, false),
        (3, Sparing::Track, false),
        (4, Sparing::Cylinder, true),
        (5, Sparing::CylinderFront, false),
        (6, Sparing::CylinderFront, true),
        (7, Sparing::None, false),
        (8, Sparing::Range, false),
        (9, Sparing::Zone, false),
        (10, Sparing::Zone, true),
    ] {
        let to = format!("scheme used = {scheme}");
        let shelf = disk()
            .changed("d.layout", "scheme used = 2", &to)
            .changed("d.layout", "Rangesize for sparing = 1", "Rangesize for sparing = 5")
            .changed("d.layout", "defects = [ 3 199 5 5 ]", "defects = []");
        let zones = zones(&shelf);
        assert_eq!((zones.sparing, zones.slips_keep_spares), (sparing, keeps), "{scheme}");
        assert_eq!(zones.range_cylinders, (scheme == 8).then_some(5), "{scheme}");
    }
    let tracks = disk().changed("d.layout", "scheme used = 2", "scheme used = 1").changed(
        "d.layout",
        "defects = [ 3 199 5 5 ]",
        "defects = []",
    );
    assert_eq!(zones(&tracks).sparing, Sparing::ZoneTracks);
}

#[test]
fn an_index_keeps_its_rows_with_angles_in_ppm_of_a_turn() {
    let index = index(INDEXED);
    assert_eq!(index.tracks, "0 99 100\n0 79 80\n");
    let rows = "0 0 0 100 1 141669 200 2 T 0 0\n200 1 250000 100 1 0 200 -2 T 0 1\n-\n\
                0 0 0 400 2 750000 4000 20 N 0\n";
    assert_eq!(index.index, rows);
    assert_eq!((index.slips.as_str(), index.remaps.as_str()), ("7 1\n90 2\n", ""));
}

#[test]
fn an_index_that_is_cut_off_is_refused() {
    for (from, to, said) in [
        ("T = [\n   0, 99, 100", "T = [\n   99, 100", "TP"),
        ("4000, 20, IDX, 0", "4000, 20, IDX", "cut off"),
        ("200, -2, TRACK, 0, 1", "200, -2, TRACK, 0", "cut off"),
        ("200, 2, TRACK", "200, 2, TRICK", "cannot be `TRICK`"),
        ("[ 7, 1, 90, 2 ]", "[ 7, 1, 90 ]", "Slips"),
        ("0.25, 100", "0.25, -100", "cannot be `-100`"),
    ] {
        let text = INDEXED.replace("TP = ", "T = ").replace(from, to).replace("T = ", "TP = ");
        let (message, _) = indexed(&text).refusal(&["d.diskspecs"]);
        assert!(message.starts_with("d.layout: ") && message.contains(said), "{message}");
    }
}

#[test]
fn a_disk_of_fewer_cylinders_than_its_zones_have_gets_those() {
    let shelf = disk().changed("d.model", "cylinders = 100", "cylinders = 99");
    let import = shelf.imported(&["d.diskspecs"]);
    assert_eq!(import.drive.mechanics.unwrap().cylinders, 100);
    assert!(import.report.notes[0].contains("announces 99 cylinders"));
}

#[test]
fn an_index_that_reaches_further_than_the_disk_gets_its_cylinders() {
    let shelf = indexed(INDEXED).changed("d.model", "cylinders = 100", "cylinders = 19");
    assert_eq!(shelf.mechanics().cylinders, 20);
    let outwards = INDEXED.replace("400, 2, -0.25, 4000, 20", "400, 2, -0.25, 4000, -20");
    let outwards = outwards.replace("[ 0, 0, 0.9999996", "[ 0, 18, 0.9999996");
    let shelf = indexed(&outwards).changed("d.model", "cylinders = 100", "cylinders = 1");
    assert_eq!(shelf.mechanics().cylinders, 20);
}

/// Goal: every sector of a disk has a position. The layout holds 50 cylinders of two tracks of
/// 100 sectors with 3 spares each, without 20 skipped sectors and with 2 slips that use the
/// spares; and 50 cylinders of 200 sectors.
#[test]
fn announced_sectors_are_limited_to_the_layout() {
    let shelf = disk().changed("d.model", "19000", "1000000");
    let import = shelf.imported(&["d.diskspecs"]);
    assert_eq!(import.drive.mechanics.unwrap().sectors, 50 * 197 - 20 + 50 * 200);
    assert!(import.report.notes[0].contains("announces 1000000 sectors"));
}

#[test]
fn layouts_of_other_kinds_are_refused() {
    let shelf = disk().changed("d.layout", "dm_layout_g1 {", "dm_layout_g2 {");
    let (message, help) = shelf.refusal(&["d.diskspecs"]);
    assert!(message.contains("`dm_layout_g2` cannot be imported"), "{message}");
    assert!(help.contains("dm_layout_g4"));
}

#[test]
fn a_layout_that_contradicts_itself_makes_no_drive() {
    let shelf =
        disk().changed("d.layout", "First cylinder number = 50", "First cylinder number = 40");
    let (message, _) = shelf.refusal(&["d.diskspecs"]);
    assert!(message.starts_with("d.diskspecs: no drive can be made from this: "), "{message}");
}

/// Goal: a disk that announces far less than its layout holds is not cut silently, and a small
/// reserve stays a reserve. The message names both numbers.
#[test]
fn a_disk_that_announces_far_less_has_the_sectors_of_its_layout() {
    let announced = |sectors: u64| {
        let shelf = disk().changed("d.model", "19000", &sectors.to_string());
        let import = shelf.imported(&["d.diskspecs"]);
        (import.drive.mechanics.unwrap().sectors, import.report.notes.concat())
    };
    let (held, _) = announced(1_000_000);
    let (sectors, notes) = announced(held / 2);
    assert_eq!(sectors, held);
    assert!(
        notes.contains(&format!("{} sectors, but its layout holds {held}", held / 2)),
        "{notes}"
    );
    assert_eq!(announced(held - held / 50), (held - held / 50, String::new()));
    assert_eq!(announced(held), (held, String::new()));
}
