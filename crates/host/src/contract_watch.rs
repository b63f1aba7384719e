// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Holds a run against everything that the drive was measured to keep.
//!
//! Every bound rests on one contract of the drive (`tidegate_model::DriveContract`). When a response exceeds
//! its bound, the first question is whether the drive broke that contract. One file for each
//! contract beside b(i), which `batch_watch` has; what nobody measured is not watched.
//!
//! As there, times run from submission to when the host saw a completion: on a real clock they
//! contain how late the host was.

mod drain;
mod overruns;
mod priority;
mod residence;

use tidegate_model::{
    BatchTable, Contracts, DriveContract, Outcome, Request, RequestCharges, Time,
};

use crate::batch_watch::BatchWatch;
use crate::observer::Observer;

pub use drain::DrainWatch;
pub use overruns::Overruns;
pub use priority::PriorityWatch;
pub use residence::ResidenceWatch;

/// A watch for each contract that was measured; see the module's text.
#[derive(Debug, PartialEq)]
pub struct ContractWatch {
    batches: BatchWatch,
    drain: Option<DrainWatch>,
    residence: Option<ResidenceWatch>,
    priority: Option<PriorityWatch>,
}

impl ContractWatch {
    /// Nothing seen yet; batches are compared with `table`, all else with `contracts`.
    pub fn new(table: BatchTable, contracts: &Contracts) -> Self {
        Self {
            batches: BatchWatch::new(table),
            drain: contracts.drain.clone().map(DrainWatch::new),
            residence: contracts.starvation_max.map(ResidenceWatch::new),
            priority: contracts.priority.clone().map(PriorityWatch::new),
        }
    }

    /// The same, batches compared with A and what their requests are charged: for proofs that
    /// rest on these.
    #[must_use]
    pub fn by_costs(self, charges: RequestCharges) -> Self {
        Self { batches: self.batches.by_costs(charges), ..self }
    }

    /// What was seen of a contract; none where it was never measured.
    pub fn overruns(&self, contract: DriveContract) -> Option<Overruns> {
        match contract {
            DriveContract::Batches => Some(Overruns {
                observed: self.batches.batches,
                overruns: self.batches.overruns,
                max: self.batches.overrun_max,
                sum: self.batches.overrun_sum,
            }),
            DriveContract::Drain => self.drain.as_ref().map(DrainWatch::overruns),
            DriveContract::Starvation => self.residence.as_ref().map(ResidenceWatch::overruns),
            DriveContract::Priority => self.priority.as_ref().map(PriorityWatch::overruns),
        }
    }

    /// Tells every watch.
    fn tell(&mut self, tell: impl Fn(&mut dyn Observer)) {
        tell(&mut self.batches);
        if let Some(drain) = &mut self.drain {
            tell(drain);
        }
        if let Some(residence) = &mut self.residence {
            tell(residence);
        }
        if let Some(priority) = &mut self.priority {
            tell(priority);
        }
    }
}

impl Observer for ContractWatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.tell(|watch| watch.dispatched(now, batch));
    }
    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        self.tell(|watch| watch.completed(now, request, outcome));
    }
    fn ended(&mut self, now: Time) {
        self.tell(|watch| watch.ended(now));
    }
}
