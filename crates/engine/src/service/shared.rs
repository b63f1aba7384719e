// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state that a service's clients share with its thread.

use std::sync::Mutex;

use super::export_table::ExportTable;
use super::gate::AllGates;
use super::inbox::Inbox;
use super::look::Recent;
use super::offer::CurrentOffer;
use super::params::ServiceParams;
use super::pool::Pool;

/// The state that clients and the service's thread share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) params: ServiceParams,
    pub(super) inbox: Inbox,
    pub(super) pool: Pool,
    pub(super) gates: AllGates,
    pub(super) offer: CurrentOffer,
    /// The current exports and their plan.
    pub(super) table: Mutex<ExportTable>,
    /// Held during a change of the table.
    pub(super) changing: Mutex<()>,
    pub(super) recent: Recent,
}
