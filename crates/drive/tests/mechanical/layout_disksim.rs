// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads just enough of DiskSim's files to get the layouts of real drives.

use std::fmt::Write as _;

use tidegate_model::mechanics::{Sparing, TrackIndex, Zone, Zones};

use crate::layout_support::{plain, zone};

/// The contents of a model file.
pub(crate) struct Model {
    pub(crate) surfaces: u32,
    pub(crate) cylinders: u32,
    pub(crate) zones: Zones,
}

/// Reads a model file with zones.
pub(crate) fn model(text: &str) -> Model {
    let (head, zones) = text.split_once("Zones = [").expect("zones");
    let zones: Vec<Zone> = zones.split("dm_layout_g1_zone").skip(1).map(read_zone).collect();
    let sparing = match figure(head, "Sparing scheme used") {
        1 => Sparing::ZoneTracks,
        7 => Sparing::None,
        9 => Sparing::Zone,
        other => panic!("no file here has scheme {other}"),
    };
    // One model counts one cylinder less than its zones have.
    let last = zones.last().map_or(0, |zone| zone.cylinder_last);
    let cylinders = narrow(figure(head, "Number of cylinders")).max(last + 1);
    let surfaces = narrow(figure(head, "Number of data surfaces"));
    Model { surfaces, cylinders, zones: Zones { sparing, ..plain(zones) } }
}

fn read_zone(text: &str) -> Zone {
    let cylinders =
        ["First cylinder number", "Last cylinder number"].map(|name| figure(text, name));
    let skew = |name| 1_000 * figure(text, name);
    Zone {
        offset_millisectors: skew("Offset of first block"),
        skipped_sectors: figure(text, "Empty space at zone front"),
        track_skew_millisectors: skew("Skew for track switch"),
        cylinder_skew_millisectors: skew("Skew for cylinder switch"),
        spares: narrow(figure(text, "Number of spares")),
        slips: list(text, "slips"),
        ..zone(narrow(cylinders[0]), narrow(cylinders[1]), narrow(figure(text, "Blocks per track")))
    }
}

fn figure(text: &str, name: &str) -> u64 {
    let (_, rest) = text.split_once(name).unwrap_or_else(|| panic!("no {name}"));
    let value = rest.trim_start_matches([' ', '=']).split([',', '\n']).next().expect("a value");
    // Figures are written as 75.000000.
    value.split('.').next().and_then(|whole| whole.trim().parse().ok()).expect("a figure")
}

fn list(text: &str, name: &str) -> Vec<u64> {
    let (_, rest) = text.split_once(&format!("{name} = [")).expect("a list");
    let (inside, _) = rest.split_once(']').expect("the end of the list");
    words(inside).map(|word| word.parse().expect("a number")).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|each: char| each == ',' || each.is_whitespace()).filter(|word| !word.is_empty())
}

fn narrow(figure: u64) -> u32 {
    u32::try_from(figure).expect("a small figure")
}

/// Reads a file with an index.
pub(crate) fn index(text: &str) -> TrackIndex {
    let section = |name: &str, end: &str| {
        let (_, rest) = text.split_once(&format!("{name} = [")).expect("a section");
        rest.split_once(end).expect("the end of the section").0
    };
    let nodes = section("IDX", "Slips");
    let nodes: Vec<String> = nodes.split(']').map(node).filter(|node| !node.is_empty()).collect();
    TrackIndex {
        tracks: rows(section("TP", "]"), 3),
        index: nodes.join("-\n"),
        slips: rows(section("Slips", "]"), 2),
        remaps: rows(section("Remaps", "]"), 6),
    }
}

fn rows(text: &str, per_row: usize) -> String {
    let words: Vec<&str> = words(text).collect();
    words.chunks(per_row).map(|row| row.join(" ") + "\n").collect()
}

fn node(text: &str) -> String {
    let (mut out, mut words) =
        (String::new(), words(text.trim_start_matches([',', ' ', '\n', '['])));
    while let Some(first) = words.next() {
        let mut next = || words.next().expect("a whole row");
        write!(out, "{first} {} {} ", next(), ppm(next())).expect("a string");
        write!(out, "{} {} {} {} {} ", next(), next(), ppm(next()), next(), next())
            .expect("a string");
        match next() {
            "TRACK" => writeln!(out, "T {} {}", next(), next()).expect("a string"),
            _ => writeln!(out, "N {}", next()).expect("a string"),
        }
    }
    out
}

/// Returns a part of a turn, with at most six decimals, in millionths.
fn ppm(angle: &str) -> u32 {
    let (whole, decimals) = angle.split_once('.').expect("a part of a turn");
    assert!(whole == "0" && decimals.len() <= 6, "{angle}");
    format!("{decimals:0<6}").parse().expect("decimals")
}
