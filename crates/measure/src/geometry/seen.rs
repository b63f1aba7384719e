// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All results about a hard disk.

use serde::{Deserialize, Serialize};

use super::overhead::OverheadSeen;
use super::rotation::Rotation;
use super::seek::SeekSeen;
use super::zones::ZoneMap;

/// The results of all experiments on a hard disk; `None` for an experiment that was not run or
/// found nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// The number of sectors of the smallest request that was used.
    pub block: u64,
    /// The time of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// The fixed cost of a read, without seek and rotational delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<OverheadSeen>,
    /// The zones and the order of tracks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneMap>,
    /// The times of seeks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek: Option<SeekSeen>,
}
