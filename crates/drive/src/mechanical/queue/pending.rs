// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A request in the drive's queue.

use tidegate_model::{Request, Time};

use crate::mechanical::layout::Extent;

/// A request that the drive holds but does not serve yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    /// The drive's own number for the request, because hosts can reuse ids.
    pub(crate) number: u64,
    /// The request; the queue returns it with the tag that it honoured.
    pub(crate) request: Request,
    /// The instant at which the request arrived at the drive.
    pub(crate) arrived: Time,
    /// The extent of the request's sectors on its first track.
    pub(crate) target: Extent,
}
