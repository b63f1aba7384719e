// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures for how long the host held up a sample.
//!
//! The host's lateness is part of every time and is never subtracted, because the host that
//! enforces bounds is late as well. It is measured for each sample, to distinguish a busy host from
//! a slow disk.

use tidegate_model::Duration;
use tidegate_platform::RunDelay;
use tidegate_platform::steal::ProcessorTime;
use tidegate_stats::order_statistics::Summary;

/// The largest part (1/100) of a sample's time for which the host can hold the sample up without
/// disturbing it.
const DISTURBED_PART: u64 = 100;

/// A measured time, and the time by which the host may have lengthened it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The time from the first submission to the last completion.
    pub(crate) took: Duration,
    /// The part of that time that the host may have added.
    pub(crate) held_up: Duration,
    /// The first sector; `None` if the trial has several requests.
    pub(crate) start: Option<u64>,
}

impl Sample {
    /// Returns the sample of one trial. Stolen time is counted in steps, and a step can be longer
    /// than the sample in which it ends; so `held_up` is limited to the sample's own time.
    pub(crate) fn new(took: Duration, held_up: Duration, start: Option<u64>) -> Self {
        Self { took, held_up: held_up.min(took), start }
    }

    /// Returns the times of the samples, in their order.
    pub(crate) fn times(samples: &[Self]) -> Vec<Duration> {
        samples.iter().map(|sample| sample.took).collect()
    }

    /// Summarises the times of the samples; `None` without a sample.
    pub(crate) fn summary(samples: &[Self]) -> Option<Summary> {
        Summary::of(&mut Self::times(samples))
    }

    /// Returns whether the host's part in the sample is large enough to matter.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.held_up.ns() > self.took.ns() / DISTURBED_PART
    }
}

/// Measures how long this thread was kept from running.
#[derive(Debug)]
pub(crate) struct HeldUpMeter {
    run_delay: Option<RunDelay>,
}

impl HeldUpMeter {
    /// Creates a meter for the calling thread.
    pub(crate) fn of_this_thread() -> Self {
        Self { run_delay: RunDelay::of_this_thread() }
    }

    /// Returns whether a hypervisor has ever taken time from this machine. Only then can a sample
    /// have lost time unnoticed, because the kernel counts stolen time in long steps.
    pub(crate) fn is_stolen_from() -> bool {
        ProcessorTime::read().is_some_and(|read| read.stolen_ticks > 0)
    }

    /// Returns the time for which this thread waited for a processor, plus the time that the
    /// hypervisor took from any processor.
    ///
    /// The kernel counts stolen time in steps of 10 ms. Most samples that lost less show nothing;
    /// the sample in which a step ends is charged with the whole step.
    ///
    /// # Cost
    /// Two reads of `/proc`. It is not called while a request is in flight.
    pub(crate) fn read(&self) -> Duration {
        let waited = self.run_delay.as_ref().and_then(RunDelay::read).unwrap_or(Duration::ZERO);
        let stolen = ProcessorTime::read().map_or(Duration::ZERO, ProcessorTime::stolen);
        waited + stolen
    }
}

/// A summary of how many samples were disturbed, and by how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Disturbance {
    /// The number of all samples.
    pub samples: u64,
    /// The number of samples that the host held up for more than a hundredth of their time.
    pub disturbed: u64,
    /// The longest time for which the host held up one sample.
    pub held_up_max: Duration,
    /// The largest amount by which the longest time of a cell would be shorter without its
    /// disturbed samples.
    pub excess_max: Duration,
    /// Whether a hypervisor takes time from this machine, which the kernel counts in steps of 10
    /// ms.
    pub has_steal: bool,
}

impl Disturbance {
    /// Summarises samples by cell.
    pub(crate) fn of(cells: &[Vec<Sample>], has_steal: bool) -> Self {
        let none = Self { has_steal, ..Self::default() };
        cells.iter().fold(none, |sum, cell| {
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
                has_steal,
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
            has_steal: false,
        };
        assert_eq!(Disturbance::of(&cells, false), expected);
    }

    /// The sample takes 0.1 ms, and a tick of 10 ms of stolen time ends within it.
    #[test]
    fn a_sample_is_not_held_up_for_longer_than_it_took() {
        let (took, tick) = (Duration::from_us(100), Duration::from_ms(10));
        assert_eq!(Sample::new(took, tick, None).held_up, took);
        assert_eq!(Sample::new(tick, took, None).held_up, took);
    }

    #[test]
    fn what_the_kernel_cannot_count_is_said_where_time_is_stolen() {
        let calm = [vec![sample(100, 0)]];
        let said = |has_steal| Disturbance::of(&calm, has_steal).to_string();
        assert_eq!(said(false), "the host held up none of 1 sample by more than 1 %");
        let limit = ", as far as the kernel counts (stolen time in steps of 10 ms)";
        assert_eq!(said(true), said(false) + limit);
    }
}
