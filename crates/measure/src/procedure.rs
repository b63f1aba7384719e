// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The interface of an experiment: when it does not apply, how many trials it has, how many
//! requests each needs, and how it is run.

use tidegate_model::Duration;

use crate::context::Context;
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::rounds::Grid;
use crate::subject::TrialResult;
use crate::warning::Skip;

/// The approximate pace of a device with one kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The time of one request alone.
    pub alone: Duration,
    /// The time per request on a full device.
    pub in_company: Duration,
    /// The time of one request that others delay; `None` if starvation is not measured.
    pub starved: Option<Duration>,
}

/// An experiment. Implementations hold no state: every result is stored in [`Found`], and every
/// input comes from [`Context`].
pub(crate) trait Procedure: Sync {
    /// Returns the reason why the experiment is not run; `None` if it applies.
    fn skip(&self, _params: &ProfileParams, _has_tags: bool) -> Option<Skip> {
        None
    }

    /// Returns the kinds of requests with which it is run. If it is run only once, they are
    /// ignored.
    fn kinds(&self, params: &ProfileParams) -> Vec<Kind> {
        params.kinds.clone()
    }

    /// Returns the numbers of samples and cells with one kind of request.
    fn grid(&self, params: &ProfileParams) -> Grid;

    /// Returns the approximate average number of requests of a trial, without warm-up.
    fn requests(&self, _params: &ProfileParams, _pace: Pace) -> u64 {
        1
    }

    /// Runs it with one kind of request, and stores the results in `found`. If it is run only once,
    /// it gets the first kind.
    ///
    /// # Errors
    /// If the target fails.
    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult;
}

/// Returns the approximate number of requests that a flow at `depth` sends before a measurement:
/// enough to fill the device, and then a random number of up to seven times the depth.
pub(crate) fn flow_requests(depth: u64) -> u64 {
    4 * depth + depth
}
