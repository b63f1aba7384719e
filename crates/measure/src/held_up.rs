// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What the host did to a sample.
//!
//! The host's lateness is contained in every time and never subtracted: the host that enforces
//! is late as well. But it is measured beside each sample, so that a busy host is told from a
//! slow disk.

use device::RunDelay;
use device::steal::ProcessorTime;
use model::Duration;

/// A sample is disturbed when the host held it up for more than this part of its time.
const DISTURBED_PART: u64 = 100;

/// One time, and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// From the first submission to the last completion.
    pub(crate) took: Duration,
    /// The part of it, at most, in which the host did not let us see what the device did.
    pub(crate) held_up: Duration,
    /// The first sector, where one place alone was asked for.
    pub(crate) start: Option<u64>,
}

impl Sample {
    /// Whether the host had a part in it that shows.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.held_up.ns() > self.took.ns() / DISTURBED_PART
    }
}

/// Reads how long the thread that made it was kept from running.
#[derive(Debug)]
pub(crate) struct HeldUpMeter {
    run_delay: Option<RunDelay>,
}

impl HeldUpMeter {
    /// Of this thread.
    pub(crate) fn of_this_thread() -> Self {
        Self { run_delay: RunDelay::of_this_thread() }
    }

    /// Waiting for a processor, and what the hypervisor took from any processor.
    ///
    /// # Cost
    /// Two reads of `/proc`; not made while a request is in flight.
    pub(crate) fn read(&self) -> Duration {
        let waited = self.run_delay.as_ref().and_then(RunDelay::read).unwrap_or(Duration::ZERO);
        let stolen = ProcessorTime::read().map_or(Duration::ZERO, ProcessorTime::stolen);
        waited + stolen
    }
}

/// How many of all samples were disturbed, and by how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Disturbance {
    /// All samples.
    pub samples: u64,
    /// Those that the host held up for more than a hundredth of their time.
    pub disturbed: u64,
    /// The longest that one was held up.
    pub held_up_max: Duration,
    /// By how much the longest time of any number of requests would be less without them, as
    /// far as there are others.
    pub excess_max: Duration,
}

impl Disturbance {
    /// Of samples by cell.
    pub(crate) fn of(cells: &[Vec<Sample>]) -> Self {
        cells.iter().fold(Self::default(), |sum, cell| {
            let longest = cell.iter().map(|sample| sample.took).max().unwrap_or_default();
            let calm = cell.iter().filter(|sample| !sample.is_disturbed());
            let longest_calm = calm.map(|sample| sample.took).max();
            let disturbed = cell.iter().filter(|sample| sample.is_disturbed());
            let held_up = disturbed.clone().map(|sample| sample.held_up).max().unwrap_or_default();
            Self {
                samples: sum.samples + count(cell.len()),
                disturbed: sum.disturbed + count(disturbed.count()),
                held_up_max: sum.held_up_max.max(held_up),
                excess_max: sum.excess_max.max(longest - longest_calm.unwrap_or(longest)),
            }
        })
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).expect("a count fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(took: u64, held_up: u64) -> Sample {
        Sample { took: Duration::from_us(took), held_up: Duration::from_us(held_up), start: None }
    }

    #[test]
    fn a_hundredth_is_no_disturbance_and_more_is() {
        assert!(!sample(1000, 10).is_disturbed());
        assert!(sample(1000, 11).is_disturbed());
    }

    #[test]
    fn excess_is_what_calm_samples_lack() {
        let cells = [vec![sample(100, 0), sample(180, 50)], vec![sample(300, 0), sample(200, 90)]];
        let expected = Disturbance {
            samples: 4,
            disturbed: 2,
            held_up_max: Duration::from_us(90),
            excess_max: Duration::from_us(80),
        };
        assert_eq!(Disturbance::of(&cells), expected);
    }
}
