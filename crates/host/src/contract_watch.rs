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

use tidegate_model::{DriveContract, DriveLimits, Outcome, Request, Time};

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
    /// Makes watches that compare the drive with these limits.
    pub fn new(limits: &DriveLimits) -> Self {
        let DriveLimits { measured, tolerated } = limits;
        let drain = measured.drain.clone().zip(tolerated.drain.clone());
        let residence = measured.starvation_max.zip(tolerated.starvation_max);
        let priority = measured.priority.clone().zip(tolerated.priority.clone());
        Self {
            batches: BatchWatch::new(limits),
            drain: drain.map(|(table, tolerated)| DrainWatch::new(table, tolerated)),
            residence: residence.map(|(time, tolerated)| ResidenceWatch::new(time, tolerated)),
            priority: priority.map(|(table, tolerated)| PriorityWatch::new(table, tolerated)),
        }
    }

    /// Returns the overruns of a contract; `None` if it was never measured.
    pub fn overruns(&self, contract: DriveContract) -> Option<Overruns> {
        match contract {
            DriveContract::Batches => Some(Overruns {
                observed: self.batches.batches,
                overruns: self.batches.overruns,
                tolerated: self.batches.tolerated_overruns,
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
