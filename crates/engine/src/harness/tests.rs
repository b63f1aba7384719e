// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: inputs that fuzzers found, and random ones, show no fault. Method: run the committed seeds
//! and random inputs through the fuzzers' functions, with a canary for each.

use std::path::Path;

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::serve::harness::Reached;
use crate::service::harness::requests::{InjectedFaults, Report, run};

/// Returns the files in `fuzz/seeds` for that target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let seeds: Vec<_> = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(seeds.len() >= 3, "{target}: {} seeds", seeds.len());
    seeds
}

/// Returns random scenarios.
fn scenarios() -> impl Iterator<Item = Vec<u8>> {
    let mut random = Pcg64Mcg::seed_from_u64(6);
    (0..300).map(move |_| {
        let mut bytes = vec![0; 400];
        random.fill_bytes(&mut bytes);
        bytes
    })
}

#[test]
fn serve_files_of_the_seeds_are_read() {
    let run = |seed: &Vec<u8>| crate::serve::harness::run(seed).unwrap();
    let reached = seeds("serve_file").iter().map(run).max();
    assert_eq!(reached, Some(Reached::Bound));
}

#[test]
fn peers_of_the_seeds_are_answered() {
    for seed in seeds("control") {
        super::control(&seed);
    }
    // Pieces of any size; a line that is too long ends the connection.
    let mut long = b"\xff{\"do\":\"status\"}\n".to_vec();
    long.extend(vec![b'x'; 70_000]);
    long.extend(b"\n{\"do\":\"status\"}\n");
    assert_eq!(crate::control::harness::run(&long), Ok(2));
    assert_eq!(crate::control::harness::run(b"\x01{\"do\":\"status\"}\n\nx"), Ok(3));
}

#[test]
fn requests_of_the_seeds_are_answered_as_promised() {
    for seed in seeds("requests") {
        super::requests(&seed);
    }
}

/// Random scenarios cover every kind of outcome and break no promise.
#[test]
fn requests_at_random_are_answered_as_promised() {
    let mut sum = Report::default();
    for bytes in scenarios() {
        let report =
            run(&bytes, InjectedFaults::default()).unwrap_or_else(|fault| panic!("{fault}"));
        sum.answered += report.answered;
        sum.failed += report.failed;
        sum.refused += report.refused;
        sum.seen += report.seen;
        sum.promised += report.promised;
        sum.bounded += report.bounded;
    }
    let Report { answered, failed, refused, seen, promised, bounded } = sum;
    assert!(answered > 10_000 && refused > 1_000 && failed > 500, "{sum:?}");
    assert!(seen > 10_000 && promised > 5_000 && bounded > 500, "{sum:?}");
}

/// Canary: each kind of injected fault is detected.
#[test]
fn injected_faults_are_noticed() {
    for faults in [
        InjectedFaults { is_disordered: true, ..InjectedFaults::default() },
        InjectedFaults { is_early: true, ..InjectedFaults::default() },
        InjectedFaults { is_late: true, ..InjectedFaults::default() },
    ] {
        let noticed = scenarios().filter(|bytes| run(bytes, faults).is_err()).count();
        assert!(noticed >= 10, "{faults:?}: {noticed} of 300");
    }
}

proptest! {
    /// Goal: no text causes a panic. Method: random text; the fuzzer's seeds cover texts that
    /// resemble serve files.
    #[test]
    fn any_text_is_no_serve_file_or_is_one(text in "\\PC{0,200}") {
        super::serve_file(text.as_bytes());
    }
}
