// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The home of a sector: its position, and its neighbours on the track.

use super::angles::TrackAngles;
use super::position::Position;

/// The position of a sector, and the sectors on the same track.
#[derive(Debug, Clone, Copy)]
pub(super) struct Home {
    /// The sector's position.
    pub(super) position: Position,
    /// The angles of its track.
    pub(super) angles: TrackAngles,
    /// The first data sector of the track.
    pub(super) begin: u64,
    /// The data sector after the track's last.
    pub(super) end: u64,
    /// Whether no slot between `begin` and `end` is skipped.
    pub(super) is_whole: bool,
}
