// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The interface of an experiment: when it does not apply, how many trials it takes and what they
//! cost, how it is run and what it writes.

use tidegate_model::Duration;

use crate::context::Context;
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::rounds::Grid;
use crate::subject::TrialResult;
use crate::warning::Skip;

/// How fast a device is with one kind of request, roughly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The time of one request alone.
    pub alone: Duration,
    /// The time per request on a full device.
    pub in_company: Duration,
    /// The time of one request that others delay; `None` if nothing overtakes it.
    pub starved: Option<Duration>,
}

/// One experiment. Implementations hold no state: whatever an experiment finds goes into
/// [`Found`], whatever it needs comes from [`Context`].
pub(crate) trait Procedure: Sync {
    /// Returns why the experiment is not run; `None` if it applies.
    fn skip(&self, _params: &ProfileParams, _has_tags: bool) -> Option<Skip> {
        None
    }

    /// Returns the kinds of requests it is run with. An experiment that is run once ignores them.
    fn kinds(&self, params: &ProfileParams) -> Vec<Kind> {
        params.kinds.clone()
    }

    /// Returns how many trials it has with one kind of request.
    fn grid(&self, params: &ProfileParams) -> Grid;

    /// Returns how many requests one trial has on average, roughly, without warm-up.
    fn requests(&self, _params: &ProfileParams, _pace: Pace) -> u64 {
        1
    }

    /// Runs it with one kind of request, and writes what it found. An experiment that is run once
    /// gets the first kind.
    ///
    /// # Errors
    /// If the target fails.
    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult;
}

/// Returns roughly how many requests a flow at `depth` sends before something is measured: enough
/// to fill the device, and then a random number of up to seven times the depth.
pub(crate) fn flow_requests(depth: u64) -> u64 {
    4 * depth + depth
}
