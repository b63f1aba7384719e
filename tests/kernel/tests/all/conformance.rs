// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the kernel makes the same decisions as the Rust policies. Method: random streams of
//! events, including broken contracts, late devices and cancellations.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_kernel::duel::{Difference, Duel, Score};
use tidegate_kernel::faults::{self, Fault};
use tidegate_kernel::kernel_policy::KernelPolicy;
use tidegate_kernel::library::{Library, Objects};
use tidegate_kernel::random;
use tidegate_model::PolicyName;

const SKIPPED: &str = "skipped: cc is not installed";

const THREADS: usize = 4;

/// The number of streams, with about 600 decisions each.
const STREAMS: u64 = 10_000;

/// Runs one random stream; returns its score.
fn duel(library: Library, seed: u64) -> Score {
    let (name, plan) = random::plan(seed);
    let rust = tidegate_policy::build(name, &plan, None).expect("nothing unknown is needed");
    let kernel = KernelPolicy::new(library, name, &plan).expect("a valid plan");
    let score = Rc::new(RefCell::new(Score::default()));
    random::play(seed, &plan, &mut Duel::new(rust, kernel, &score));
    score.take()
}

/// Returns the first seed below `seeds` whose stream shows a difference.
fn find_difference(library: Library, seeds: u64) -> Option<(u64, Difference)> {
    (0..seeds).find_map(|seed| Some((seed, duel(library, seed).difference?)))
}

#[test]
fn kernel_decides_as_the_policies_do() {
    let Some(objects) = Objects::compile() else { return println!("{SKIPPED}") };
    let library = objects.load();
    let mut scores: BTreeMap<PolicyName, Score> = BTreeMap::new();
    for seed in 0..STREAMS {
        let (name, plan) = random::plan(seed);
        let score = duel(library, seed);
        if let Some(difference) = &score.difference {
            panic!("seed {seed}, {name}: {difference}\n{plan:?}");
        }
        scores.entry(name).or_default().count(&score);
    }
    for (name, score) in &scores {
        println!("{name}: {} sent, {} timed, {} awaited", score.sent, score.timed, score.awaited);
    }
    let total: u64 = scores.values().map(Score::equal).sum();
    assert!(scores.len() == 4 && total > 1_000_000, "too few decisions: {total}");
}

/// Returns the faults in this list that no stream reveals.
fn missed(objects: &Objects, faults: &[(usize, Fault)]) -> Vec<Fault> {
    let is_missed = |&&(number, fault): &&(usize, Fault)| {
        let found = find_difference(objects.load_faulty(number, &fault), STREAMS);
        if let Some((seed, _)) = &found {
            println!("{seed:>6} streams: {fault}");
        }
        found.is_none()
    };
    faults.iter().filter(is_missed).map(|&(_, fault)| fault).collect()
}

/// Canaries: every fault that is planted in the C code is found.
#[test]
fn every_planted_fault_is_found() {
    let Some(objects) = Objects::compile() else { return println!("{SKIPPED}") };
    let all: Vec<(usize, Fault)> = faults::all().enumerate().collect();
    let missed: Vec<Fault> = std::thread::scope(|scope| {
        let part = all.len().div_ceil(THREADS);
        let threads: Vec<_> =
            all.chunks(part).map(|part| scope.spawn(|| missed(&objects, part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let names: Vec<String> = missed.iter().map(Fault::to_string).collect();
    assert!(names.is_empty(), "not found:\n  {}", names.join("\n  "));
}
