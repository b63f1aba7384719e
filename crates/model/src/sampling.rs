// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The measurements behind a workload's batch table: how many samples, and how short a batch can be.
//! They say how often an overrun must be expected; no bound rests on them.

use crate::drive_file::MeasuredTable;
use crate::task::Op;
use crate::units::Duration;

/// The measurement of one batch table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// The operation of its requests; `None` for every operation.
    pub op: Option<Op>,
    /// The smallest number of samples of a batch.
    pub samples: u64,
    /// The number of independent samples that carry as much information; `None` if no dependence
    /// was found.
    pub samples_effective: Option<u64>,
    /// The shortest measured time of a batch; `None` if the drive file does not have it.
    pub time_min: Option<Duration>,
}

impl Sampling {
    /// Returns the measurements behind these tables; none if one of them does not state its
    /// samples.
    pub(crate) fn of(measured: &[&MeasuredTable]) -> Vec<Self> {
        let of_table = |table: &&MeasuredTable| {
            let samples = table.samples.filter(|&samples| samples > 0)?;
            let shortest = table.quantiles_ns[0].iter().min().copied();
            Some(Self {
                op: table.op,
                samples,
                samples_effective: table.samples_effective,
                time_min: shortest.map(Duration::from_ns),
            })
        };
        measured.iter().map(of_table).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Returns the number of samples that count as independent, at least one.
    pub fn independent(&self) -> u64 {
        self.samples_effective.unwrap_or(self.samples).min(self.samples).max(1)
    }
}
