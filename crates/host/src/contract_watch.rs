// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares a run with all contracts that the drive was measured to keep.
//!
//! Every bound relies on one drive contract (`tidegate_model::DriveContract`). If a response
//! exceeds its bound, the first question is whether the drive broke that contract. Each contract
//! has its own file, except b(i), which `batch_watch` covers; a contract that was not measured is
//! not watched.
//!
//! As in `batch_watch`, times run from submission until the host saw a completion: on a real clock
//! they include the host's lateness.

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

/// The watches of all measured contracts.
#[derive(Debug, PartialEq)]
pub struct ContractWatch {
    batches: BatchWatch,
    drain: Option<DrainWatch>,
    residence: Option<ResidenceWatch>,
    priority: Option<PriorityWatch>,
}

impl ContractWatch {
    /// Makes watches that compare batches with `table` and everything else with `contracts`.
    pub fn new(table: BatchTable, contracts: &Contracts) -> Self {
        Self {
            batches: BatchWatch::new(table),
            drain: contracts.drain.clone().map(DrainWatch::new),
            residence: contracts.starvation_max.map(ResidenceWatch::new),
            priority: contracts.priority.clone().map(PriorityWatch::new),
        }
    }

    /// Makes the watch compare batches with A plus the charges of their requests, for proofs that
    /// rely on these.
    #[must_use]
    pub fn by_costs(self, charges: RequestCharges) -> Self {
        Self { batches: self.batches.by_costs(charges), ..self }
    }

    /// Returns the overruns of a contract; `None` if it was never measured.
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

    /// Passes an event to every watch.
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
