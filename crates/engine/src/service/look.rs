// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state of a service at one instant, for monitoring.

use std::sync::{Arc, Mutex};

use tidegate_model::Time;

use super::offer::Offer;
use super::statistics::ServiceStatistics;

/// The last statistics, and the time at which they were read.
#[derive(Debug, Default)]
pub(crate) struct Recent(pub(super) Mutex<Option<(Time, Look)>>);

/// A service's offer and statistics at one instant.
#[derive(Debug, Clone)]
pub struct Look {
    /// The offer at that instant.
    pub offer: Arc<Offer>,
    /// The statistics of each export of the offer, in the same order.
    pub seen: Arc<ServiceStatistics>,
}

impl Look {
    /// Returns whether any export's bound does not hold now.
    pub fn is_degraded(&self) -> bool {
        (0..self.offer.exports().len()).any(|index| self.is_export_degraded(index))
    }

    /// Returns whether this export's bound does not hold now: the drive exceeded its table, or a
    /// response exceeded the bound, and the guarantee has not been restored yet.
    pub fn is_export_degraded(&self, index: usize) -> bool {
        let export = &self.seen.exports[index];
        self.offer.bounds()[index].is_some() && (self.seen.is_drive_degraded || export.is_degraded)
    }
}
