// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The load of other programs on the host and the device during a run.

use serde::{Deserialize, Serialize};
use tidegate_device::load::Completed;
use tidegate_device::{DeviceFacts, Temperature};
use tidegate_platform::steal::ProcessorTime;

/// The load of other programs during a run, and the device's temperatures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Load {
    /// The numbers of reads and writes that the device completed for other programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<[u64; 2]>,
    /// The number of ticks that the hypervisor took, and of all ticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    ticks: Option<[u64; 2]>,
    /// The temperatures before and after the run, in thousandths of a degree Celsius, each with its
    /// limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    warmth: Option<[(i64, Option<i64>); 2]>,
}

impl Load {
    /// Returns the load of a period of time.
    pub(crate) fn new(processor: Option<ProcessorTime>, other: Option<Completed>) -> Self {
        Self {
            other: other.map(|load| [load.reads, load.writes]),
            ticks: processor.map(|time| [time.stolen_ticks, time.total_ticks]),
            warmth: None,
        }
    }

    /// Adds the temperatures before and after the run, if both are known.
    pub(crate) fn with_warmth(
        self,
        before: Option<Temperature>,
        after: Option<Temperature>,
    ) -> Self {
        let of = |it: Temperature| (it.now, it.limit);
        Self { warmth: before.zip(after).map(|(before, after)| [of(before), of(after)]), ..self }
    }

    /// Returns the requests that the device completed for other programs.
    pub(crate) fn other(self) -> Option<Completed> {
        self.other.map(|[reads, writes]| Completed { reads, writes })
    }

    /// Returns the processor time, and how much of it the hypervisor took.
    pub(crate) fn processor(self) -> Option<ProcessorTime> {
        self.ticks.map(|[stolen_ticks, total_ticks]| ProcessorTime { stolen_ticks, total_ticks })
    }

    /// Returns the device's temperatures before and after the run.
    pub(crate) fn warmth(self) -> Option<[Temperature; 2]> {
        self.warmth.map(|both| both.map(|(now, limit)| Temperature { now, limit }))
    }

    /// Returns the total load of several runs, without temperatures.
    pub(crate) fn sum(loads: impl IntoIterator<Item = Self>) -> Self {
        let add = |one: Option<[u64; 2]>, other: Option<[u64; 2]>| match (one, other) {
            (Some([a, b]), Some([c, d])) => Some([a.saturating_add(c), b.saturating_add(d)]),
            (one, other) => one.or(other),
        };
        loads.into_iter().fold(Self::default(), |sum, load| Self {
            other: add(sum.other, load.other),
            ticks: add(sum.ticks, load.ticks),
            warmth: None,
        })
    }

    /// Describes the load in words, one line for each figure.
    pub(crate) fn lines(self) -> impl Iterator<Item = String> {
        let processor = self.processor().map(|time| {
            format!("the hypervisor took {} of {} ticks", time.stolen_ticks, time.total_ticks)
        });
        let other = self.other().map(|load| {
            format!("other load: {} reads, {} writes completed", load.reads, load.writes)
        });
        let warmth = self.warmth().map(|[before, after]| {
            format!("the device was at {before} before and at {after} after")
        });
        [processor, other, warmth].into_iter().flatten()
    }
}

/// Measures the load since the start of a run.
#[derive(Debug)]
pub(crate) struct LoadMeter {
    processor: Option<ProcessorTime>,
    completed: Option<Completed>,
}

impl LoadMeter {
    pub(crate) fn start(facts: &DeviceFacts) -> Self {
        Self { processor: ProcessorTime::read(), completed: Completed::read(facts) }
    }

    /// Returns the processor time since the start, and the requests that the device completed
    /// besides `ours`. None of our requests may be outstanding.
    pub(crate) fn read(&self, facts: &DeviceFacts, ours: Completed) -> Load {
        let passed = |earlier| Some(ProcessorTime::read()?.since(earlier));
        // The kernel may have merged some of our requests. The difference then hides other load,
        // and must not fall below zero.
        let others = |earlier| Some(Completed::read(facts)?.since(earlier).since(ours));
        Load::new(self.processor.and_then(passed), self.completed.and_then(others))
    }
}
