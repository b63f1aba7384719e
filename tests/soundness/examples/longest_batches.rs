// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints the longest batches that an adversary finds on a built-in disk, a line for each table and
//! number of requests: operation, size in bytes, number, and time in ns.
//!
//! ```sh
//! cargo run --release -p tidegate-soundness --example longest_batches -- DRIVE STEPS SEEDS [FIRST]
//! ```
//!
//! The seeds are FIRST (0 by default) and those after it. `make drives` puts the times into the
//! drive file. Seeds whose times are not in the file attack its table.

use tidegate_drive::builtin;
use tidegate_soundness::places::Batches;

/// The largest batch that is searched.
const COUNT_MAX: u32 = 8;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, steps, seeds, first) = match &arguments[..] {
        [name, steps, seeds] => (name, steps, seeds, "0"),
        [name, steps, seeds, first] => (name, steps, seeds, &**first),
        _ => panic!("name DRIVE, STEPS and SEEDS"),
    };
    let first: u64 = first.parse().expect("FIRST is a number");
    let steps: u32 = steps.parse().expect("STEPS is a number");
    let seeds: u64 = seeds.parse().expect("SEEDS is a number");
    let file = builtin::load(name).expect("a built-in drive");
    for table in &file.batch {
        let (op, size) = (table.op.expect("measured"), table.size.expect("measured"));
        for count in 1..=COUNT_MAX.min(table.table.batch_max()) {
            let batches = Batches { file: &file, op, size, count: count as usize };
            let longest = |seed| batches.climb(steps, steps / 4, seed).0;
            let longest = (first..first + seeds).map(longest).max().expect("at least one seed");
            println!("{} {} {count} {}", op.name(), size.get(), longest.ns());
        }
    }
}
