// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reasons why an analysis does not apply to a system.

use tidegate_model::Duration;

/// A hypothesis of the analysis that fails for this system, so the analysis gives no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Inapplicable {
    /// The tasks' long-run request rate exceeds the rate of full batches (9.2.2.3).
    #[error("the tasks release more requests than full batches of {batch_max} can serve")]
    Overload {
        /// z: the largest number of requests in a batch.
        batch_max: u32,
    },
    /// The shortest period does not exceed `needed` (hypothesis of Theorem 9.2.7).
    #[error("the shortest period {period_min} does not exceed {needed}")]
    PeriodTooShort {
        /// The shortest period of all tasks.
        period_min: Duration,
        /// The value that it must exceed.
        needed: Duration,
    },
    /// The theorem does not cover best effort in its batches.
    #[error("best effort fills batches, which this theorem does not cover")]
    BestEffortAboard,
}
