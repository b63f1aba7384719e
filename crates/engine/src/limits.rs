// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A target's limits. A run that exceeds them is refused before it starts.
//!
//! Only real targets have such limits, so the host's loop does not know them.

use tidegate_model::Bytes;

/// The limits of a run's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The target's size.
    pub capacity: Bytes,
    /// The alignment: every offset and size must be a multiple of it. It is a multiple of a sector.
    pub alignment: Bytes,
    /// The size of the largest request for which there is memory.
    pub size_max: Bytes,
    /// The maximum number of concurrent requests: those for which there is memory.
    pub in_flight_max: u32,
    /// Whether the target is open for writing.
    pub is_writable: bool,
}
