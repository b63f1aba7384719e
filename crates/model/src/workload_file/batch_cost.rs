// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks `batch_cost` of `[policy.dqf]` against the known costs of the requests.

use super::WorkloadFile;
use super::bind::ms_ceil;
use crate::batch_cost::RequestCharges;
use crate::entry::within_time_max;
use crate::file_error::FileError;
use crate::task::Op;
use crate::units::{Bytes, Duration};
use crate::workload::{BatchChoice, Workload};

impl WorkloadFile {
    /// Refuses a limit by cost if the requests have no cost model, if the most expensive request
    /// exceeds the limit, or if the fixed `batch` exceeds the largest batch that the model covers.
    pub(super) fn check_batch_cost(&self, workload: &Workload) -> Result<(), FileError> {
        let Some(cost_max) = workload.parameters.dqf.batch_cost else { return Ok(()) };
        within_time_max(cost_max, self.policy.batch_cost_span.clone(), "cost of a batch")?;
        let wrong = |message: String, help: String| {
            Err(FileError::new(self.policy.batch_cost_span.clone(), message, help))
        };
        let costs = workload.contracts.costs.as_ref();
        let Some((costs, charges)) = costs.zip(RequestCharges::of_workload(workload)) else {
            return wrong(
                format!(
                    "batch_cost needs the cost of each request, but the cost model of `{}` does not \
                     cover this workload",
                    workload.drive_name
                ),
                "delete batch_cost; batch = \"auto\" or a number of requests limits the batches. \
                 Costs need a drive with measurements of each kind of request ([[batch]]) or \
                 with [cost], and a workload with more than one kind of request"
                    .to_owned(),
            );
        };
        let costliest = self.costliest(&charges).expect("every kind has its cost");
        if cost_max < costliest.2 {
            let (op, size, charge) = costliest;
            return wrong(
                format!(
                    "a {} of {size} costs {}, which exceeds batch_cost ({})",
                    op.name(),
                    ms_ceil(charge),
                    ms_ceil(cost_max)
                ),
                format!("write at least batch_cost = \"{}\", or delete it", ms_ceil(charge)),
            );
        }
        match (workload.batch, costs.batch_max) {
            (BatchChoice::Fixed(batch_max), Some(known_max)) if batch_max > known_max => {
                Err(FileError::new(
                    self.policy.batch_span.clone(),
                    format!(
                        "a batch of {batch_max} requests exceeds the cost model, which holds for \
                         batches of at most {known_max}"
                    ),
                    format!("write at most {known_max}, or batch = \"auto\""),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Returns the most expensive request of all sources.
    fn costliest(&self, charges: &RequestCharges) -> Option<(Op, Bytes, Duration)> {
        let with_charge = |(op, size, _)| Some((op, size, charges.of_request(op, size)?));
        let all: Option<Vec<_>> = self.kinds().map(with_charge).collect();
        all?.into_iter().max_by_key(|&(_, _, charge)| charge)
    }
}
