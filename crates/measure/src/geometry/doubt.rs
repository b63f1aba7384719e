// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds reasons to give no mechanics although every experiment had a result: if the evidence is
//! ambiguous, a disk made from it may behave differently from the measured one.

use std::fmt;

use super::held_out::Tally;
use super::seek::{SeekPoint, SeekSeen};
use super::seen::Geometry;

/// A longer seek can be faster than a shorter one by up to this percentage of the shorter one's
/// time.
const FASTER_PERCENT: u64 = 5;

/// The reason why no disk is made from the results.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// No rule explains the skews and the lengths of tracks.
    Tracks,
    /// A longer seek takes less time, so the tracks are not in the order that was found.
    Seeks {
        /// The shorter seek.
        near: SeekPoint,
        /// The longer seek.
        far: SeekPoint,
    },
    /// Reads that were held out for a check contradict the layout or the seeks.
    HeldOut(Tally),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tracks => write!(
                f,
                "no rule explains where tracks near the outer edge begin, so heads and cylinders \
                 cannot be told apart"
            ),
            Self::Seeks { near, far } => write!(
                f,
                "a seek over {} cylinders takes {} us and one over {} takes {} us, so tracks are \
                 not in the order that their skews show",
                near.cylinders,
                near.ns / 1_000,
                far.cylinders,
                far.ns / 1_000
            ),
            Self::HeldOut(tally) => {
                let Tally { checked, wrong, unclear, example } = tally;
                write!(
                    f,
                    "{wrong} of {checked} times predicted from the geometry were wrong when \
                     measured, and {unclear} others were unclear"
                )?;
                let Some(it) = example else { return Ok(()) };
                let head = if it.is_other_head { "another" } else { "the same" };
                write!(
                    f,
                    "; for example, {} us from sector {} to sector {}, over {} cylinders under \
                     {head} head",
                    it.ns / 1_000,
                    it.from,
                    it.to,
                    it.cylinders
                )
            }
        }
    }
}

/// Returns why the geometry is ambiguous; `None` if it is not, or if zones or seeks are missing.
pub fn doubt(geometry: &Geometry) -> Option<Doubt> {
    let (map, seek) = (geometry.zones.as_ref()?, geometry.seek.as_ref()?);
    if map.tracks.is_none() {
        return Some(Doubt::Tracks);
    }
    let block_ns = geometry.overhead.as_ref().map_or(0, |it| it.block_ns);
    if let Some((near, far)) = fall(seek, 2 * block_ns) {
        return Some(Doubt::Seeks { near, far });
    }
    let tallies = seek.held_out.iter().flat_map(|found| [&found.near, &found.far]);
    tallies.filter(|tally| tally.is_refuted()).cloned().map(Doubt::HeldOut).next()
}

/// Returns two seeks where the longer one takes clearly less time; `None` if there are none.
fn fall(seek: &SeekSeen, resolution_ns: u64) -> Option<(SeekPoint, SeekPoint)> {
    let mut longest: Option<&SeekPoint> = None;
    for point in &seek.points {
        let before = longest.filter(|before| {
            let margin = before.ns * FASTER_PERCENT / 100 + before.unsure_ns + point.unsure_ns;
            before.ns > point.ns + margin + resolution_ns
        });
        if let Some(before) = before {
            return Some((before.clone(), point.clone()));
        }
        longest = longest.filter(|before| before.ns >= point.ns).or(Some(point));
    }
    None
}
