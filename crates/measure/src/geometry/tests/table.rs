// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints the tables of the documentation.
//!
//! ```text
//! cargo test --package tidegate-measure --lib -- geometry::tests::table --ignored --nocapture
//! ```

use super::super::number::float;
use super::late::Late;
use super::planted::Compared;
use super::round_trip::{Behaviour, SIZES, again};
use super::*;

fn requests(found: &Geometry) -> [u64; 4] {
    [
        found.rotation.as_ref().map_or(0, |it| it.requests),
        found.overhead.as_ref().map_or(0, |it| it.requests),
        found.zones.as_ref().map_or(0, |it| it.requests),
        found.seek.as_ref().map_or(0, |it| it.requests),
    ]
}

/// Returns the results for a disk, and how many seconds of the disk's time they took.
fn timed(planted: &Mechanics, is_late: bool) -> (Geometry, f64) {
    let mut drive = MechanicalDrive::new(planted, 1, 1).expect("a disk");
    let mut late = Late::new(SimulatedSubject::new(&mut drive), 1);
    let subject: &mut dyn Subject = if is_late { &mut late } else { &mut late.subject };
    let found = geometry(subject, planted.sectors, SECTOR, 1).expect("it turns");
    (found, float(subject.now().ns()) / 1e9)
}

/// Returns a row of the table: the planted figures, the measured ones and their errors.
fn row(name: &str, planted: &Mechanics, (found, seconds): &(Geometry, f64)) -> String {
    let it = Compared::new(planted, found);
    let turn = |ps: f64| format!("{:.4}", ps / 1e9);
    let tracks = found.zones.as_ref().and_then(|map| map.tracks.as_ref());
    let skews = tracks.map(|it| (it.track_skew_ppm / 1_000, it.cylinder_skew_ppm / 1_000));
    let zones = zones_of(&mut planted.clone()).clone();
    let skews_planted =
        (zones.zone[0].track_skew_ppm / 1_000, zones.zone[0].cylinder_skew_ppm / 1_000);
    let seek = found.seek.as_ref();
    let yes = |is_so: bool| if is_so { "yes" } else { "no" };
    [
        name.to_owned(),
        turn(60e12 / f64::from(planted.rpm)),
        turn(float(found.rotation.as_ref().map_or(0, |it| it.turn_ps))),
        format!("{:.1}", it.rotation * 1e6),
        format!("{:.0} / {:.0}", it.least.0 / 1e3, it.least.1 / 1e3),
        format!("{} / {}", it.zones.0, it.zones.1),
        format!("{:.4} %", it.boundary * 100.0),
        format!("{:.2} %", it.sectors_per_track * 100.0),
        format!("{} / {}", planted.surfaces, tracks.map_or(0, |it| it.surfaces)),
        format!("{skews_planted:?} / {:?}", skews.unwrap_or_default()),
        format!("{:.2} %", it.seek_most * 100.0),
        format!("{:.2} %", it.seek_worst * 100.0),
        format!(
            "{} / {}",
            planted.head_switch_ns / 1_000,
            seek.and_then(|it| it.head_switch_ns).unwrap_or(0) / 1_000
        ),
        format!(
            "{} / {}",
            yes(planted.zero_latency),
            seek.and_then(|it| it.zero_latency).map_or("?", yes)
        ),
        requests(found).map(|count| count.to_string()).join(" + "),
        format!("{seconds:.0}"),
    ]
    .join(" | ")
}

#[test]
#[ignore = "prints tables: `cargo test -p tidegate-measure --lib -- geometry::tests::table --ignored --nocapture`"]
fn planted_beside_found() {
    println!(
        "| drive | turn ms | found | ppm | least read us | zones | boundary | sectors | surfaces | \
         skews, thousandths of a turn | seek, 95 % | worst | head switch us | zero latency | requests | seconds |"
    );
    for (name, planted, _) in disks() {
        println!("| {} |", row(name, &planted, &timed(&planted, false)));
    }
    println!("\non a late host:");
    for (name, planted, _) in disks() {
        println!("| {} |", row(name, &planted, &timed(&planted, true)));
    }
}

#[test]
#[ignore = "prints tables: `cargo test -p tidegate-measure --lib -- geometry::tests::table --ignored --nocapture`"]
fn behaviour_of_the_disk_that_is_found() {
    println!("| drive | {SIZES:?} | outer | inner |");
    for (name, planted, depth) in disks() {
        let ours = Behaviour::of(&planted, depth);
        let apart = ours.apart(&Behaviour::of(&again(&planted), depth));
        let cells = apart.iter().map(|apart| format!("{:+.1} %", apart * 100.0));
        println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}

/// Goal: the documentation can state how often a run fails. Method: prints the faults of 20 runs on
/// each disk, on a punctual host and on a late one.
#[test]
#[ignore = "280 runs, a quarter of a minute: `cargo test -p tidegate-measure --lib -- many_runs --ignored`"]
fn many_runs() {
    for (name, planted, _) in disks() {
        for seed in 1..=20 {
            for found in
                [taken_to_pieces(&planted, SECTOR, seed), taken_to_pieces_late(&planted, seed)]
            {
                let it = Compared::new(&planted, &found);
                let is_late = found.rotation.as_ref().is_some_and(|it| it.noise_ns > 0);
                let faults = it.faults();
                let faults = faults.iter().filter(|it| !is_late || !it.starts_with("overhead"));
                faults.for_each(|fault| println!("{name} {seed} late: {is_late} {fault}"));
            }
        }
    }
}
