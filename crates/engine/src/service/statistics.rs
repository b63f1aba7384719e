// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a service tells about itself while it runs.

use std::sync::mpsc::SyncSender;

use host::{BatchWatch, Distribution, Memory, Observer};
use model::{BatchTable, Duration, Outcome, Plan, Request, RequestCharges, Time};

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
    pub overrun_sum: Duration,
    /// The most by which one did.
    pub overrun_max: Duration,
}

/// A batch that took longer than the drive's table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun {
    /// The how manieth, from 1 on.
    pub number: u64,
    /// When it was done, since the service began.
    pub at: Time,
    /// What it took.
    pub time: Duration,
    /// By how much that was too long.
    pub excess: Duration,
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
    /// Who hears of overruns, and does not keep this thread waiting.
    overran: Option<SyncSender<Overrun>>,
}

impl Watch {
    pub(crate) fn new(table: Option<BatchTable>) -> Self {
        let batch_time = Distribution::new(Memory::AsNeeded);
        Self {
            batches: table.map(BatchWatch::new),
            batch_time,
            in_flight: 0,
            sent: None,
            overran: None,
        }
    }

    /// Batches are compared with A and what their requests are charged, where the proof does so.
    pub(crate) fn by_costs(mut self, charges: Option<RequestCharges>) -> Self {
        if let Some(charges) = charges {
            self.batches = self.batches.map(|batches| batches.by_costs(charges));
        }
        self
    }

    /// Batches are compared with this plan from now on, where they were compared at all; nothing is
    /// on the drive.
    pub(crate) fn compare_with(&mut self, plan: &Plan) {
        if let Some(batches) = &mut self.batches {
            batches.compare_with(plan.table.clone(), plan.charges.clone());
        }
    }

    /// Requests on the drive.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub(crate) fn telling(mut self, overran: SyncSender<Overrun>) -> Self {
        self.overran = Some(overran);
        self
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
            let (count, sum) = (batches.overruns, batches.overrun_sum);
            batches.completed(now, request, outcome);
            if batches.overruns > count
                && let Some((overran, sent)) = self.overran.as_ref().zip(self.sent)
            {
                let excess = batches.overrun_sum - sum;
                let time = now.since(sent);
                // Full where nobody listens: it is counted all the same.
                let _ =
                    overran.try_send(Overrun { number: batches.overruns, at: now, time, excess });
            }
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
