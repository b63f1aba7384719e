// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `absent_places` of a workload or serve file: families of places that no request has, so that the
//! drive's times at these places do not count.

use toml::Spanned;

use super::raw::{RawBestEffort, RawTask};
use crate::drive_file::PlaceFamily;
use crate::file_error::FileError;
use crate::task::Place;

/// Reads the families of a workload file; none of its sources may have the places of one.
pub(super) fn read(
    raw: Option<Spanned<Vec<PlaceFamily>>>,
    tasks: &[RawTask],
    loads: &[RawBestEffort],
) -> Result<Vec<PlaceFamily>, FileError> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let of_tasks = tasks.iter().map(|task| (&task.name, task.place.0));
    let of_loads = loads.iter().map(|load| (&load.name, load.place.0));
    let absent = |place: Place| match place {
        Place::Random => Some(PlaceFamily::Random),
        Place::Sequential => Some(PlaceFamily::Sequential),
        // A range may hold places of any family.
        Place::Range { .. } => None,
    };
    for (name, place) in of_tasks.chain(of_loads) {
        if let Some(family) = absent(place).filter(|family| raw.get_ref().contains(family)) {
            return Err(FileError::new(
                name.span(),
                format!("`{}` has {family} places, which absent_places rules out", name.get_ref()),
                format!("delete \"{family}\" from absent_places, or change the place"),
            ));
        }
    }
    check(raw)
}

/// Checks that some family is left.
///
/// # Errors
/// If all families are absent, with their position.
pub(crate) fn check(raw: Spanned<Vec<PlaceFamily>>) -> Result<Vec<PlaceFamily>, FileError> {
    if PlaceFamily::ALL.iter().all(|family| raw.get_ref().contains(family)) {
        return Err(FileError::new(
            raw.span(),
            "absent_places names every family, so no place is left for a request",
            "delete the families whose places may occur",
        ));
    }
    Ok(raw.into_inner())
}
