// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The instants of disturbance.

/// When sections begin and time is stolen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Never.
    Never,
    /// At the worst instants: just before a release, for the longest allowed time.
    Critical,
    /// At random.
    Random,
}
