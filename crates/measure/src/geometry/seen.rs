// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Everything that was found out about a hard disk.

use serde::{Deserialize, Serialize};

use super::overhead::OverheadSeen;
use super::rotation::Rotation;
use super::seek::SeekSeen;
use super::zones::ZoneMap;

/// The results of all experiments on a hard disk; `None` for an experiment that was not run or
/// found nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Sectors of the smallest request that was used.
    pub block: u64,
    /// How fast it turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// The fixed cost of a read, without seek and rotational delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<OverheadSeen>,
    /// The positions of its zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneMap>,
    /// The times of seeks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek: Option<SeekSeen>,
}
