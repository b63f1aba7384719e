// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a `[[best_effort]]` entry of a workload file.

use std::collections::BTreeSet;

use toml::Spanned;

use super::Placed;
use super::at_once::AtOnce;
use super::raw::{RawBestEffort, RawPeriod, check_size};
use super::task::read_lifetime;
use crate::entry::{claim, positive, read_count};
use crate::file_error::FileError;
use crate::task::{BestEffort, Intensity};
use crate::units::Duration;

/// The shortest time between two requests of an open loop.
const GAP_MIN: Duration = Duration::from_us(1);

/// Appends the loads of one entry: one, or `count` numbered ones.
pub(super) fn expand(
    raw: &RawBestEffort,
    entry: u32,
    names: &mut BTreeSet<String>,
    at_once: &mut AtOnce,
    loads: &mut Vec<Placed<BestEffort>>,
) -> Result<(), FileError> {
    check_size(&raw.size)?;
    let intensity = read_intensity(raw)?;
    let (start, stop) = read_lifetime(raw.start.as_ref(), raw.stop.as_ref())?;
    let count = read_count(raw.count.as_ref(), loads.len(), "load")?;
    let (requests, written) = match intensity {
        Intensity::Outstanding(requests) => (requests, &raw.outstanding),
        Intensity::Stream { requests, .. } => (requests, &raw.requests),
        Intensity::Rate(_) | Intensity::Paced { .. } => (1, &raw.outstanding),
    };
    let written = written.as_ref().or(raw.count.as_ref());
    at_once.add(count, requests.into(), written.map_or(raw.name.span(), Spanned::span))?;
    for number in 1..=count {
        let name = match raw.count {
            Some(_) => format!("{}-{number}", raw.name.get_ref()),
            None => raw.name.get_ref().clone(),
        };
        claim(&name, &raw.name, names)?;
        loads.push(Placed {
            source: BestEffort {
                name,
                group: raw.count.is_some().then_some(entry),
                intensity,
                start,
                stop,
                size: *raw.size.get_ref(),
                op: *raw.op.get_ref(),
                place: raw.place.0,
            },
            size_span: raw.size.span(),
            op_span: raw.op_span(),
        });
    }
    Ok(())
}

/// Reads how a load releases requests: a closed loop, an open loop, a closed loop with a rate, or a
/// stream of jobs.
fn read_intensity(raw: &RawBestEffort) -> Result<Intensity, FileError> {
    if let Some(period) = &raw.period {
        return read_stream(raw, period);
    }
    if let Some(requests) = &raw.requests {
        return Err(FileError::new(
            requests.span(),
            "only jobs have requests, and the load has no `period`",
            "add a `period`, or write how many requests are `outstanding`",
        ));
    }
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
            "the load has none of `outstanding`, `rate` and `period`",
            "add outstanding = 32, or rate = \"8MB/s\", or period = \"100ms\"",
        )),
    }
}

/// Reads a load that releases a job in each period.
fn read_stream(raw: &RawBestEffort, period: &Spanned<RawPeriod>) -> Result<Intensity, FileError> {
    let RawPeriod::Same(length) = *period.get_ref() else {
        return Err(FileError::new(
            period.span(),
            "the periods of loads have no steps",
            "write one time, or an entry for each period",
        ));
    };
    if let Some(rate) = &raw.rate {
        return Err(FileError::new(
            rate.span(),
            "the load has both `rate` and `period`",
            "keep one of them: a stream's rate is its requests in each period",
        ));
    }
    let length = positive(&Spanned::new(period.span(), length), "period")?;
    let requests = raw.requests.as_ref().map_or(1, |requests| *requests.get_ref());
    let least = GAP_MIN.checked_mul(requests.into()).unwrap_or(Duration::MAX);
    if requests == 0 || length < least {
        let span = raw.requests.as_ref().map_or_else(|| period.span(), Spanned::span);
        let (what, remedy) = if requests == 0 {
            ("a job of 0 requests needs no drive", "write how many requests one job releases")
        } else {
            let what = "the load releases more than a million requests each second";
            (what, "write a longer period, or fewer requests")
        };
        return Err(FileError::new(span, what, remedy));
    }
    let outstanding = raw.outstanding.as_ref().map(read_load_outstanding).transpose()?;
    Ok(Intensity::Stream { period: length, requests, outstanding })
}

fn read_load_outstanding(outstanding: &Spanned<u32>) -> Result<u32, FileError> {
    match *outstanding.get_ref() {
        0 => Err(FileError::new(
            outstanding.span(),
            "outstanding is 0, so the load does nothing",
            "write how many requests it keeps in flight, or delete the entry",
        )),
        outstanding => Ok(outstanding),
    }
}
