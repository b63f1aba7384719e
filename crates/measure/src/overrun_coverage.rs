// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests how often the predicted rate of overruns (`docs/theory/tolerance.md` section 28) is too
//! low: simulated disks are profiled independently, and the overruns of many later batches are
//! counted.

use std::sync::atomic::AtomicBool;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tidegate_model::{Bytes, DriveKind, Op, Sampling};
use tidegate_stats::overrun_rate::{Entries, WHOLE_PPT, exceedance_ppt};

use crate::experiment::Experiment;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::profile::profile_drive;
use crate::subject::{SimulatedSubject, Subject as _};

/// The largest batch.
const DEPTH: u32 = 8;
/// The number of samples for each table entry. It is small, so that 100,000 batches contain
/// hundreds of overruns, and the counted rate is near the true one.
const SAMPLES: u32 = 100;
/// The complement of the confidence, in parts per million.
const DOUBT_PPM: u32 = 10_000;
/// The drives that are profiled.
const DRIVES: [&str; 4] = ["ibm-36z15", "fujitsu-max3036rc", "seagate-36es2", "nearline-7200"];

/// The number of predicted rates, and the number of those that were too low.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    made: u32,
    wrong: u32,
    /// The number of predicted rates that would be too low if they were divided by five.
    wrong_canary: u32,
}

impl Count {
    fn note(&mut self, (overruns, batches): (u64, u64), exceedance_ppt: u64) {
        let counted = u128::from(overruns) * u128::from(WHOLE_PPT);
        let predicted = u128::from(batches) * u128::from(exceedance_ppt);
        self.made += 1;
        self.wrong += u32::from(counted > predicted);
        self.wrong_canary += u32::from(5 * counted > predicted);
    }

    /// Returns the largest number of wrong predictions that is compatible with an error rate of 1
    /// %, at 99 % confidence: the least k with `P(Bin(made, 0.01) > k) <= 0.01`.
    fn wrong_max(self) -> u32 {
        let mut term = 0.99_f64.powi(i32::try_from(self.made).expect("a few thousand"));
        let (mut sum, mut most) = (term, 0);
        while sum < 0.99 {
            term *= f64::from(self.made - most) / f64::from(most + 1) * 0.01 / 0.99;
            most += 1;
            sum += term;
        }
        most
    }

    fn assert_within(self, what: &str) {
        println!("{what}: {self:?}, at most {} may be wrong", self.wrong_max());
        assert!(self.wrong <= self.wrong_max(), "{what}: {self:?}");
        assert!(self.wrong_canary > self.wrong_max(), "{what}: the canary lives: {self:?}");
    }
}

/// Profiles a drive, serves batches of random sizes at random places, and counts the overruns of
/// each entry alone and of all batches together.
fn compare(name: &str, seed: u64, batches: u64, (single, mixture): (&mut Count, &mut Count)) {
    let file = tidegate_drive::builtin::load(name).expect("it is built in");
    let capacity = file.capacity().expect("a capacity");
    let kind = Kind { op: Op::Read, size: Bytes::from_kib(64) };
    let drive = |seed| {
        tidegate_drive::from_parts(DriveKind::Mechanical, &file, seed).expect("it has mechanics")
    };
    let params = ProfileParams {
        name: name.to_owned(),
        experiments: vec![Experiment::BATCH],
        kinds: vec![kind],
        depth: DEPTH,
        allows_writes: false,
        samples: SAMPLES,
        is_quick: false,
        seed,
        real_time: None,
        mechanics: None,
    };
    let mut measured = drive(2 * seed);
    let never = AtomicBool::new(false);
    let profile =
        profile_drive(&mut *measured, name, capacity, &params, |_| (), &never, None).expect("made");
    let table = &profile.file.batch[0];
    let sampling = Sampling {
        op: table.op,
        samples: table.samples.expect("known"),
        samples_effective: table.samples_effective,
        time_min: None,
    };
    let mut later = drive(2 * seed + 1);
    let mut subject = SimulatedSubject::new(&mut *later);
    let places = Places::of(capacity, kind);
    let mut random = Pcg64::seed_from_u64(seed);
    let mut counts = [(0, 0); DEPTH as usize];
    for _ in 0..batches {
        let size = random.random_range(1..=DEPTH);
        let probes = places.different(size as usize, &mut random);
        let took = subject.serve(&probes).expect("no faults");
        let (overruns, all) = &mut counts[size as usize - 1];
        *all += 1;
        *overruns += u64::from(took > table.table.time_max(size));
    }
    let predicted = |entries| exceedance_ppt(sampling.independent(), DOUBT_PPM, entries);
    for of_entry in counts {
        single.note(of_entry, predicted(Entries::One));
    }
    let sum = counts.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    mixture.note(sum, predicted(Entries::Mixture));
}

fn compare_all(profiles: u64, batches: u64) {
    let (mut single, mut mixture) = (Count::default(), Count::default());
    for name in DRIVES {
        for seed in 0..profiles {
            compare(name, seed, batches, (&mut single, &mut mixture));
        }
    }
    println!("{profiles} profiles of each of {DRIVES:?}, {batches} batches each");
    single.assert_within("one entry");
    mixture.assert_within("all batches");
}

/// Goal: the predicted rate is too low in at most 1 % of profiles. Method: few profiles of each
/// drive with few batches each; the next test uses many of both.
#[test]
fn predicted_rates_of_overruns_cover_counted_ones() {
    compare_all(6, 4_000);
}

/// Does the same with 320 profiles and 100,000 batches for each: `cargo test -p tidegate-measure
/// many_predicted_rates -- --ignored --nocapture`. It takes several minutes.
#[test]
#[ignore = "several minutes: `cargo test --release -p tidegate-measure --lib many_predicted_rates -- --ignored --nocapture`"]
fn many_predicted_rates_of_overruns_cover_counted_ones() {
    compare_all(80, 100_000);
}
