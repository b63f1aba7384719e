// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a `[[best_effort]]` entry of a workload file.

use std::collections::BTreeSet;

use toml::Spanned;

use super::Placed;
use super::raw::{RawBestEffort, check_size};
use crate::entry::claim;
use crate::file_error::FileError;
use crate::task::{BestEffort, Intensity};
use crate::units::Duration;

/// The maximum number of requests that one closed loop may keep in flight: a thousand times what
/// drives accept.
const OUTSTANDING_MAX: u32 = 1 << 20;

/// The shortest time between two requests of an open loop.
const GAP_MIN: Duration = Duration::from_us(1);

/// Reads one entry.
pub(super) fn read(
    raw: RawBestEffort,
    names: &mut BTreeSet<String>,
) -> Result<Placed<BestEffort>, FileError> {
    claim(raw.name.get_ref(), &raw.name, names)?;
    check_size(&raw.size)?;
    let intensity = read_intensity(&raw)?;
    let op_span = raw.op_span();
    Ok(Placed {
        source: BestEffort {
            name: raw.name.into_inner(),
            intensity,
            size: *raw.size.get_ref(),
            op: *raw.op.get_ref(),
            place: raw.place.0,
        },
        size_span: raw.size.span(),
        op_span,
    })
}

/// Reads how a load releases requests: a closed loop, an open loop, or a closed loop with a rate.
fn read_intensity(raw: &RawBestEffort) -> Result<Intensity, FileError> {
    let outstanding = raw.outstanding.as_ref().map(read_load_outstanding).transpose()?;
    if let Some(rate) = &raw.rate
        && rate.get_ref().transfer_time_floor(*raw.size.get_ref()) < GAP_MIN
    {
        return Err(FileError::new(
            rate.span(),
            "the load releases more than a million requests each second",
            "write a lower rate, or a larger size",
        ));
    }
    match (outstanding, raw.rate.as_ref().map(|rate| *rate.get_ref())) {
        (Some(outstanding), None) => Ok(Intensity::Outstanding(outstanding)),
        (None, Some(rate)) => Ok(Intensity::Rate(rate)),
        (Some(outstanding), Some(rate)) => Ok(Intensity::Paced { rate, outstanding }),
        (None, None) => Err(FileError::new(
            raw.name.span(),
            "the load has neither `outstanding` nor `rate`",
            "add outstanding = 32, or rate = \"8MB/s\", or both",
        )),
    }
}

fn read_load_outstanding(outstanding: &Spanned<u32>) -> Result<u32, FileError> {
    match *outstanding.get_ref() {
        0 => Err(FileError::new(
            outstanding.span(),
            "outstanding is 0, so the load does nothing",
            "write how many requests it keeps in flight, or delete the entry",
        )),
        more if more > OUTSTANDING_MAX => Err(FileError::new(
            outstanding.span(),
            format!("outstanding exceeds {OUTSTANDING_MAX} requests"),
            "write a smaller number; drives accept a few dozen requests",
        )),
        outstanding => Ok(outstanding),
    }
}
