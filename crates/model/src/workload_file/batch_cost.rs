// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `batch_cost` of `[policy.dqf]` against what is known of the requests' costs.

use super::bind::ms_ceil;
use super::{WorkloadFile, within_time_max};
use crate::batch_cost::RequestCharges;
use crate::file_error::FileError;
use crate::task::Op;
use crate::units::{Bytes, Duration};
use crate::workload::{BatchChoice, Workload};

impl WorkloadFile {
    /// Refuses a limit by cost where requests have no costs of their own, where the dearest of
    /// them exceeds it, and beside a count of which the costs do not speak.
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
                    "batch_cost limits batches by what each request costs, and on `{}` the \
                     requests of this workload have no costs of their own",
                    workload.drive_name
                ),
                "leave it out: batch = \"auto\" or a number of requests limits the batches. \
                 Costs need a drive that was measured with each kind of request ([[batch]]), or \
                 has them in [cost], and a workload with more than one kind"
                    .to_owned(),
            );
        };
        let dearest = self.dearest(&charges).expect("every kind has its cost");
        if cost_max < dearest.2 {
            let (op, size, charge) = dearest;
            return wrong(
                format!(
                    "a {} of {size} costs {}, which is more than a batch may cost ({})",
                    op.name(),
                    ms_ceil(charge),
                    ms_ceil(cost_max)
                ),
                format!("write at least batch_cost = \"{}\", or leave it out", ms_ceil(charge)),
            );
        }
        match (workload.batch, costs.batch_max) {
            (BatchChoice::Fixed(batch_max), Some(known_max)) if batch_max > known_max => {
                Err(FileError::new(
                    self.policy.batch_span.clone(),
                    format!(
                        "a batch of {batch_max} requests limited by batch_cost: the costs hold for \
                         batches of at most {known_max}"
                    ),
                    format!("write at most {known_max}, or batch = \"auto\""),
                ))
            }
            _ => Ok(()),
        }
    }

    /// The dearest request of any source.
    fn dearest(&self, charges: &RequestCharges) -> Option<(Op, Bytes, Duration)> {
        let with_charge = |(op, size, _)| Some((op, size, charges.of_request(op, size)?));
        let all: Option<Vec<_>> = self.kinds().map(with_charge).collect();
        all?.into_iter().max_by_key(|&(_, _, charge)| charge)
    }
}
