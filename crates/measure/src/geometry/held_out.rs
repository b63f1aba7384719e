// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks the layout and the seeks that were found against measurements that were not used to find
//! them.
//!
//! Reads go between places all over the disk, and from some of these places to the tracks that
//! follow. The layout says how many cylinders are between two tracks and whether the head changes;
//! the seek curve predicts how long the movement takes. Two reads check each prediction: one of a
//! block that passes slightly later than predicted and must be reached in time, one of a block that
//! passes slightly sooner and must be missed.
//!
//! If the drive has a property that the layout does not describe, some of these times differ,
//! whatever the property.

use serde::{Deserialize, Serialize};
use tidegate_drive::mechanical::{Position, SeekCurve};
use tidegate_model::Lba;

use super::home::{Home, place};
use super::number::{float, whole};
use super::probing::Seen;
use super::seek::SeekSeen;
use super::tracks::{Survey, Track};

/// The number of places.
const PLACES: usize = 12;
/// The number of places from which reads go to the tracks that follow.
const NEAR_PLACES: usize = 4;
/// The number of tracks that follow such a place and are read from it.
const NEAR: usize = 24;
/// The movement's share of the accepted error of a predicted time. The accepted error is the sum of
/// this share of the movement, the time of `BLOCKS` blocks, and `NOISE` times the noise.
const OFF: f64 = 0.01;
/// The number of blocks whose time is part of the accepted error.
const BLOCKS: f64 = 2.0;
/// The multiple of the noise that is part of the accepted error.
const NOISE: f64 = 8.0;
/// The number of attempts at a read whose completion is implausible or contradicts the prediction.
const TRIES: u32 = 4;
/// The maximum number of wrong predictions, counted separately for tracks that follow and for
/// distant places. It is above 0 because a drive may have remapped a track.
const WRONG_MAX: u32 = 1;
/// The divisor of the number of predictions that gives the largest number of unclear ones.
const UNCLEAR: u32 = 8;

/// The results of predicting times and then measuring them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Between a track and one of the tracks that follow it.
    pub near: Tally,
    /// Between places all over the disk.
    pub far: Tally,
}

/// A count of predictions by result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The number of predictions that reads confirmed or contradicted.
    pub checked: u32,
    /// The number of predictions that reads contradicted.
    pub wrong: u32,
    /// The number of predictions that reads neither confirmed nor contradicted.
    pub unclear: u32,
    /// The last contradicted prediction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Contradicted>,
}

/// A predicted time that reads contradicted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradicted {
    /// The first sector of the track from which the heads came.
    pub from: u64,
    /// The first sector of the track to which they went.
    pub to: u64,
    /// The number of cylinders between the two tracks.
    pub cylinders: u32,
    /// Whether the head changed.
    pub is_other_head: bool,
    /// The predicted time of the movement.
    pub ns: u64,
}

impl Tally {
    /// Returns whether too many predictions are wrong or unclear.
    pub(super) fn is_refuted(&self) -> bool {
        self.wrong > WRONG_MAX || self.unclear > (self.checked + self.unclear) / UNCLEAR
    }
}

/// A place on the disk: a row of tracks that follow each other.
struct Place {
    tracks: Vec<Position>,
    /// The number of sectors by which the tracks begin after their place in the layout.
    shift: i64,
}

/// The figures from which times are predicted.
struct Prediction {
    curve: SeekCurve,
    switch: f64,
    least: f64,
    /// The time in which a block passes on the tracks where `least` was measured.
    block: f64,
    noise: f64,
}

/// Checks the layout and the seeks; `None` if the seeks give no curve.
pub(super) fn held_out(
    survey: &mut Survey<'_, '_>,
    home: &Home,
    seek: &SeekSeen,
    noise_ns: u64,
) -> Seen<Option<HeldOut>> {
    let Some(prediction) = Prediction::new(survey, home, seek, noise_ns) else { return Ok(None) };
    let mut found = HeldOut::default();
    let places = places(survey, home)?;
    // At a place whose tracks do not fit the layout, reads confirm nothing.
    found.far.unclear = u32::try_from((PLACES - places.len()) * PLACES).expect("few");
    for index in 1..=NEAR {
        for place in places.iter().take(NEAR_PLACES) {
            let Some(&to) = place.tracks.get(index) else { continue };
            let ends = [(place, place.tracks[0]), (place, to)];
            prediction.check(survey, home, ends, &mut found.near)?;
        }
    }
    for (index, from) in places.iter().enumerate() {
        for (other, to) in places.iter().enumerate().filter(|&(other, _)| other != index) {
            let track = |place: &Place, number: usize| place.tracks[number % place.tracks.len()];
            let ends = [(from, track(from, other)), (to, track(to, index))];
            prediction.check(survey, home, ends, &mut found.far)?;
        }
    }
    Ok(Some(found))
}

/// Returns random places: the first near the outer edge, some anywhere, and the others in parts of
/// the disk that begin at the outer edge, each part twice as large as the one before.
fn places(survey: &mut Survey<'_, '_>, home: &Home) -> Seen<Vec<Place>> {
    let sectors = survey.probing.sectors();
    let mut places = Vec::new();
    for index in 0..PLACES {
        let start = match index {
            0 => survey.probing.block_within(0, sectors / 64),
            _ if index < NEAR_PLACES => survey.probing.anywhere(),
            _ => survey.probing.block_within(0, sectors >> (PLACES - 1 - index)),
        };
        places.extend(place_at(survey, home, start)?);
    }
    Ok(places)
}

/// Returns the tracks that follow a sector; `None` if they were not found, or the disk ends before
/// them.
fn place_at(survey: &mut Survey<'_, '_>, home: &Home, start: u64) -> Seen<Option<Place>> {
    let mut tracks = Vec::new();
    let mut next = start;
    while tracks.len() <= NEAR {
        if next >= home.layout.sectors() {
            return Ok(None);
        }
        let extent = home.layout.extent(Lba::new(next), 1);
        tracks.push(place(extent.cylinder, extent.head));
        next = extent.track_end.get();
    }
    let Some(begin) = home.begin(tracks[0]) else { return Ok(None) };
    Ok(home.shift(survey, begin)?.map(|shift| Place { tracks, shift }))
}

impl Prediction {
    fn new(survey: &Survey<'_, '_>, home: &Home, seek: &SeekSeen, noise_ns: u64) -> Option<Self> {
        let last = home.layout.position(Lba::new(home.layout.sectors() - 1)).cylinder;
        let outermost = home.layout.extent(Lba::new(0), 1).sectors_per_track;
        let block = float(survey.probing.block());
        Some(Self {
            curve: SeekCurve::new(&seek.curve(), last + 1).ok()?,
            switch: seek.head_switch_ns.map_or(0.0, float),
            least: float(seek.least_ns),
            block: survey.platter.turn / float(u64::from(outermost)) * block,
            noise: float(noise_ns),
        })
    }

    /// Measures the time between two tracks and compares it with its prediction.
    fn check(
        &self,
        survey: &mut Survey<'_, '_>,
        home: &Home,
        [from, to]: [(&Place, Position); 2],
        tally: &mut Tally,
    ) -> Seen<()> {
        let cylinders = from.1.cylinder.abs_diff(to.1.cylinder);
        let is_other_head = from.1.head != to.1.head;
        let switch = if is_other_head { self.switch } else { 0.0 };
        let moving = float(self.curve.time(cylinders).ns()).max(switch);
        let [(from_place, from), (to_place, to)] = [from, to];
        let from = home.track(survey, from, from_place.shift)?;
        let to = home.track(survey, to, to_place.shift)?;
        let (Some(from), Some(to)) = (from, to) else {
            tally.unclear += 1;
            return Ok(());
        };
        match self.is_so(survey, [&from, &to], moving)? {
            None => tally.unclear += 1,
            Some(true) => tally.checked += 1,
            Some(false) => {
                (tally.checked, tally.wrong) = (tally.checked + 1, tally.wrong + 1);
                let (from, to, ns) = (from.begin, to.begin, whole(moving));
                tally.example = Some(Contradicted { from, to, cylinders, is_other_head, ns });
            }
        }
        Ok(())
    }

    /// Returns whether a movement takes as long as predicted; `None` if the reads do not show it.
    fn is_so(
        &self,
        survey: &mut Survey<'_, '_>,
        [from, to]: [&Track; 2],
        moving: f64,
    ) -> Seen<Option<bool>> {
        let turn = survey.platter.turn;
        let block = to.per_sector(turn) * float(survey.probing.block());
        let expected = self.least + moving + block - self.block;
        let off = OFF * moving + BLOCKS * block + NOISE * self.noise;
        let mut is_clear = false;
        for wanted in [expected + off + block, expected - off - block] {
            let mut contradicted = 0;
            for _ in 0..TRIES {
                if !survey.start_on(from)? {
                    continue;
                }
                let Some(time) = survey.timed(to, wanted)? else { continue };
                let predicted = time + ((expected - time) / turn).ceil() * turn;
                let is_near = predicted - expected < off || expected - (predicted - turn) < off;
                if is_near {
                    continue;
                }
                is_clear = true;
                if (time - predicted).abs() < turn / 2.0 {
                    contradicted = 0;
                    break;
                }
                contradicted += 1;
                // The drive's memory may have answered.
                survey.forget()?;
            }
            if contradicted > 2 {
                return Ok(Some(false));
            }
        }
        Ok(is_clear.then_some(true))
    }
}
