// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The last step: adjusts the imported figures until they make a drive.
//!
//! It corrects and reports faults of files: a disk that announces fewer cylinders, more sectors, or
//! far fewer sectors than its layout has, and a curve that would fall to 0 beyond its last point.

use std::path::Path;

use tidegate_model::mechanics::{Mechanics, MechanicsError, Seek};

use super::error::ImportError;
use super::report::Report;
use tidegate_drive::mechanical::{Layout, SeekCurve};

/// The largest share by which a layout can hold more sectors than the disk announces. With a larger
/// share the announced number is wrong, because no disk has such a large reserve.
const RESERVE_PERCENT_MAX: u64 = 5;

/// Returns the mechanics, adjusted so that a drive can be made of them; `path` is the disk's file.
pub(crate) fn fitted(
    mut mechanics: Mechanics,
    path: &Path,
    report: &mut Report,
) -> Result<Mechanics, ImportError> {
    let impossible = |error| ImportError::Impossible { path: path.to_owned(), error };
    mechanics.check().map_err(impossible)?;
    fit_layout(&mut mechanics, report).map_err(impossible)?;
    fit_seek(&mut mechanics, report).map_err(impossible)?;
    Ok(mechanics)
}

/// Adds a last point if the curve, continued beyond its last point, would fall to 0.
fn fit_seek(mechanics: &mut Mechanics, report: &mut Report) -> Result<(), MechanicsError> {
    let cylinders = mechanics.cylinders;
    let Err(error) = SeekCurve::new(&mechanics.seek, cylinders) else { return Ok(()) };
    let Seek::Points(points) = &mut mechanics.seek else { return Err(error) };
    let last = points.last().filter(|last| last.0 + 1 < cylinders);
    let Some(&(_, time_ns)) = last else { return Err(error) };
    points.push((cylinders - 1, time_ns));
    SeekCurve::new(&mechanics.seek, cylinders)?;
    report
        .note("the seek curve falls at its end, so it is taken as constant beyond its last point");
    Ok(())
}

/// Adjusts a disk to at least its layout's cylinders, and to its layout's sectors if it announces
/// more, or far fewer.
fn fit_layout(mechanics: &mut Mechanics, report: &mut Report) -> Result<(), MechanicsError> {
    let held = Layout::held(mechanics)?;
    let (cylinders, sectors) = (mechanics.cylinders, mechanics.sectors);
    if held.cylinders > cylinders {
        report.note(format!(
            "the disk announces {cylinders} cylinders, but its layout has {}, which are used",
            held.cylinders
        ));
        mechanics.cylinders = held.cylinders;
    }
    let spare = held.sectors.saturating_sub(sectors);
    let is_far_less =
        u128::from(spare) * 100 > u128::from(sectors) * u128::from(RESERVE_PERCENT_MAX);
    if held.sectors < sectors || is_far_less {
        report.note(format!(
            "the disk announces {sectors} sectors, but its layout holds {}, which are used",
            held.sectors
        ));
        mechanics.sectors = held.sectors;
    }
    Layout::new(mechanics).map(|_| ())
}
