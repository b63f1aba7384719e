// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why an analysis says nothing of a system.

use tidegate_model::Duration;

/// An assumption of the analysis fails for this system, so it says nothing about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Inapplicable {
    /// More requests come in the long run than full batches can serve (9.2.2.3).
    #[error("the tasks release more requests than full batches of {batch_max} can serve")]
    Overload {
        /// z.
        batch_max: u32,
    },
    /// The shortest period does not exceed `needed` (hypothesis of Theorem 9.2.7).
    #[error("the shortest period {period_min} does not exceed {needed}")]
    PeriodTooShort {
        /// The shortest period of all tasks.
        period_min: Duration,
        /// What it would have to exceed.
        needed: Duration,
    },
    /// The theorem knows nothing of best effort in its batches.
    #[error("best effort fills batches, of which this theorem knows nothing")]
    BestEffortAboard,
}
