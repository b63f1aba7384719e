// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures generated disks: either the planted figures are found, or no mechanics are given. The
//! table counts how often each happens.

mod disks;
mod outcome;

use std::collections::BTreeMap;

use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::mechanics::Seek;

use self::outcome::Outcome;

/// The number of disks in the documentation's table.
const DISKS: u64 = 300;
/// The distance between the numbers of two disks of the sample: one disk in 13 belongs to it.
const SAMPLE: usize = 13;
/// The smallest number of disks of the sample that must be recovered.
const RECOVERED_MIN: u32 = 12;

/// Goal: all disks of the table can be simulated. Drawing a disk checks its layout.
#[test]
fn drawn_disks_are_valid() {
    for seed in 0..DISKS {
        let disk = disks::disk(seed).disk;
        assert!(MechanicalDrive::new(&disk, 1, seed).is_ok(), "{seed}");
    }
}

/// Goal: mechanics are never given with wrong figures, and most of a sample is recovered.
#[test]
fn a_sample_is_recovered_or_refused() {
    let mut recovered = 0;
    for seed in (0..DISKS).step_by(SAMPLE) {
        let outcome = outcome::of(&disks::disk(seed).disk, seed);
        assert!(!matches!(outcome, Outcome::Wrong(_)), "{seed} {outcome}");
        recovered += u32::from(matches!(outcome, Outcome::Recovered));
    }
    assert!(recovered >= RECOVERED_MIN, "{recovered} recovered");
}

/// Canary: the results for one disk must be called wrong when compared with another.
#[test]
fn another_disk_is_wrong() {
    let planted = disks::disk(26).disk;
    let found = super::taken_to_pieces(&planted, super::SECTOR, 26);
    assert!(matches!(outcome::compared(&planted, &found), Outcome::Recovered));
    let mut slower = planted.clone();
    let Seek::Points(points) = &mut slower.seek else { panic!("a curve of points") };
    for (_, ns) in points {
        *ns += *ns / 25;
    }
    assert!(matches!(outcome::compared(&slower, &found), Outcome::Wrong(_)));
}

#[test]
#[ignore = "prints a table: `cargo test --release -p tidegate-measure --lib -- generated --ignored --nocapture`"]
fn table_by_kind() {
    let mut rows: BTreeMap<_, Vec<Outcome>> = BTreeMap::new();
    for seed in 0..DISKS {
        let drawn = disks::disk(seed);
        let outcome = outcome::of(&drawn.disk, seed);
        println!("{seed} {} {} {outcome}", drawn.kind.order, drawn.kind.sparing);
        rows.entry(drawn.kind).or_default().push(outcome);
    }
    println!("| order | spares | disks | recovered | by track | refused | wrong |");
    println!("|---|---|---|---|---|---|---|");
    let mut all = Vec::new();
    for (kind, outcomes) in &rows {
        println!("{}", row(kind.order, kind.sparing, outcomes));
        all.extend(outcomes);
    }
    let all: Vec<Outcome> = all.into_iter().cloned().collect();
    println!("{}", row("all", "", &all));
}

fn row(order: &str, sparing: &str, outcomes: &[Outcome]) -> String {
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|&it| is(it)).count();
    format!(
        "| {order} | {sparing} | {} | {} | {} | {} | {} |",
        outcomes.len(),
        count(|it| matches!(it, Outcome::Recovered)),
        count(|it| matches!(it, Outcome::ByTrack)),
        count(|it| matches!(it, Outcome::Refused(_))),
        count(|it| matches!(it, Outcome::Wrong(_))),
    )
}
