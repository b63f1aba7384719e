// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a `[[task]]` entry of a workload file.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

use super::Placed;
use super::at_once::AtOnce;
use super::raw::{RawArrivals, RawOffset, RawPeriod, RawTask, check_size};
use crate::entry::{claim, positive, read_count, within_time_max};
use crate::file_error::FileError;
use crate::task::{Arrivals, Task};
use crate::units::Duration;

/// Appends the tasks of one `[[task]]` entry: one, or `count` numbered ones.
pub(super) fn expand(
    raw: &RawTask,
    entry: u32,
    names: &mut BTreeSet<String>,
    at_once: &mut AtOnce,
    tasks: &mut Vec<Placed<Task>>,
) -> Result<(), FileError> {
    let deadline = raw.deadline.as_ref().map(|it| positive(it, "deadline")).transpose()?;
    if *raw.requests.get_ref() == 0 {
        return Err(FileError::new(
            raw.requests.span(),
            "a job of 0 requests needs no drive",
            "write how many requests one job releases together, from 1 on",
        ));
    }
    let count = read_count(raw.count.as_ref(), tasks.len(), "task")?;
    check_steps(raw)?;
    let offsets = read_offsets(raw.offset.as_ref(), count)?;
    check_size(&raw.size)?;
    let periods = match &raw.period {
        Some(period) => read_periods(period, count)?,
        None => closed_loop(raw, count)?,
    };
    at_once.add(count, requests_at_once(raw), widest(raw))?;
    let (start, stop) = read_lifetime(raw.start.as_ref(), raw.stop.as_ref())?;
    // The first period is the shortest.
    let jitter = read_jitter(raw.jitter.as_ref(), periods[0], deadline.unwrap_or(periods[0]))?;
    for ((number, offset), period) in (1..=count).zip(offsets).zip(periods) {
        let name = match raw.count {
            Some(_) => format!("{}-{number}", raw.name.get_ref()),
            None => raw.name.get_ref().clone(),
        };
        claim(&name, &raw.name, names)?;
        check_stop(&name, start + offset, raw.stop.as_ref())?;
        tasks.push(Placed {
            source: Task {
                name,
                entry,
                period,
                arrivals: read_arrivals(raw, period)?,
                jitter,
                deadline: deadline.unwrap_or(period),
                requests: *raw.requests.get_ref(),
                size: *raw.size.get_ref(),
                op: *raw.op.get_ref(),
                place: raw.place.0,
                offset: start + offset,
                stop,
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

/// Reads the period of each of `count` tasks; none is shorter than the first.
fn read_periods(written: &Spanned<RawPeriod>, count: u32) -> Result<Vec<Duration>, FileError> {
    let (from, step) = match *written.get_ref() {
        RawPeriod::Same(period) => (period, Duration::ZERO),
        RawPeriod::Steps { from, step } => (from, step),
    };
    let from = positive(&Spanned::new(written.span(), from), "period")?;
    let of = |index| step.checked_mul(index).and_then(|later| from.checked_add(later));
    let last = of(u64::from(count) - 1).unwrap_or(Duration::MAX);
    within_time_max(last, written.span(), "last period")?;
    Ok((0..u64::from(count)).map(|index| of(index).expect("at most the last")).collect())
}

/// Returns the placeholder periods of tasks without a period, whose jobs arrive when earlier jobs
/// complete.
fn closed_loop(raw: &RawTask, count: u32) -> Result<Vec<Duration>, FileError> {
    let excluded = |span, key: &str| {
        Err(FileError::new(
            span,
            format!("`{key}` needs a period, and the task has none"),
            "add period = \"300ms\", or delete the line",
        ))
    };
    match (&raw.arrivals, &raw.jitter, &raw.deadline, &raw.outstanding) {
        (Some(arrivals), ..) => excluded(arrivals.span(), "arrivals"),
        (None, Some(jitter), ..) => excluded(jitter.span(), "jitter"),
        (None, None, Some(_), Some(_)) => Ok(vec![Task::PERIOD_NONE; count as usize]),
        _ => Err(FileError::new(
            raw.name.span(),
            "missing field `period`",
            "add period = \"300ms\"; or, if its program sends its next request when it has an answer, \
             `deadline` and outstanding = 1",
        )),
    }
}

/// Refuses a step in an entry without a `count`.
fn check_steps(raw: &RawTask) -> Result<(), FileError> {
    let period = raw.period.as_ref().filter(|it| matches!(it.get_ref(), RawPeriod::Steps { .. }));
    let offset = raw.offset.as_ref().filter(|it| matches!(it.get_ref(), RawOffset::Step(_)));
    let step = period.map(Spanned::span).or_else(|| offset.map(Spanned::span));
    match step {
        Some(span) if raw.count.is_none() => Err(FileError::new(
            span,
            "`step` is the difference between tasks of an entry, and this entry has one",
            "add a line for `count`, or write one time",
        )),
        _ => Ok(()),
    }
}

/// Returns the largest number of requests that one task releases at one instant.
fn requests_at_once(raw: &RawTask) -> u64 {
    let jobs = match raw.period {
        Some(_) => 1,
        None => raw.outstanding.as_ref().map_or(1, |it| *it.get_ref()),
    };
    u64::from(jobs) * u64::from(*raw.requests.get_ref())
}

/// Returns the position of the factor that increases a task's requests most.
fn widest(raw: &RawTask) -> Range<usize> {
    let outstanding = raw.outstanding.as_ref().filter(|_| raw.period.is_none());
    [raw.count.as_ref(), outstanding, Some(&raw.requests)]
        .into_iter()
        .flatten()
        .filter(|it| !it.span().is_empty())
        .max_by_key(|it| *it.get_ref())
        .map_or(raw.name.span(), Spanned::span)
}

/// Checks that a task's first job arrives before the task stops.
fn check_stop(
    name: &str,
    first: Duration,
    stop: Option<&Spanned<Duration>>,
) -> Result<(), FileError> {
    let Some(stop) = stop.filter(|stop| *stop.get_ref() <= first) else { return Ok(()) };
    Err(FileError::new(
        stop.span(),
        format!("the first job of `{name}` arrives at {first}, and it stops at {}", stop.get_ref()),
        "write a later `stop`, or a smaller `offset`",
    ))
}

/// Reads when jobs arrive.
fn read_arrivals(raw: &RawTask, period: Duration) -> Result<Arrivals, FileError> {
    if raw.period.is_none() {
        return Ok(Arrivals::OnCompletion);
    }
    match raw.arrivals.as_ref().map_or(RawArrivals::Periodic, |it| *it.get_ref()) {
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
            let offset = raw.offset.as_ref().map(|it| (it.span(), "offset"));
            let start = raw.start.as_ref().map(|it| (it.span(), "start"));
            let outstanding = raw.outstanding.as_ref().map(|it| (it.span(), "outstanding"));
            match offset.or(start).or(outstanding) {
                Some((span, key)) => refused(span, key),
                None => Ok(Arrivals::Bunched),
            }
        }
    }
}

/// Reads the jitter. The theory requires a jitter below the period (`docs/theory/host-time.md`
/// section 30). The jitter must also be below the deadline, because a job that the policy sees at
/// or after its deadline cannot meet it.
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

/// Reads when a source starts and stops.
pub(super) fn read_lifetime(
    start: Option<&Spanned<Duration>>,
    stop: Option<&Spanned<Duration>>,
) -> Result<(Duration, Option<Duration>), FileError> {
    let read = |written: &Spanned<Duration>, what| {
        within_time_max(*written.get_ref(), written.span(), what)
    };
    let start = start.map(|it| read(it, "start")).transpose()?.unwrap_or_default();
    let Some(written) = stop else { return Ok((start, None)) };
    let stop = read(written, "stop")?;
    if stop <= start {
        return Err(FileError::new(
            written.span(),
            format!("it stops at {stop} and starts at {start}, so it releases nothing"),
            "write a `stop` after `start`, or delete the entry",
        ));
    }
    Ok((start, Some(stop)))
}

/// Reads the maximum number of jobs of a task that may be in progress at the same time.
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
