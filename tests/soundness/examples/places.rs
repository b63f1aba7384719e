// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sweep over places: random workloads with the shortest deadline that a policy proves, on every
//! built-in drive, at random places, at both ends, and at the places that an adversary found. Prints
//! one row for each drive and placement, and ends with 1 if a proven deadline was missed.
//!
//! ```text
//! cargo run --release -p tidegate-soundness --example places -- 200 500
//! cargo run --release -p tidegate-soundness --example places -- 20 200 nearline-7200
//! ```
//!
//! The arguments are the number of seeds, the number of jobs of each task, and drives.

use std::process::ExitCode;

use tidegate_drive::builtin;
use tidegate_model::PolicyName;
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
    println!("| drive | places | proven runs | jobs | missed | overruns of a contract |");
    println!("|---|---|---|---|---|---|");
    let mut missed = 0;
    for drive in drives {
        let attacked = Attacked::new(&drive);
        for placement in Placement::ALL {
            missed += row(&drive, &attacked, placement, seeds, jobs);
        }
    }
    ExitCode::from(u8::from(missed > 0))
}

/// Prints the row of a drive and a placement; returns the number of missed deadlines.
fn row(drive: &str, attacked: &Attacked, placement: Placement, seeds: u64, jobs: u64) -> u64 {
    let [mut runs, mut made, mut missed, mut overruns] = [0; 4];
    for policy in PolicyName::ALL {
        for seed in 0..seeds {
            let Some(outcome) = attacked.attack(policy, placement, seed, jobs) else { continue };
            runs += 1;
            made += outcome.jobs;
            missed += outcome.misses;
            overruns += outcome.overruns;
            if outcome.misses > 0 {
                eprintln!("{drive}, {policy}, {}, seed {seed}: {outcome}", placement.name());
            }
        }
    }
    println!("| {drive} | {} | {runs} | {made} | {missed} | {overruns} |", placement.name());
    missed
}
