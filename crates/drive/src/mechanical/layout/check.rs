// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks of a layout's counts.

use tidegate_model::mechanics::MechanicsError;

use super::angles::SECTORS_PER_TRACK_MAX;
use crate::mechanical::wrong::wrong;

/// Refuses a disk with no surfaces or cylinders, or with too many.
pub(super) fn check_count(place: &str, value: u32, max: u32) -> Result<(), MechanicsError> {
    if (1..=max).contains(&value) {
        return Ok(());
    }
    let message = format!("{value} is not possible for a disk");
    Err(wrong(place, message, format!("write a number from 1 to {max}")))
}

/// Refuses a disk with more sectors than its layout holds, or with none.
pub(super) fn check_sectors(asked: u64, held: u64) -> Result<(), MechanicsError> {
    if asked == 0 || asked > held {
        return Err(wrong(
            "sectors",
            format!("the disk has {asked} sectors, but the layout holds {held}"),
            if held == 0 {
                "check zones, spares and slips: they leave no sectors".to_owned()
            } else {
                format!("write a number from 1 to {held}")
            },
        ));
    }
    Ok(())
}

/// Refuses a track with no sectors or with more than the angles support.
pub(super) fn check_sectors_per_track(place: &str, value: u64) -> Result<u32, MechanicsError> {
    let max = SECTORS_PER_TRACK_MAX;
    match u32::try_from(value) {
        Ok(sectors) if (1..=max).contains(&sectors) => Ok(sectors),
        _ => Err(wrong(
            place,
            format!("a track cannot have {value} sectors"),
            format!("write a number from 1 to {max}"),
        )),
    }
}
