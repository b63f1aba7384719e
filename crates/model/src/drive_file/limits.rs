// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits on the figures in a drive file.

/// The longest time of a batch: one day. A larger figure was written in another unit, or does not
/// describe a disk.
pub(super) const TIME_NS_MAX: u64 = 86_400_000_000_000;
