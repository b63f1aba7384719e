// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an analysis answers: a bound, or that it found none.

use crate::units::Duration;

/// What an analysis says of one task. Neither answer is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No job of the task takes longer than this from release to completion.
    Bounded(Duration),
    /// The analysis found no bound up to this response time.
    NoBoundWithin {
        /// Where the search stopped.
        horizon: Duration,
    },
}

impl Verdict {
    /// The bound, if there is one.
    pub fn bound(self) -> Option<Duration> {
        match self {
            Self::Bounded(response) => Some(response),
            Self::NoBoundWithin { .. } => None,
        }
    }
}
