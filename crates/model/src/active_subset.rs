// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The times on which the proof of `das` rests. Analysis, policy and checkers take them from here,
//! so that they cannot disagree.

use crate::contracts::ServicePrediction;
use crate::units::Duration;
use crate::workload::Workload;

/// The times of one request under `das`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveSubset {
    /// C: the longest time of one request. C is at least b(1), and at least the longest time that
    /// the drive's mechanics can predict plus `excess_max`.
    pub service_max: Duration,
    /// The most by which a request can exceed its predicted time: the margin, and the flush that
    /// may follow the request.
    pub excess_max: Duration,
    /// The margin, with its origin.
    pub margin: Margin,
}

/// The margin of `das`, with its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Margin {
    /// The margin that the workload states; it is at least the measured error.
    Stated(Duration),
    /// The largest error that was measured on the drive.
    Measured(Duration),
    /// The margin is neither stated nor measured: it is 0, which proves nothing.
    Unmeasured,
    /// The drive's mechanics predict no times for the requests, so a margin proves nothing.
    Unpredicted,
}

impl Margin {
    /// Returns the margin as a time; zero if it is unmeasured or the requests are unpredicted.
    pub const fn time(self) -> Duration {
        match self {
            Self::Stated(time) | Self::Measured(time) => time,
            Self::Unmeasured | Self::Unpredicted => Duration::ZERO,
        }
    }
}

impl ActiveSubset {
    /// Returns the times of `das` for the requests of a workload.
    pub fn of(workload: &Workload) -> Self {
        let (contracts, table) = (&workload.contracts, &workload.table);
        let Some(ServicePrediction { ceiling, late_max }) = contracts.prediction else {
            let (service_max, margin) = (table.time_max(1), Margin::Unpredicted);
            return Self { service_max, excess_max: Duration::ZERO, margin };
        };
        let margin = match (workload.parameters.das.margin, late_max) {
            (Some(stated), late_max) if late_max.is_none_or(|late| late <= stated) => {
                Margin::Stated(stated)
            }
            (_, Some(late_max)) => Margin::Measured(late_max),
            (_, None) => Margin::Unmeasured,
        };
        // A sum that overflows becomes the longest time, which proves nothing.
        let excess_max = margin
            .time()
            .checked_add(contracts.flush_max.unwrap_or_default())
            .unwrap_or(Duration::MAX);
        let expected = ceiling.checked_add(excess_max).unwrap_or(Duration::MAX);
        Self { service_max: table.time_max(1).max(expected), excess_max, margin }
    }
}
