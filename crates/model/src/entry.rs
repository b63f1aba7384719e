// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks that entries of workload files share, of disks and of processors: names, counts, times.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

use crate::file_error::FileError;
use crate::units::Duration;

/// Tasks of one file after expansion of `count`; more is a slip of the pen.
const TASKS_MAX: u64 = 100_000;

/// The longest time that can be asked for: 36 years, so that sums stay within a clock.
const TIME_MAX: Duration = Duration::from_ns(1 << 60);

/// A duration above zero and not absurdly long.
///
/// # Errors
/// With its place, when it is zero or exceeds 36 years.
pub fn positive(duration: &Spanned<Duration>, what: &str) -> Result<Duration, FileError> {
    if duration.get_ref().is_zero() {
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        return Err(FileError::new(
            duration.span(),
            format!("{article} {what} of zero"),
            format!("write {article} {what} above zero, for example {what} = \"300ms\""),
        ));
    }
    within_time_max(*duration.get_ref(), duration.span(), what)
}

/// A duration that sums stay within a clock with.
///
/// # Errors
/// With its place, when it exceeds 36 years.
pub fn within_time_max(
    duration: Duration,
    span: Range<usize>,
    what: &str,
) -> Result<Duration, FileError> {
    if duration <= TIME_MAX {
        return Ok(duration);
    }
    Err(FileError::new(span, format!("the {what} exceeds 36 years"), "write a shorter time"))
}

/// How many tasks an entry with this `count` stands for, behind so many others.
///
/// # Errors
/// With its place, when that is none, or more than a workload holds.
pub fn read_count(count: Option<&Spanned<u32>>, tasks_before: usize) -> Result<u32, FileError> {
    let Some(count) = count else { return Ok(1) };
    if *count.get_ref() == 0 {
        return Err(FileError::new(
            count.span(),
            "count is 0: the entry stands for no task",
            "write how many tasks of this kind there are, or leave the entry out",
        ));
    }
    if tasks_before as u64 + u64::from(*count.get_ref()) > TASKS_MAX {
        return Err(FileError::new(
            count.span(),
            format!("more than {TASKS_MAX} tasks in one workload"),
            "write a smaller count",
        ));
    }
    Ok(*count.get_ref())
}

/// Takes a name that nothing else in the file has.
///
/// # Errors
/// With its place, when it is taken, empty, or cannot be printed.
pub fn claim(
    name: &str,
    written: &Spanned<String>,
    names: &mut BTreeSet<String>,
) -> Result<(), FileError> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(FileError::new(
            written.span(),
            "a name that is empty or has control characters in it",
            "write a name that can be printed",
        ));
    }
    if names.insert(name.to_owned()) {
        return Ok(());
    }
    let clash = if written.get_ref() == name { String::new() } else { " after expansion".into() };
    Err(FileError::new(
        written.span(),
        format!("a second source named `{name}`{clash}"),
        "give every task and every best-effort load a name of its own",
    ))
}
