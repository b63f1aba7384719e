// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints logs of the real policies under an adversary, and certificates of random workloads, for
//! the checkers that are extracted from the machine-checked proofs (`make proof`). The logs use
//! each order of best effort in turn, because no proof depends on that order.
//!
//! ```text
//! judged dqf COUNT EVENTS [FLAW]       FLAW: z, beta, long-batch, early-release, order
//! judged costs COUNT EVENTS [FLAW]     dqf by costs; FLAW: as for dqf, except order
//! judged dq-edf COUNT EVENTS [FLAW]    FLAW: as for dqf, except order
//! judged adaptive COUNT EVENTS [FLAW]  adaptive-drain; FLAW: deadline, short-drain, long-drain,
//!                                      early-release
//! judged gated COUNT EVENTS [FLAW]     gated-drain; FLAW: as for adaptive, and depth
//! judged certificates COUNT [FLAW]     FLAW: lower-bound
//! ```
//!
//! A flaw changes the events, but not the contents of the log or the certificate.

mod certificates;
mod drains;
mod logs;
mod policies;

use drains::{Drain, drains};
use logs::{Queue, logs};
use rand::SeedableRng as _;
use rand_pcg::Pcg64;

const SEED: u64 = 20_261_126;
const USAGE: &str =
    "judged dqf|costs|dq-edf|adaptive|gated COUNT EVENTS [FLAW] | judged certificates COUNT [FLAW]";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let count = |word: &str| word.parse::<u64>().expect("a count");
    match words[..] {
        [policy, number, events, ref flaw @ ..] if policy != "certificates" => {
            let (number, events) = (count(number), count(events));
            let flaw = flaw.first().unwrap_or(&"");
            match policy {
                "dqf" => logs(Queue::Dqf, number, events, flaw),
                "costs" => logs(Queue::DqfByCost, number, events, flaw),
                "dq-edf" => logs(Queue::DqEdf, number, events, flaw),
                "adaptive" => drains(Drain::Adaptive, number, events, flaw),
                "gated" => drains(Drain::Gated, number, events, flaw),
                _ => panic!("{USAGE}"),
            }
        }
        ["certificates", number] => certificates::certificates(count(number), ""),
        ["certificates", number, flaw] => certificates::certificates(count(number), flaw),
        _ => panic!("{USAGE}"),
    }
}

fn generator(number: u64) -> Pcg64 {
    Pcg64::seed_from_u64(SEED + number)
}
