// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sweep over places: random workloads with the shortest deadline that a policy proves, on
//! every built-in drive, at random places, at both ends, and at the places that an adversary found.
//! Prints one row for each drive, placement and grade of the proof. The exit code is 1 if a
//! deadline was missed although its proof had no doubt.
//!
//! ```text
//! cargo run --release -p tidegate-soundness --example places -- 200 500
//! cargo run --release -p tidegate-soundness --example places -- 20 200 nearline-7200
//! ```
//!
//! The arguments are the number of seeds, the number of jobs of each task, and drives.

use std::process::ExitCode;

use tidegate_drive::builtin;
use tidegate_model::{Grade, PolicyName};
use tidegate_soundness::sweep::{Attacked, Placement};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| -> u64 {
        arguments.next().map_or(default, |text| text.parse().expect("a number"))
    };
    let (seeds, jobs) = (number(200), number(500));
    let mut drives: Vec<String> = arguments.collect();
    if drives.is_empty() {
        drives = builtin::names().map(str::to_owned).collect();
    }
    println!("| drive | places | proof | runs | jobs | missed | overruns of a contract |");
    println!("|---|---|---|---|---|---|---|");
    let mut missed = 0;
    for drive in drives {
        let attacked = Attacked::new(&drive);
        for placement in Placement::ALL {
            missed += row((&drive, &attacked), Grade::Strong, placement, (seeds, jobs));
            row((&drive, &attacked), Grade::Weak, placement, (seeds, jobs));
        }
    }
    ExitCode::from(u8::from(missed > 0))
}

/// Prints the row of a drive, a grade and a placement; returns the number of missed deadlines.
fn row(
    (drive, attacked): (&str, &Attacked),
    grade: Grade,
    placement: Placement,
    (seeds, jobs): (u64, u64),
) -> u64 {
    let [mut runs, mut made, mut missed, mut overruns] = [0; 4];
    for policy in PolicyName::ALL {
        for seed in 0..seeds {
            let outcome = attacked.attack(policy, grade, placement, (seed, jobs));
            let Some(outcome) = outcome else { continue };
            runs += 1;
            made += outcome.jobs;
            missed += outcome.misses;
            overruns += outcome.overruns;
            if outcome.misses > 0 {
                let (grade, places) = (grade.name(), placement.name());
                eprintln!("{drive}, {policy}, {places}, {grade}, seed {seed}: {outcome}");
            }
        }
    }
    let (places, grade) = (placement.name(), grade.name());
    println!("| {drive} | {places} | {grade} | {runs} | {made} | {missed} | {overruns} |");
    missed
}
