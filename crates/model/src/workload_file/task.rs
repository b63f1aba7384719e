// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a `[[task]]` entry of a workload file.

use std::collections::BTreeSet;

use toml::Spanned;

use super::Placed;
use super::raw::{RawArrivals, RawOffset, RawTask, check_size};
use crate::entry::{claim, positive, read_count, within_time_max};
use crate::file_error::FileError;
use crate::task::{Arrivals, Task};
use crate::units::Duration;

/// Appends the tasks of one `[[task]]` entry: one, or `count` numbered ones.
pub(super) fn expand(
    raw: &RawTask,
    entry: u32,
    names: &mut BTreeSet<String>,
    tasks: &mut Vec<Placed<Task>>,
) -> Result<(), FileError> {
    let period = positive(&raw.period, "period")?;
    let deadline = match &raw.deadline {
        Some(deadline) => positive(deadline, "deadline")?,
        None => period,
    };
    if *raw.requests.get_ref() == 0 {
        return Err(FileError::new(
            raw.requests.span(),
            "a job of 0 requests needs no drive",
            "write how many requests one job releases together, from 1 on",
        ));
    }
    let count = read_count(raw.count.as_ref(), tasks.len())?;
    let offsets = read_offsets(raw.offset.as_ref(), count)?;
    check_size(&raw.size)?;
    let arrivals = read_arrivals(raw, period)?;
    let jitter = read_jitter(raw.jitter.as_ref(), period, deadline)?;
    for (number, offset) in (1..=count).zip(offsets) {
        let name = match raw.count {
            Some(_) => format!("{}-{number}", raw.name.get_ref()),
            None => raw.name.get_ref().clone(),
        };
        claim(&name, &raw.name, names)?;
        tasks.push(Placed {
            source: Task {
                name,
                entry,
                period,
                arrivals,
                jitter,
                deadline,
                requests: *raw.requests.get_ref(),
                size: *raw.size.get_ref(),
                op: *raw.op.get_ref(),
                place: raw.place.0,
                offset,
                class: raw.class,
                quality_ppm: raw
                    .quality
                    .as_ref()
                    .map_or(Task::QUALITY_ALL_PPM, |share| share.get_ref().ppm),
                outstanding_max: read_outstanding(raw.outstanding.as_ref())?,
            },
            size_span: raw.size.span(),
            op_span: raw.op_span(),
        });
    }
    Ok(())
}

/// Reads when jobs arrive.
fn read_arrivals(raw: &RawTask, period: Duration) -> Result<Arrivals, FileError> {
    match raw.arrivals.get_ref() {
        RawArrivals::Periodic => Ok(Arrivals::Periodic),
        RawArrivals::Sporadic => Ok(Arrivals::Sporadic { extra_max: period }),
        RawArrivals::Bunched => {
            let refused = |span, key: &str| {
                Err(FileError::new(
                    span,
                    format!("bunched tasks choose their own instants, so `{key}` has no effect"),
                    "delete the line, or write arrivals = \"sporadic\"",
                ))
            };
            match (&raw.offset, &raw.outstanding) {
                (Some(offset), _) => refused(offset.span(), "offset"),
                (None, Some(outstanding)) => refused(outstanding.span(), "outstanding"),
                (None, None) => Ok(Arrivals::Bunched),
            }
        }
    }
}

/// Reads the jitter. The theory needs it below the period (`docs/theory/host-time.md` section 30), and
/// no job that is seen at or after its deadline can meet it.
fn read_jitter(
    jitter: Option<&Spanned<Duration>>,
    period: Duration,
    deadline: Duration,
) -> Result<Duration, FileError> {
    let Some(written) = jitter else { return Ok(Duration::ZERO) };
    let jitter = *written.get_ref();
    let (what, limit, why) = if deadline < period {
        ("deadline", deadline, "a job that is seen at its deadline or later misses it")
    } else {
        ("period", period, "no bound is known for a longer one")
    };
    if jitter < limit {
        return Ok(jitter);
    }
    Err(FileError::new(
        written.span(),
        format!("the jitter of {jitter} is not below the {what} of {limit}"),
        format!("write a jitter below the {what}: {why}"),
    ))
}

/// Reads the maximum number of jobs of a task that may be in progress at once.
fn read_outstanding(outstanding: Option<&Spanned<u32>>) -> Result<Option<u32>, FileError> {
    match outstanding {
        Some(zero) if *zero.get_ref() == 0 => Err(FileError::new(
            zero.span(),
            "outstanding is 0, so the task never releases a job",
            "write how many jobs may be in progress at once, or delete the line",
        )),
        outstanding => Ok(outstanding.map(|outstanding| *outstanding.get_ref())),
    }
}

/// Reads the first release of each of `count` tasks.
fn read_offsets(
    offset: Option<&Spanned<RawOffset>>,
    count: u32,
) -> Result<Vec<Duration>, FileError> {
    let Some(written) = offset else { return Ok(vec![Duration::ZERO; count as usize]) };
    let offsets = match written.get_ref() {
        RawOffset::Same(offset) => vec![*offset; count as usize],
        RawOffset::Each(offsets) if offsets.len() == count as usize => offsets.clone(),
        RawOffset::Each(offsets) => {
            return Err(FileError::new(
                written.span(),
                format!("the list has {} offsets, but the entry has {count} tasks", offsets.len()),
                "give one offset for each task, or { step = \"..\" }",
            ));
        }
        RawOffset::Step(step) => (0..u64::from(count))
            .map(|index| step.checked_mul(index).unwrap_or(Duration::MAX))
            .collect(),
    };
    let last = offsets.iter().copied().max().unwrap_or_default();
    within_time_max(last, written.span(), "last offset")?;
    Ok(offsets)
}
