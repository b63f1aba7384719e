// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a service tells about itself while it runs.

use host::{BatchWatch, Distribution, Memory, Observer};
use model::{BatchTable, Outcome, Request, Time};

use super::tenant::ExportStatistics;

/// What was seen of a service so far.
#[derive(Debug, Clone)]
pub struct ServiceStatistics {
    /// Since it began.
    pub now: Time,
    /// One for each export, in order.
    pub exports: Vec<ExportStatistics>,
    /// Requests on the drive.
    pub in_flight: u32,
    /// What the drive took for a batch that it got when idle, from its submission.
    pub batch_time: Distribution,
    /// Batches that were compared with the table.
    pub batches: u64,
    /// Those of them that took longer than it allows.
    pub overruns: u64,
    /// By how much they did in all.
    pub overrun_sum: model::Duration,
    /// The most by which one did.
    pub overrun_max: model::Duration,
}

/// Watches the drive.
#[derive(Debug)]
pub(crate) struct Watch {
    /// None where nothing was measured.
    batches: Option<BatchWatch>,
    batch_time: Distribution,
    in_flight: u32,
    /// When the batch on the drive was sent, if an idle drive got it.
    sent: Option<Time>,
}

impl Watch {
    pub(crate) fn new(table: Option<BatchTable>) -> Self {
        let batch_time = Distribution::new(Memory::AsNeeded);
        Self { batches: table.map(BatchWatch::new), batch_time, in_flight: 0, sent: None }
    }

    pub(crate) fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.sent = (self.in_flight == 0).then_some(now);
        self.in_flight += u32::try_from(batch.len()).expect("at most the depth");
        if let Some(batches) = &mut self.batches {
            batches.dispatched(now, batch);
        }
    }

    pub(crate) fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        self.in_flight -= 1;
        if let Some(batches) = &mut self.batches {
            batches.completed(now, request, outcome);
        }
        if self.in_flight == 0
            && let Some(sent) = self.sent.take()
        {
            self.batch_time.record(now.since(sent));
        }
    }

    pub(crate) fn statistics(
        &self,
        now: Time,
        exports: Vec<ExportStatistics>,
    ) -> ServiceStatistics {
        let batches = self.batches.as_ref();
        ServiceStatistics {
            now,
            exports,
            in_flight: self.in_flight,
            batch_time: self.batch_time.clone(),
            batches: batches.map_or(0, |seen| seen.batches),
            overruns: batches.map_or(0, |seen| seen.overruns),
            overrun_sum: batches.map(|seen| seen.overrun_sum).unwrap_or_default(),
            overrun_max: batches.map(|seen| seen.overrun_max).unwrap_or_default(),
        }
    }
}
