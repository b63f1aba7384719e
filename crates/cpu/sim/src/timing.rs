// SPDX-License-Identifier: Apache-2.0 OR MIT
//! When a simulated processor is disturbed.

use tidegate_model::names;

names! {
    /// When sections begin and time is stolen.
    pub enum Timing {
        /// At the worst instants: just before a release, for the longest allowed time.
        Critical => "critical",
        /// At random instants.
        Random => "random",
        /// Never.
        Never => "never",
    }
}
