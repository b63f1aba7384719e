// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A measurement: its parameters, the data that its thread collects, and its result.

use tidegate_cpu_model::CpuProfile;
use tidegate_model::Duration;
use tidegate_platform::realtime::{RealTime, Throttling};
use tidegate_platform::steal::ProcessorTime;

use super::hourglass::Steps;
use super::plan::IntervalRange;
use super::synthetic_load::{SyntheticLoad, SyntheticLoadReport};
use super::tally::Tally;

/// The parameters of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuProfileParams {
    /// The profile's name, for human readers.
    pub name: String,
    /// The number of the processor to measure.
    pub cpu: u32,
    /// The SCHED_FIFO priority to request, 1 to 98; `None` to measure as an ordinary thread.
    pub priority: Option<u8>,
    /// The lengths of the intervals.
    pub intervals: IntervalRange,
    /// The least number of intervals of the longest length, counted end to end.
    pub trials: u64,
    /// The time after which the measurement ends with the data so far; `None` for no limit.
    pub time_limit: Option<Duration>,
    /// The seed of the random phases.
    pub seed: u64,
    /// A synthetic load to measure, which runs one priority above; `None` to measure only the
    /// machine.
    pub synthetic_load: Option<SyntheticLoad>,
    /// The time after which the caller is given another partial profile to save.
    pub keep_every: Duration,
}

/// Why the measurement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuProfileEnd {
    /// All trials were made.
    Complete,
    /// The time limit was reached.
    TimeOver,
    /// The measurement was cancelled.
    Cancelled,
}

/// The time that other threads and the hypervisor took, as far as the kernel reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostShare {
    /// The time for which the thread was ready but did not run, because of other threads or the
    /// throttling of real-time threads; `None` if the kernel does not report it.
    pub waited: Option<Duration>,
    /// The time that the hypervisor took from this processor during the measurement, including
    /// pauses.
    pub steal: Option<ProcessorTime>,
    /// The kernel's throttling of real-time threads.
    pub throttling: Option<Throttling>,
    /// The number of gaps that are as long as the wait of a throttled thread.
    pub gaps_like_throttling: u64,
    /// The most frequent interrupts and softirqs of this processor during the measurement,
    /// including pauses.
    pub interrupts: Vec<(String, u64)>,
}

/// The result of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuMeasurement {
    /// The profile to write to a file: points, fits and conditions.
    pub profile: CpuProfile,
    /// The data from which it was computed.
    pub tally: Tally,
    /// How fast the clock was read.
    pub steps: Steps,
    /// The permissions granted; `None` if none were requested.
    pub real_time: Option<RealTime>,
    /// The time that other threads and the hypervisor took.
    pub host: HostShare,
    /// The number of measurements that ended early because they had too many gaps to record.
    pub cut: u64,
    /// The report of the synthetic load, if there was one.
    pub synthetic_load: Option<SyntheticLoadReport>,
    /// The duration of the measurement, including pauses.
    pub took: Duration,
    /// The reason why the measurement ended.
    pub end: CpuProfileEnd,
    /// Sentences for human readers about conditions that may have distorted the measurement.
    pub warnings: Vec<String>,
}

/// The data that the thread collected.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) tally: Tally,
    pub(super) steps: Steps,
    pub(super) stretch: Duration,
    pub(super) real_time: Option<RealTime>,
    pub(super) host: HostShare,
    pub(super) cut: u64,
    pub(super) took: Duration,
    pub(super) end: CpuProfileEnd,
}
