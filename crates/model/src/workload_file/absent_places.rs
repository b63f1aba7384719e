// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `absent_places` of a workload or serve file: families of places that no request has, so that the
//! drive's times at these places do not count.

use toml::Spanned;

use super::raw::{RawBestEffort, RawTask};
use crate::drive_file::PlaceFamily;
use crate::file_error::FileError;
use crate::task::Place;

/// The width, in ppm, from which a range counts as random places; a narrower range counts as a
/// cluster.
const CLUSTER_PPM: u32 = 100_000;
/// The largest width of a range that may be one track and its neighbours, in ppm.
const TRACK_PPM: u32 = 1_000;
/// The distance between the outermost places of all sources, in ppm, from which two sources can be
/// at the two ends of the drive.
const ENDS_PPM: u32 = 500_000;
/// The whole drive, in ppm.
const WHOLE_PPM: u32 = 1_000_000;

/// Families to which the places of several exports, each in its own part of the drive, can belong.
pub(crate) const OF_EXPORTS: [PlaceFamily; 3] =
    [PlaceFamily::BothEnds, PlaceFamily::Clusters, PlaceFamily::Climbed];

/// Facts about all sources that are needed to check each one.
struct All {
    has_several: bool,
    /// The distance from the lowest to the highest place of any source, in ppm.
    span_ppm: u32,
}

/// Reads the families that a workload file states as absent. No task or load of the file may use
/// places of such a family.
pub(super) fn read(
    raw: Option<Spanned<Vec<PlaceFamily>>>,
    tasks: &[RawTask],
    loads: &[RawBestEffort],
) -> Result<Vec<PlaceFamily>, FileError> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let absent = check(raw)?;
    let of_tasks = tasks.iter().map(|task| (&task.name, task.place.0));
    let of_loads = loads.iter().map(|load| (&load.name, load.place.0));
    let sources: Vec<_> = of_tasks.chain(of_loads).collect();
    let repeated = tasks.iter().filter_map(|task| task.count.as_ref());
    let repeated = repeated.chain(loads.iter().filter_map(|load| load.count.as_ref()));
    let all = All {
        has_several: sources.len() > 1 || repeated.into_iter().any(|count| *count.get_ref() > 1),
        span_ppm: span_ppm(sources.iter().map(|(_, place)| *place)),
    };
    for (name, place) in sources {
        if let Some(family) = absent.iter().find(|family| may_have(place, **family, &all)) {
            return Err(FileError::new(
                name.span(),
                format!(
                    "`{}` may have {family} places, which absent_places rules out",
                    name.get_ref()
                ),
                format!("delete \"{family}\" from absent_places, or change the place"),
            ));
        }
    }
    Ok(absent)
}

/// Returns whether a source at this place can use, or contribute to, the places of a family. Random
/// places belong to another family only by chance, which a file may rule out.
fn may_have(place: Place, family: PlaceFamily, all: &All) -> bool {
    match place {
        Place::Random => family == PlaceFamily::Random,
        Place::Sequential => match family {
            PlaceFamily::Sequential => true,
            PlaceFamily::BothEnds | PlaceFamily::Clusters | PlaceFamily::Climbed => all.has_several,
            PlaceFamily::Random | PlaceFamily::Track => false,
        },
        // One batch can contain the end of a run and the start of the next, anywhere on the disk.
        Place::Runs { .. } => match family {
            PlaceFamily::Random
            | PlaceFamily::Sequential
            | PlaceFamily::BothEnds
            | PlaceFamily::Clusters
            | PlaceFamily::Climbed => true,
            PlaceFamily::Track => false,
        },
        Place::Range { from_ppm, to_ppm } => match family {
            PlaceFamily::Random => to_ppm - from_ppm >= CLUSTER_PPM,
            PlaceFamily::BothEnds => all.span_ppm > ENDS_PPM,
            PlaceFamily::Clusters => to_ppm - from_ppm < CLUSTER_PPM,
            PlaceFamily::Track => to_ppm - from_ppm <= TRACK_PPM,
            PlaceFamily::Sequential => false,
            PlaceFamily::Climbed => true,
        },
    }
}

fn span_ppm(places: impl Iterator<Item = Place>) -> u32 {
    let end_of = |place: Place| match place {
        Place::Random | Place::Sequential | Place::Runs { .. } => (0, WHOLE_PPM),
        Place::Range { from_ppm, to_ppm } => (from_ppm, to_ppm),
    };
    let (low, high) = places
        .map(end_of)
        .fold((WHOLE_PPM, 0), |(low, high), (from, to)| (low.min(from), high.max(to)));
    high.saturating_sub(low)
}

/// Checks the families of a serve file with this number of exports.
///
/// # Errors
/// If all families are absent, or a family that several exports may have; with their position.
pub(crate) fn check_exports(
    raw: Spanned<Vec<PlaceFamily>>,
    exports: usize,
) -> Result<Vec<PlaceFamily>, FileError> {
    let span = raw.span();
    let absent = check(raw)?;
    match OF_EXPORTS.into_iter().find(|family| exports > 1 && absent.contains(family)) {
        None => Ok(absent),
        Some(family) => Err(FileError::new(
            span,
            format!(
                "{exports} exports may have {family} places, which absent_places rules out: each lies \
                 at its own place"
            ),
            format!("delete \"{family}\" from absent_places"),
        )),
    }
}

/// Checks that not all families are absent.
///
/// # Errors
/// If all families are absent, with their position.
fn check(raw: Spanned<Vec<PlaceFamily>>) -> Result<Vec<PlaceFamily>, FileError> {
    if PlaceFamily::ALL.iter().all(|family| raw.get_ref().contains(family)) {
        return Err(FileError::new(
            raw.span(),
            "absent_places names every family, so no place is left for a request",
            "delete the families whose places may occur",
        ));
    }
    Ok(raw.into_inner())
}
