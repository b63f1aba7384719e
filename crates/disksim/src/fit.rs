// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The last step: what was read must make a drive.
//!
//! What files get slightly wrong is mended, and said: a disk that announces fewer cylinders
//! or more sectors than its layout has, and a curve that would fall to nothing beyond its
//! last point.

use std::path::Path;

use tidegate_model::mechanics::{Mechanics, MechanicsError, Seek};

use super::error::ImportError;
use super::report::Report;
use tidegate_drive::mechanical::{Layout, SeekCurve};

/// The mechanics as a drive can be made of them; `path` is the file of the disk.
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

/// Beyond its last point a curve goes on as before it, but never down to nothing.
fn fit_seek(mechanics: &mut Mechanics, report: &mut Report) -> Result<(), MechanicsError> {
    let cylinders = mechanics.cylinders;
    let Err(error) = SeekCurve::new(&mechanics.seek, cylinders) else { return Ok(()) };
    let Seek::Points(points) = &mut mechanics.seek else { return Err(error) };
    let last = points.last().filter(|last| last.0 + 1 < cylinders);
    let Some(&(_, time_ns)) = last else { return Err(error) };
    points.push((cylinders - 1, time_ns));
    SeekCurve::new(&mechanics.seek, cylinders)?;
    report.note("the seek curve falls at its end: beyond its last point it was taken as level");
    Ok(())
}

/// A disk has the cylinders of its layout at least, and its sectors at most.
fn fit_layout(mechanics: &mut Mechanics, report: &mut Report) -> Result<(), MechanicsError> {
    let held = Layout::held(mechanics)?;
    let (cylinders, sectors) = (mechanics.cylinders, mechanics.sectors);
    if held.cylinders > cylinders {
        report.note(format!(
            "the disk announces {cylinders} cylinders, its layout has {}: these were taken",
            held.cylinders
        ));
        mechanics.cylinders = held.cylinders;
    }
    if held.sectors < sectors {
        report.note(format!(
            "the disk announces {sectors} sectors, its layout holds {}: these were taken",
            held.sectors
        ));
        mechanics.sectors = held.sectors;
    }
    Layout::new(mechanics).map(|_| ())
}
