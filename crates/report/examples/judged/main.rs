// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Logs of the real policies under an adversary, and certificates of random workloads, for the
//! checkers that are extracted from the machine-checked proofs (`make proof`).
//!
//! ```text
//! judged logs COUNT EVENTS [FLAW]      dqf; FLAW: z, beta, long-batch, early-release
//! judged adaptive COUNT EVENTS [FLAW]  adaptive-drain; FLAW: deadline, short-drain, long-drain,
//!                                      early-release
//! judged gated COUNT EVENTS [FLAW]     gated-drain; the same, and depth
//! judged certificates COUNT [FLAW]     FLAW: lower-bound
//! ```
//!
//! A flaw changes what is done, but not what the log or the certificate says.

mod certificates;
mod drains;
mod logs;

use drains::{Drain, drains};
use rand::SeedableRng as _;
use rand_pcg::Pcg64;

const SEED: u64 = 20_261_126;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let count = |word: &str| word.parse::<u64>().expect("a count");
    match words[..] {
        ["logs", number, events] => logs::logs(count(number), count(events), ""),
        ["logs", number, events, flaw] => logs::logs(count(number), count(events), flaw),
        ["adaptive", number, events, ref flaw @ ..] => {
            drains(Drain::Adaptive, count(number), count(events), flaw.first().unwrap_or(&""));
        }
        ["gated", number, events, ref flaw @ ..] => {
            drains(Drain::Gated, count(number), count(events), flaw.first().unwrap_or(&""));
        }
        ["certificates", number] => certificates::certificates(count(number), ""),
        ["certificates", number, flaw] => certificates::certificates(count(number), flaw),
        _ => panic!(
            "judged logs|adaptive|gated COUNT EVENTS [FLAW] | judged certificates COUNT [FLAW]"
        ),
    }
}

fn generator(number: u64) -> Pcg64 {
    Pcg64::seed_from_u64(SEED + number)
}
