// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a hard disk is made of, found out from outside: how fast it turns, what a command
//! costs, where its zones are, how tracks follow each other, how long seeks take. And a
//! `[mechanics]` section of it.
//!
//! Everything rests on one fact: a read is back when its last sector has passed the heads, so
//! its completion tells the angle of that sector. With the turn known to parts per million each
//! read of a block that is not in the drive's memory measures an angle.
//!
//! ```text
//! rotation -> overhead
//!          -> zones -> seek-curve -> mechanics
//! ```
//!
//! Nothing is written. One read is outstanding at a time, so the drive's queue plays no part.
//! On what does not turn [`NoRotation`] says so, and the others are not made.

mod access;
mod fit;
mod home;
mod ladder;
mod number;
mod order;
mod overhead;
mod platter;
mod probing;
mod rotation;
mod seek;
#[cfg(test)]
mod tests;
mod tracks;
mod transfer;
mod zones;

use serde::{Deserialize, Serialize};

pub use fit::mechanics;
pub use order::TracksSeen;
pub use overhead::OverheadSeen;
pub use rotation::{NoRotation, Rotation};
pub use seek::{SeekPoint, SeekSeen};
pub use zones::{NotSeen, ZoneMap, ZoneSeen};

pub(crate) use overhead::overhead;
pub(crate) use probing::Probing;
pub(crate) use rotation::rotation;
pub(crate) use seek::seek_curve;
pub(crate) use zones::zones;

/// What was found out about a hard disk; what was not measured, or not seen, is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Sectors of the smallest request with which it was measured.
    pub block: u64,
    /// How fast it turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// What a read costs where nothing moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<OverheadSeen>,
    /// Where its zones are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneMap>,
    /// How long seeks take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek: Option<SeekSeen>,
}
