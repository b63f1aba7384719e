// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The activity of a drive before a drain, and the longest drains after each.

use tidegate_model::Duration;

use crate::kind::Kind;

/// The activity of a drive before a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// The idle device gets q requests together, so the drain is a batch: b(q).
    Idle,
    /// A flow that keeps q requests outstanding ends.
    Steady,
    /// A flow that keeps K requests outstanding stops until fewer than q are left, is filled up to
    /// q again, and ends. The requests left are those that the drive preferred least.
    Receded,
    /// A steady flow in the lowest fifth of the target ends while one request waits in the highest.
    Stranded,
    /// A steady flow whose places alternate between the two ends of the target ends.
    Ends,
}

impl Start {
    /// The starts at random places; the table is made from them.
    pub const RANDOM: [Self; 3] = [Self::Idle, Self::Steady, Self::Receded];

    /// The starts at places that make drains long.
    pub const ADVERSARIES: [Self; 2] = [Self::Stranded, Self::Ends];

    /// Returns the name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Steady => "steady",
            Self::Receded => "receded",
            Self::Stranded => "stranded",
            Self::Ends => "ends",
        }
    }
}

/// The longest drains after one start.
///
/// # Shape
/// Entry `q - 1` of `longest` is for q outstanding requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartTimes {
    /// The kind of requests.
    pub kind: Kind,
    /// The start.
    pub start: Start,
    /// The longest times.
    pub longest: Vec<Duration>,
}
