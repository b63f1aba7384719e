// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reports the host's stated times: the part that lengthens each batch, and the part that each
//! client waits in addition to the disk.

use serde::Serialize;
use tidegate_model::{Duration, HostTime, Workload};

use crate::figures;
use crate::ns::Ns;
use crate::page::Page;

/// The stated times of the host.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct HostReport {
    release_ns: Ns,
    submit_ns: Ns,
    complete_ns: Ns,
    reply_ns: Ns,
    #[serde(skip)]
    time: HostTime,
    #[serde(skip)]
    in_batch: Duration,
}

impl HostReport {
    /// Returns the times; `None` if the workload does not state the host's time.
    pub(crate) fn of(workload: &Workload) -> Option<Self> {
        let time = workload.host.stated()?;
        let HostTime { release, submit, complete, reply } = time;
        let [release_ns, submit_ns] = [release, submit].map(Ns);
        let [complete_ns, reply_ns] = [complete, reply].map(Ns);
        let in_batch = workload.host_in_batch();
        Some(Self { release_ns, submit_ns, complete_ns, reply_ns, time, in_batch })
    }

    /// Writes the times, and how the simulator uses them.
    pub(crate) fn write_delays(&self, page: &mut Page) {
        let text = format!("{}: each step is late by a random time up to that", self.steps());
        page.labelled("Host", text);
    }

    fn steps(&self) -> String {
        self.time.steps().map(|(name, time)| format!("{name} {time}")).join(", ")
    }

    /// Writes the times, and which part of them is inside batches.
    pub(crate) fn write(&self, page: &mut Page) {
        let batch = figures::ms_ceil(self.in_batch);
        let around = figures::ms_ceil(self.time.around_policy());
        let text = format!(
            "{}: bounds are the clients'; each batch contains {batch} of it, and each client waits \
             {around} beside the disk",
            self.steps()
        );
        page.labelled("Host", text);
    }
}
