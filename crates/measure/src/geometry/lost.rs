// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons why an experiment on a disk, or a step of it, found nothing.

use serde::{Deserialize, Serialize};

use super::probing::Stop;
use crate::subject::TrialResult;

/// The reason why an experiment on a disk found nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NotSeen {
    /// The caller stopped the experiment.
    #[error("stopped before it was done")]
    Cancelled,
    /// The angles of too many places were inconsistent.
    #[error(
        "gave up after {requests} requests: too few completions came at times that a track explains"
    )]
    Spent {
        /// The number of requests that were sent.
        requests: u64,
    },
    /// The angles near this place do not show a track.
    #[error("near sector {near} the angles of blocks do not look like tracks")]
    NoTrack {
        /// The sector.
        near: u64,
    },
}

/// The reason why a step found nothing.
#[derive(Debug)]
pub(super) enum Lost {
    Stop(Stop),
    Near(u64),
}

impl From<Stop> for Lost {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// Converts an experiment's result to the form that its caller gets. `requests` is the number of
/// requests that the experiment sent.
pub(super) fn reported<T>(
    found: Result<T, Lost>,
    requests: u64,
) -> TrialResult<Result<T, NotSeen>> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(Lost::Near(near)) => Ok(Err(NotSeen::NoTrack { near })),
        Err(Lost::Stop(Stop::Cancelled)) => Ok(Err(NotSeen::Cancelled)),
        Err(Lost::Stop(Stop::Spent)) => Ok(Err(NotSeen::Spent { requests })),
        Err(Lost::Stop(Stop::Subject(error))) => Err(error),
    }
}
