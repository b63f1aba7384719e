// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads what others did to the host and the device since a run began.

use tidegate_device::DeviceFacts;
use tidegate_device::load::Completed;
use tidegate_platform::steal::ProcessorTime;

use crate::run_record::Load;

/// Readings of the host at the start of a run.
#[derive(Debug)]
pub(crate) struct LoadMeter {
    processor: Option<ProcessorTime>,
    completed: Option<Completed>,
}

impl LoadMeter {
    pub(crate) fn start(facts: &DeviceFacts) -> Self {
        Self { processor: ProcessorTime::read(), completed: Completed::read(facts) }
    }

    /// Processor time that passed, and what the device completed besides our requests, of which none
    /// is outstanding.
    pub(crate) fn read(&self, facts: &DeviceFacts, ours: Completed) -> Load {
        let passed = |earlier| Some(ProcessorTime::read()?.since(earlier));
        // The kernel may have merged some of ours: then nothing of others is seen, rather than
        // less than nothing.
        let others = |earlier| Some(Completed::read(facts)?.since(earlier).since(ours));
        Load::new(self.processor.and_then(passed), self.completed.and_then(others))
    }
}
