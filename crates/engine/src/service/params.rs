// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters of a service.

use std::sync::Arc;

use tidegate_model::serve_file::Placement;
use tidegate_model::{AccessTime, Bytes, DriveFile, ExportSpec, HostTime};
use tidegate_policy::Policy;

use super::offer::Arrangement;
use super::prover::Prover;
use super::request_sink::RequestSink;

/// The parameters of a service.
#[derive(Debug, Clone)]
pub struct ServiceParams {
    /// The initial exports.
    pub exports: Vec<ExportSpec>,
    /// The policy and plan that serve them.
    pub arrangement: Arrangement,
    /// Whether the plan's table was measured, so that batches are compared with it.
    pub is_measured: bool,
    /// The alignment in bytes: offsets and lengths must be multiples of it.
    pub alignment: Bytes,
    /// The largest request of an export without a contract; larger calls are split.
    pub size_max: Bytes,
    /// The limit on the memory for requests of all exports, including exports that are admitted
    /// later; `None` means no limit.
    pub requests_max: Option<Bytes>,
    /// Whether the store can deallocate blocks.
    pub can_trim: bool,
    /// The host's time, if the serve file states it. The policy then gets the contracts as they
    /// remain behind the host.
    pub host: Option<HostTime>,
    /// The drive file, which gives access times to policies that order by position.
    pub drive: Option<DriveFile>,
    /// The processors and the priority of the service's thread. Processors that do not exist are
    /// ignored.
    pub placement: Placement,
    /// Proves other sets of exports; with `None` the set never changes.
    pub prover: Option<Arc<dyn Prover>>,
    /// Receives each request that has ended; with `None` requests are not reported.
    pub requests_to: Option<RequestSink>,
}

impl ServiceParams {
    fn access_time(&self) -> Option<Box<dyn AccessTime>> {
        // A simulated drive's host is late just as a real device's, so the device's access times
        // apply.
        tidegate_drive::access_time_of_device(self.drive.as_ref()?)
    }

    /// Returns the size of the largest request of any export.
    pub(super) fn largest(&self) -> Bytes {
        let contracts = self.exports.iter().filter_map(|export| export.contract.as_ref());
        contracts.map(|terms| terms.size_max).fold(self.size_max, Bytes::max)
    }

    pub(super) fn policy(
        &self,
        arrangement: &Arrangement,
    ) -> Result<Box<dyn Policy>, tidegate_policy::BuildError> {
        tidegate_policy::build(arrangement.policy, &arrangement.plan, self.access_time())
    }
}
