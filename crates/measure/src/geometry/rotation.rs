// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `rotation`: finds how long a turn takes, or that nothing rotates.
//!
//! A disk that has just read a block reaches the preceding block a little less than a turn later.
//! Two such distances at one place give the time of a turn and of a sector. The same places are
//! then visited again after longer and longer times. On a disk, the block passes at whole multiples
//! of the turn, so each doubling of the time halves the uncertainty. Reads elsewhere fill the time
//! between visits. They also distinguish a disk from a device whose reads all take equally long.
//!
//! # Source
//! Worthington, Ganger, Patt and Wilkes, On-line extraction of SCSI disk drive parameters,
//! SIGMETRICS 1995, take the turn from one sector that is read again and again. Our own additions
//! are reading backwards, so that memory does not answer, and both tests.

use serde::{Deserialize, Serialize};
use tidegate_model::Time;

use super::number::{count, float, median, whole};
use super::platter::{Platter, concentration};
use super::probing::{Bounds, Probing, Seen, Stop};
use crate::subject::TrialResult;

/// The number of requests of the experiment.
pub(super) const REQUESTS: Bounds = Bounds { usual: 767, most: 1_500 };

/// The number of places whose neighbourhood is read backwards.
const PLACES: usize = 24;
/// The number of these places that are visited repeatedly.
const VISITED: usize = 8;
/// The number of reads elsewhere before each round of visits. A round visits each of the `VISITED`
/// places once.
const BETWEEN: [u32; 11] = [0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256];
/// The distance in sectors from one read back to the next: a short and a long step.
const STEPS: [u64; 2] = [4, 32];
/// The number of times that both steps are made in each place.
const PAIRS: usize = 3;

/// The plausible range of a disk's turn, in nanoseconds.
const TURN_NS: std::ops::Range<f64> = 2e6..30e6;
/// The minimum agreement of the visits. Without rotation, the 88 visits agree this closely with a
/// probability below 10^-18.
const AGREE_MIN: f64 = 0.7;
/// The maximum agreement of reads at random places.
const ANYWHERE_MAX: f64 = 0.5;

/// A measured turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// How long it takes, in picoseconds.
    pub turn_ps: u64,
    /// The uncertainty of the duration, from the disagreement of the places, in parts per billion.
    pub unsure_ppb: u64,
    /// The median deviation of a completion from its expected time.
    pub noise_ns: u64,
    /// How closely the visits to a place agree on its angle, in millionths: near 0 if nothing
    /// rotates.
    pub agreement_ppm: u64,
    /// How closely reads of random places agree on an angle, in millionths: near 0 on a disk.
    pub anywhere_ppm: u64,
    /// The number of reads that the measurement took.
    pub requests: u64,
}

impl Rotation {
    /// Returns the time of a turn in nanoseconds.
    pub(super) fn turn(&self) -> f64 {
        float(self.turn_ps) / 1e3
    }

    /// Returns the number of turns per minute, rounded to the nearest.
    pub fn rpm(&self) -> u64 {
        whole(60e12 / float(self.turn_ps.max(1)))
    }
}

/// The reason why no rotation was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoRotation {
    /// The caller stopped the experiment, or it needed more requests than it may send.
    #[error("stopped before anything was seen")]
    Cancelled,
    /// The target has too few sectors.
    #[error("a target of {sectors} sectors is too small to show a rotation")]
    Small {
        /// The number of sectors of the target.
        sectors: u64,
    },
    /// Reads of adjacent blocks, from back to front, are too quick for a disk, which needs a turn
    /// for each.
    #[error(
        "nothing turns, or memory answers: the block before one just read came back after \
         {gap_ns} ns, a disk would take a turn; if it is a disk, switch off what it keeps of \
         reads (hdparm -A 0, or RCD in the caching page of SCSI) and measure again"
    )]
    Fast {
        /// The median time between two completions.
        gap_ns: u64,
    },
    /// Reads of one place do not complete at multiples of any turn.
    #[error(
        "nothing turns: completions of one place agree on an angle only to {agreement_ppm} ppm"
    )]
    NotPeriodic {
        /// How closely the angles agree.
        agreement_ppm: u64,
    },
    /// Completion times do not depend on the place.
    #[error(
        "nothing turns: reads of random places complete at one angle, to {anywhere_ppm} ppm, \
         as if every read took equally long"
    )]
    NotOfPlace {
        /// How closely the angles agree.
        anywhere_ppm: u64,
    },
}

/// A place from which blocks were read backwards.
#[derive(Debug, Clone)]
struct Place {
    /// The block of the last read backwards.
    at: u64,
    /// The instant at which that read completed.
    done: Time,
    /// The times of a turn and of a sector, in nanoseconds, as derived from the steps.
    turn: f64,
    sector: f64,
    /// The median time of the short steps, in nanoseconds.
    gap: f64,
    /// Later visits: (time since `done` in nanoseconds, sectors before `at`).
    visits: Vec<(f64, u64)>,
}

/// Measures how long a turn takes.
///
/// # Errors
/// If the target fails.
pub(crate) fn rotation(probing: &mut Probing<'_>) -> TrialResult<Result<Rotation, NoRotation>> {
    probing.begin(REQUESTS);
    if probing.sectors() < 4 * room(probing) {
        return Ok(Err(NoRotation::Small { sectors: probing.sectors() }));
    }
    match seen(probing) {
        Ok(found) => Ok(found),
        Err(Stop::Subject(error)) => Err(error),
        Err(Stop::Cancelled | Stop::Spent) => Ok(Err(NoRotation::Cancelled)),
    }
}

/// Returns the number of sectors that a place needs in front of it.
fn room(probing: &Probing<'_>) -> u64 {
    let steps: u64 = STEPS.iter().map(|&step| probing.at_least(step)).sum();
    let visits = u64::try_from(BETWEEN.len()).expect("a few");
    3 * steps + (visits + 2) * probing.block()
}

fn seen(probing: &mut Probing<'_>) -> Seen<Result<Rotation, NoRotation>> {
    let mut places = (0..PLACES).map(|_| backwards(probing)).collect::<Seen<Vec<_>>>()?;
    let gap = middle(places.iter().map(|place| place.gap));
    if gap < TURN_NS.start {
        return Ok(Err(NoRotation::Fast { gap_ns: whole(gap) }));
    }
    let first = middle(places.iter().map(|place| place.turn));
    if !TURN_NS.contains(&first) {
        return Ok(Err(NoRotation::NotPeriodic { agreement_ppm: 0 }));
    }
    let distance = |place: &Place| (place.turn - first).abs();
    places.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    places.truncate(VISITED);
    let mut anywhere = Vec::new();
    let mut estimates = vec![first; VISITED];
    for (round, between) in BETWEEN.into_iter().enumerate() {
        for _ in 0..between {
            let start = probing.anywhere();
            anywhere.push(probing.read(start)?.done);
        }
        visit(probing, &mut places)?;
        // A time of only one turn would show no more than the steps did.
        if round > 0 {
            let turn = middle(estimates.iter().copied());
            estimates = places.iter().map(|place| refined(place, turn)).collect();
        }
    }
    Ok(verdict(&places, &estimates, &anywhere, probing.spent()))
}

fn middle(numbers: impl Iterator<Item = f64>) -> f64 {
    median(numbers.collect()).expect("some places")
}

/// Reads a random block, and then blocks backwards from it.
fn backwards(probing: &mut Probing<'_>) -> Seen<Place> {
    let room = room(probing);
    let mut at = probing.block_within(room, probing.sectors());
    let mut done = probing.read(at)?.done;
    let mut gaps = [const { Vec::new() }; 2];
    let steps = STEPS.map(|step| probing.at_least(step));
    for _ in 0..PAIRS {
        for (step, gaps) in steps.into_iter().zip(&mut gaps) {
            at -= step;
            let next = probing.read(at)?.done;
            gaps.push(float(next.since(done).ns()));
            done = next;
        }
    }
    let [short, long] = gaps.map(|gaps| median(gaps).expect("some pairs"));
    let sector = (short - long) / float(steps[1] - steps[0]);
    let turn = short + sector * float(steps[0]);
    Ok(Place { at, done, turn, sector, gap: short, visits: Vec::new() })
}

/// At each place, reads the block before the one that was read last.
fn visit(probing: &mut Probing<'_>, places: &mut [Place]) -> Seen<()> {
    let block = probing.block();
    for place in places {
        let back = place.visits.last().map_or(0, |&(_, back)| back) + block;
        let done = probing.read(place.at - back)?.done;
        place.visits.push((float(done.since(place.done).ns()), back));
    }
    Ok(())
}

/// Returns the time of a turn that the last visit shows, given that it is about `turn`.
fn refined(place: &Place, turn: f64) -> f64 {
    let &(time, back) = place.visits.last().expect("it was visited");
    let whole_turns = time + float(back) * place.sector;
    whole_turns / (whole_turns / turn).round().max(1.0)
}

fn verdict(
    places: &[Place],
    estimates: &[f64],
    anywhere: &[Time],
    requests: u64,
) -> Result<Rotation, NoRotation> {
    let turn = middle(estimates.iter().copied());
    let lateness: Vec<f64> = places.iter().flat_map(|place| lateness(place, turn)).collect();
    let agreement = concentration(&lateness, turn);
    let platter = Platter::new(turn);
    let angles: Vec<f64> = anywhere.iter().map(|&done| platter.angle(done)).collect();
    let alike = concentration(&angles, turn);
    let [agreement_ppm, anywhere_ppm] = [agreement, alike].map(|share| whole(share * 1e6));
    if agreement < AGREE_MIN {
        return Err(NoRotation::NotPeriodic { agreement_ppm });
    }
    if alike > ANYWHERE_MAX {
        return Err(NoRotation::NotOfPlace { anywhere_ppm });
    }
    let apart = middle(estimates.iter().map(|each| (each - turn).abs()));
    Ok(Rotation {
        turn_ps: whole(turn * 1e3),
        unsure_ppb: whole(apart / turn * 1e9 / count(estimates).sqrt()),
        noise_ns: whole(middle(lateness.iter().map(|late| late.abs()))),
        agreement_ppm,
        anywhere_ppm,
        requests,
    })
}

/// Returns the deviation of each visit of a place from the median of its visits.
fn lateness(place: &Place, turn: f64) -> Vec<f64> {
    let platter = Platter::new(turn);
    let angles = place.visits.iter().map(|&(time, back)| time + float(back) * place.sector);
    let angles: Vec<f64> = angles.map(|angle| angle.rem_euclid(turn)).collect();
    let middle = platter.middle(&angles).expect("it was visited");
    angles.iter().map(|&angle| platter.beyond(angle, middle)).collect()
}
