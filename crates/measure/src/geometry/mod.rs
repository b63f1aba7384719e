// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Infers the parts of a hard disk from the times of reads: how fast it turns, how long a command
//! takes, where its zones are, how tracks follow each other, and how long seeks take. A
//! `[mechanics]` section is made from these figures.
//!
//! All experiments use one fact: a read completes when its last sector has passed the heads, so the
//! completion shows the angle of that sector. Once the time of a turn is known to parts per
//! million, each read of a block that is not in the drive's memory measures an angle.
//!
//! ```text
//! rotation -> overhead
//!          -> zones -> seek-curve -> mechanics
//! ```
//!
//! Nothing is written. One read is outstanding at a time, so the drive's queue plays no part. If
//! nothing turns, the result is [`NoRotation`], and the other experiments are not run.

mod access;
mod bare;
mod cross_check;
mod density;
mod doubt;
mod fit;
mod held_out;
mod home;
mod line;
mod lost;
mod number;
mod order;
mod overhead;
mod pattern;
mod platter;
mod probing;
mod queue;
mod rotation;
mod samples;
mod seek;
mod seen;
mod spares;
#[cfg(test)]
mod tests;
mod track_starts;
mod tracks;
mod transfer;
mod walk;
mod zone_starts;
mod zones;

use std::sync::atomic::AtomicBool;

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_drive::Drive;
use tidegate_model::Bytes;

use crate::subject::{SimulatedSubject, SubjectError, TrialResult};
pub use cross_check::{Apart, CheckedFigure, cross_check};
pub use doubt::{Doubt, doubt};
pub use fit::mechanics;
pub use held_out::{Contradicted, HeldOut, Tally};
pub use lost::NotSeen;
pub use order::TracksSeen;
pub use overhead::OverheadSeen;
pub use queue::{QueueSeen, queues};
pub use rotation::{NoRotation, Rotation};
pub use seek::{SeekPoint, SeekSeen};
pub use seen::Geometry;
pub use zones::{ZoneMap, ZoneSeen};

pub(crate) use overhead::overhead;
pub(crate) use probing::Probing;
pub(crate) use rotation::rotation;
pub(crate) use seek::seek_curve;
pub(crate) use zones::zones;

/// The number of reads of the experiment `rotation` on a quiet host.
pub(crate) const ROTATION_READS: u64 = rotation::REQUESTS.usual;
/// The number of reads of the experiment `overhead` on a quiet host.
pub(crate) const OVERHEAD_READS: u64 = overhead::REQUESTS.usual;
/// The number of reads of the experiment `zones` on a quiet host.
pub(crate) const ZONES_READS: u64 = zones::REQUESTS.usual;
/// The number of reads of the experiment `seek-curve` on a quiet host.
pub(crate) const SEEK_CURVE_READS: u64 = seek::REQUESTS.usual;

/// The maximum number of requests of all experiments together.
pub const REQUESTS_MAX: u64 =
    rotation::REQUESTS.most + overhead::REQUESTS.most + zones::REQUESTS.most + seek::REQUESTS.most;

/// Examines a simulated disk of `capacity` in virtual time, with requests of `block`.
///
/// It calls `progress` after each request with the number of requests that the current experiment
/// has sent and the approximate number that it will send. The result lacks figures that an
/// experiment could not determine, and all figures of experiments that had not begun before a stop.
///
/// # Errors
/// The inner error is the reason why no rotation was found; the outer one is a failure of the
/// drive.
///
/// # Panics
/// If `block` is not a multiple of a sector.
///
/// # Complexity
/// At most [`REQUESTS_MAX`] requests, on a quiet host about a third of that.
///
/// # Example
/// ```
/// use std::sync::atomic::AtomicBool;
/// use tidegate_measure::geometry;
/// use tidegate_model::{Bytes, DriveKind};
///
/// let file = tidegate_drive::builtin::load("seagate-36es2").unwrap();
/// let capacity = Bytes::new(file.mechanics.as_ref().unwrap().sectors * 512);
/// let mut disk = tidegate_drive::from_parts(DriveKind::Mechanical, &file, 1).unwrap();
/// let blocks = (capacity, Bytes::new(512));
/// let found = geometry::of_drive(&mut *disk, blocks, 42, |_, _| (), &AtomicBool::new(false));
/// let found = found.unwrap().expect("it turns");
/// assert_eq!(found.rotation.unwrap().rpm(), 7_200);
/// assert_eq!(found.zones.unwrap().zone[0].sectors_per_track, 780);
/// ```
pub fn of_drive(
    drive: &mut dyn Drive,
    (capacity, block): (Bytes, Bytes),
    seed: u64,
    mut progress: impl FnMut(u64, u64),
    cancelled: &AtomicBool,
) -> Result<Result<Geometry, NoRotation>, SubjectError> {
    let mut subject = SimulatedSubject::new(drive);
    let random = Pcg64::seed_from_u64(seed);
    let sizes = (capacity, block);
    let mut told = |done, limit, _| progress(done, limit);
    let mut probing = Probing::new(&mut subject, sizes, random, cancelled, &mut told);
    all(&mut probing)
}

/// Runs all experiments, one after the other.
fn all(probing: &mut Probing<'_>) -> TrialResult<Result<Geometry, NoRotation>> {
    let turn = match rotation(probing)? {
        Ok(turn) => turn,
        Err(none) => return Ok(Err(none)),
    };
    let overhead = overhead(probing, &turn)?.ok();
    let zones = zones(probing, &turn)?.ok();
    let seek = match &zones {
        Some(map) => seek_curve(probing, &turn, map, overhead.as_ref())?.ok(),
        None => None,
    };
    Ok(Ok(Geometry { block: probing.block(), rotation: Some(turn), overhead, zones, seek }))
}
