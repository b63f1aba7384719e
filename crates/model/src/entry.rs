// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks the entries of workload files, for disks and for processors: names, counts, times.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

use crate::file_error::FileError;
use crate::units::Duration;

/// The maximum number of tasks of one file after expansion of `count`; a larger number is taken for
/// a typing error.
const SOURCES_MAX: u64 = 100_000;

/// The longest time that a file may state: 36 years, so that sums fit in a clock.
const TIME_MAX: Duration = Duration::from_ns(1 << 60);

/// Checks that a duration is above zero and at most 36 years.
///
/// # Errors
/// If it is zero or exceeds 36 years, with its position.
pub fn positive(duration: &Spanned<Duration>, what: &str) -> Result<Duration, FileError> {
    if duration.get_ref().is_zero() {
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        return Err(FileError::new(
            duration.span(),
            format!("the {what} is zero"),
            format!("write {article} {what} above zero, for example {what} = \"300ms\""),
        ));
    }
    within_time_max(*duration.get_ref(), duration.span(), what)
}

/// Checks that a duration is at most 36 years, so that sums with it fit in a clock.
///
/// # Errors
/// If it exceeds 36 years, with its position.
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

/// Returns the number of sources of a kind that an entry with this `count` describes, after
/// `before` others; `kind` is `task` or `load`.
///
/// # Errors
/// If the count is 0, or if the workload would have more than 100,000 sources of this kind, with
/// the position of the count.
pub fn read_count(
    count: Option<&Spanned<u32>>,
    before: usize,
    kind: &str,
) -> Result<u32, FileError> {
    let Some(count) = count else { return Ok(1) };
    if *count.get_ref() == 0 {
        return Err(FileError::new(
            count.span(),
            format!("count is 0: the entry describes no {kind}"),
            format!("write how many {kind}s of this kind there are, or delete the entry"),
        ));
    }
    if before as u64 + u64::from(*count.get_ref()) > SOURCES_MAX {
        return Err(FileError::new(
            count.span(),
            format!("the workload has more than {SOURCES_MAX} {kind}s"),
            "write a smaller count",
        ));
    }
    Ok(*count.get_ref())
}

/// Reads a word that must name one of `all`; `what` is the noun for these names in messages.
///
/// # Errors
/// If there is no such name, with its position and the list.
pub fn named<T: Copy + std::fmt::Display>(
    word: Option<&Spanned<String>>,
    what: &str,
    from_name: impl Fn(&str) -> Option<T>,
    all: &[T],
) -> Result<Option<T>, FileError> {
    let Some(word) = word else { return Ok(None) };
    from_name(word.get_ref()).map(Some).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        FileError::new(
            word.span(),
            format!("there is no {what} `{}`", word.get_ref()),
            format!("write one of {}", names.join(", ")),
        )
    })
}

/// Claims a name that no other source in the file has.
///
/// # Errors
/// If the name is taken, empty, or not printable, with its position.
pub fn claim(
    name: &str,
    written: &Spanned<String>,
    names: &mut BTreeSet<String>,
) -> Result<(), FileError> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(FileError::new(
            written.span(),
            "the name is empty or contains control characters",
            "write a name of printable characters",
        ));
    }
    if names.insert(name.to_owned()) {
        return Ok(());
    }
    let clash = if written.get_ref() == name { String::new() } else { " after expansion".into() };
    Err(FileError::new(
        written.span(),
        format!("this is a second source named `{name}`{clash}"),
        "give every task and every best-effort load a different name",
    ))
}
