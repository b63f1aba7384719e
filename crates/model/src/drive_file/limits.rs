// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits on the figures in a drive file.

/// The longest time of a batch: one day. A larger figure is in another unit, or is not a disk's.
pub(super) const TIME_NS_MAX: u64 = 86_400_000_000_000;
