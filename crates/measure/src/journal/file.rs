// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes the lines of a journal, and reads them after a crash.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidegate_model::Duration;

use crate::held_up::Sample;

/// The version of the format; an incompatible format gets another number.
const VERSION: u32 = 1;

/// The reason why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not a journal of `tidegate profile`.
    #[error("it does not hold samples of `tidegate profile`")]
    NotAJournal,
    /// Another process is using the journal.
    #[error("another process measures into it now")]
    Locked,
    /// A line is damaged.
    #[error("its line {line} is damaged: delete that line, and its samples are taken again")]
    Damaged {
        /// The number of the line, from 1.
        line: u32,
    },
    /// The journal belongs to another measurement.
    #[error("it holds samples of `{known}`, and now `{asked}` is asked for")]
    OtherMeasurement {
        /// The measurement to which the journal belongs.
        known: String,
        /// The requested measurement.
        asked: String,
    },
}

/// The first line of a journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    measured: String,
    version: u32,
}

/// Any other line: a round, or a named result.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalLine {
    /// The name of the experiment or of the result.
    pub(super) of: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ns: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held_up_ns: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    start: Vec<u64>,
    /// The result, if the line is not a round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<Value>,
}

impl JournalLine {
    /// Returns the line of a complete round.
    pub(super) fn of_round(of: &str, round: &[Sample]) -> Self {
        let times = |figure: fn(&Sample) -> Duration| -> Vec<u64> {
            round.iter().map(figure).map(Duration::ns).collect()
        };
        let mut held_up_ns = times(|sample| sample.held_up);
        if held_up_ns.iter().all(|&ns| ns == 0) {
            held_up_ns.clear();
        }
        let start = round.iter().filter_map(|sample| sample.start).collect();
        Self { of: of.to_owned(), ns: times(|sample| sample.took), held_up_ns, start, found: None }
    }

    /// Returns the line of a result that is not a round.
    pub(super) fn of_found(of: &str, found: &impl Serialize) -> Self {
        let found = serde_json::to_value(found).expect("plain data can be written as JSON");
        Self { found: Some(found), ..Self::of_round(of, &[]) }
    }

    /// Returns the samples of the round.
    pub(super) fn round(&self) -> Vec<Sample> {
        let at = |list: &[u64], index: usize| list.get(index).copied();
        let sample = |(index, &ns): (usize, &u64)| {
            let held_up = Duration::from_ns(at(&self.held_up_ns, index).unwrap_or(0));
            Sample::new(Duration::from_ns(ns), held_up, at(&self.start, index))
        };
        self.ns.iter().enumerate().map(sample).collect()
    }
}

/// The file of a journal, open for appending. No other process writes to it.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: File,
    /// The first error in writing; nothing is written after it.
    failure: Option<io::Error>,
}

impl JournalFile {
    /// Creates the file of the measurement that `measured` describes.
    ///
    /// # Errors
    /// [`JournalError::Io`], also when the file exists.
    pub(super) fn create(path: &Path, measured: &str) -> Result<Self, JournalError> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        lock(&file)?;
        let mut lines = Self { file, failure: None };
        lines.append(&Head { measured: measured.to_owned(), version: VERSION });
        lines.failure.take().map_or(Ok(lines), |error| Err(error.into()))
    }

    /// Opens the file of an earlier run of the same measurement, and reads its lines.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(super) fn resume(
        path: &Path,
        measured: &str,
    ) -> Result<(Self, Vec<JournalLine>), JournalError> {
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        lock(&file)?;
        let texts = whole_lines(&file)?;
        let (head, lines) = texts.split_first().ok_or(JournalError::NotAJournal)?;
        check_head(head, measured)?;
        let parse = |(text, line): (&String, u32)| {
            serde_json::from_str(text).map_err(|_| JournalError::Damaged { line })
        };
        let lines = lines.iter().zip(2..).map(parse).collect::<Result<_, _>>()?;
        // Only now is the file known to belong to this measurement. Cut off the partial line that a
        // crash may have left, because the next line would be appended to it.
        let whole = texts.iter().map(String::len).sum::<usize>();
        file.set_len(u64::try_from(whole).expect("a length fits"))?;
        Ok((Self { file, failure: None }, lines))
    }

    /// Appends a line. After an error it does nothing.
    pub(super) fn append(&mut self, line: &impl Serialize) {
        if self.failure.is_some() {
            return;
        }
        let mut text = serde_json::to_vec(line).expect("plain data can be written as JSON");
        text.push(b'\n');
        self.failure = self.file.write_all(&text).err();
    }

    /// Returns the error after which nothing more was written, if there was one.
    pub(super) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}

/// Reads all complete lines.
fn whole_lines(file: &File) -> Result<Vec<String>, JournalError> {
    let (mut reader, mut lines) = (BufReader::new(file), Vec::new());
    let mut text = String::new();
    while reader.read_line(&mut text).map_err(|_| JournalError::NotAJournal)? > 0 {
        if !text.ends_with('\n') {
            break;
        }
        lines.push(std::mem::take(&mut text));
    }
    Ok(lines)
}

fn check_head(head: &str, measured: &str) -> Result<(), JournalError> {
    let head: Head = serde_json::from_str(head).map_err(|_| JournalError::NotAJournal)?;
    if head.version != VERSION {
        return Err(JournalError::NotAJournal);
    }
    if head.measured != measured {
        let asked = measured.to_owned();
        return Err(JournalError::OtherMeasurement { known: head.measured, asked });
    }
    Ok(())
}

/// Locks the journal against other processes until it is closed. On file systems without locks,
/// this has no effect.
fn lock(file: &File) -> Result<(), JournalError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked),
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
            Err(error.into())
        }
        _ => Ok(()),
    }
}
