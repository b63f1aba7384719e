// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The limits of every ring.

use tidegate_model::Bytes;

/// The largest number of slots of a ring.
pub const SLOTS_MAX: u32 = 4096;

/// The largest request of a ring.
pub const SIZE_MAX: Bytes = Bytes::new(256 << 20);
