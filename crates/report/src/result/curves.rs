// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The request and supply curves of a result.

use serde::{Deserialize, Serialize};
use tidegate_analysis::dqf::{Curves, Distance};
use tidegate_model::Duration;

/// The requests that can be released in a window, and those that are complete in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurvesRecord {
    /// Pairs of an instant and the requests that can be released up to it.
    pub released_ns_steps: Vec<(u64, u64)>,
    /// Pairs of an instant and the requests that are complete at it, if so many were released.
    pub served_ns_steps: Vec<(u64, u64)>,
    /// The largest horizontal distance.
    pub distance: DistanceRecord,
}

/// Where two curves are farthest apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistanceRecord {
    /// The requests at which they are.
    pub requests: u64,
    /// When that request can be released at the earliest.
    pub released_ns: u64,
    /// When it is complete at the latest.
    pub served_ns: u64,
}

impl CurvesRecord {
    /// Returns the record of these curves.
    pub fn of(curves: &Curves) -> Self {
        let pairs = |steps: &[(Duration, u64)]| {
            steps.iter().map(|&(at, requests)| (at.ns(), requests)).collect()
        };
        let Distance { requests, released, served } = curves.distance;
        let (released_ns, served_ns) = (released.ns(), served.ns());
        Self {
            released_ns_steps: pairs(&curves.requests),
            served_ns_steps: pairs(&curves.supply),
            distance: DistanceRecord { requests, released_ns, served_ns },
        }
    }
}
