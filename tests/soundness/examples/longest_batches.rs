// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints the longest batches that an adversary finds on a built-in disk, a line for each table and
//! number of requests: operation, size in bytes, number, and time in ns.
//!
//! ```sh
//! cargo run --release -p tidegate-soundness --example longest_batches -- DRIVE STEPS SEEDS
//! ```
//!
//! `scripts/raise_climbed.py` puts them into the drive file.

use tidegate_drive::builtin;
use tidegate_soundness::places::Batches;

/// The largest batch that is searched.
const COUNT_MAX: u32 = 8;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, steps, seeds] = &arguments[..] else { panic!("name DRIVE, STEPS and SEEDS") };
    let steps: u32 = steps.parse().expect("STEPS is a number");
    let seeds: u64 = seeds.parse().expect("SEEDS is a number");
    let file = builtin::load(name).expect("a built-in drive");
    for table in &file.batch {
        let (op, size) = (table.op.expect("measured"), table.size.expect("measured"));
        for count in 1..=COUNT_MAX.min(table.table.batch_max()) {
            let batches = Batches { file: &file, op, size, count: count as usize };
            let longest = |seed| batches.climb(steps, steps / 4, seed).0;
            let longest = (0..seeds).map(longest).max().expect("at least one seed");
            println!("{} {} {count} {}", op.name(), size.get(), longest.ns());
        }
    }
}
