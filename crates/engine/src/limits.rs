// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A target's limits. A run that exceeds them is refused before it starts.
//!
//! Only real targets have such limits, so the loop of the host does not know them.

use tidegate_model::Bytes;

/// The limits of a run's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The target's size.
    pub capacity: Bytes,
    /// Every offset and size must be a multiple of this, which is a multiple of a sector.
    pub alignment: Bytes,
    /// The largest request for which there is memory.
    pub size_max: Bytes,
    /// The number of requests for which there is memory at once.
    pub in_flight_max: u32,
    /// Whether it is open for writing.
    pub is_writable: bool,
}
