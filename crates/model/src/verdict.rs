// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The verdict of an analysis: a bound, or no bound.

use crate::units::Duration;

/// The verdict of an analysis on one task. Neither verdict is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No job of the task takes longer than this from release to completion.
    Bounded(Duration),
    /// The analysis found no bound up to this response time.
    NoBoundWithin {
        /// The response time at which the search stopped.
        horizon: Duration,
    },
}

impl Verdict {
    /// Returns the bound, if there is one.
    pub fn bound(self) -> Option<Duration> {
        match self {
            Self::Bounded(response) => Some(response),
            Self::NoBoundWithin { .. } => None,
        }
    }
}
