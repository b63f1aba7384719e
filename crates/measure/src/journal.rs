// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes every sample to a separate file as it is taken, so that an interrupted measurement can be
//! resumed, and hours of measurement survive a crash.
//!
//! Each line is one JSON object. The first states the subject of the measurement. Every other line
//! is a round, or the result of an experiment without rounds:
//!
//! ```text
//!   {"measured": "..", "version": 1}
//!   {"of": "options", "found": {"options": "tidegate profile ..", "when": .., "host": [..]}}
//!                                                  applies to all lines until the next such line
//!   {"of": "load", "found": {"other": [3, 0], ..}}      load of other programs in that run so far
//!   {"of": "batch of reads of 128KiB", "ns": [..], "held_up_ns": [..], "start": [..]}
//!   {"of": "rotation", "found": {..}}
//! ```
//!
//! A line that a crash cut short is ignored, and its round is repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::held_up::Sample;
use crate::load::Load;
use crate::run_record::{RunRecord, Runs};

mod file;
#[cfg(test)]
mod tests;

pub use file::JournalError;
use file::{JournalFile, JournalLine};

/// The name of the lines that state a run's options, date and host.
const OPTIONS: &str = "options";

/// The name of the lines that state the load of other programs during a run so far.
const LOAD: &str = "load";

/// The shortest time between two lines about load.
const LOAD_PAUSE: Duration = Duration::from_secs(1);

/// The number of the run that made a round, and the samples of the round.
type Round = (usize, Vec<Sample>);

/// The samples of a measurement, in memory and in a file.
#[derive(Debug)]
pub struct Journal {
    /// The file; `None` for a journal in memory, which ends with the measurement.
    file: Option<JournalFile>,
    rounds: BTreeMap<String, Vec<Round>>,
    found: BTreeMap<String, (usize, Value)>,
    /// All runs. The last is in progress, or its lines are being read. The first stands for all
    /// runs that left no record.
    runs: Vec<RunRecord>,
    /// The runs that contributed to the drive file.
    taken: BTreeSet<usize>,
    /// The time at which a line about load was last written.
    load_kept: Option<Instant>,
}

impl Journal {
    /// Creates a new file. `measured` states the subject and the options of the measurement.
    ///
    /// # Errors
    /// [`JournalError::Io`], also when the file exists.
    pub fn create(path: &Path, measured: &str) -> Result<Self, JournalError> {
        Ok(Self::of(Some(JournalFile::create(path, measured)?)))
    }

    /// Resumes the file of an earlier run of the same measurement.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn resume(path: &Path, measured: &str) -> Result<Self, JournalError> {
        let (file, known) = JournalFile::resume(path, measured)?;
        let mut journal = Self::of(Some(file));
        for line in known {
            journal.read(line);
        }
        Ok(journal)
    }

    /// Returns a journal without a file.
    pub(crate) fn unwritten() -> Self {
        Self::of(None)
    }

    fn of(file: Option<JournalFile>) -> Self {
        let (rounds, found) = (BTreeMap::new(), BTreeMap::new());
        let (runs, taken) = (vec![RunRecord::unknown()], BTreeSet::new());
        Self { file, rounds, found, runs, taken, load_kept: None }
    }

    fn read(&mut self, line: JournalLine) {
        let run = self.run();
        let Some(found) = line.found else {
            let round = line.round();
            return self.rounds.entry(line.of).or_default().push((run, round));
        };
        match &line.of[..] {
            OPTIONS => self.runs.push(run_record(found)),
            LOAD => self.last_run().load = serde_json::from_value(found).unwrap_or_default(),
            _ => drop(self.found.insert(line.of, (run, found))),
        }
    }

    /// Begins a run. All later lines belong to it.
    pub(crate) fn begin(&mut self, record: RunRecord) {
        self.keep_found(OPTIONS, &record);
        self.runs.push(record);
    }

    /// Returns the number of the run that is in progress, or whose lines are being read.
    fn run(&self) -> usize {
        self.runs.len() - 1
    }

    fn last_run(&mut self) -> &mut RunRecord {
        self.runs.last_mut().expect("one stands for those without a record")
    }

    /// Records that this run contributed to the drive file.
    pub(crate) fn count_this_run(&mut self) {
        self.taken.insert(self.run());
    }

    /// Returns the runs whose figures are in the drive file; only the current run if there are
    /// none.
    pub(crate) fn runs_in_file(&self) -> Runs {
        let is_taken = |(number, _): &(usize, &RunRecord)| self.taken.contains(number);
        let taken = self.runs.iter().enumerate().filter(is_taken).map(|(_, run)| run);
        let mut runs: Vec<_> = taken.cloned().collect();
        if runs.is_empty() {
            runs.extend(self.runs.last().cloned());
        }
        Runs::new(runs)
    }

    /// Returns whether it is time to write another line about load.
    pub(crate) fn is_load_due(&self) -> bool {
        self.file.is_some() && self.load_kept.is_none_or(|at| at.elapsed() >= LOAD_PAUSE)
    }

    /// Records the load of other programs in this run so far, because the run could be killed
    /// before its end.
    pub(crate) fn keep_load(&mut self, load: Load) {
        self.load_kept = Some(Instant::now());
        if self.last_run().load != load {
            self.last_run().load = load;
            self.keep_found(LOAD, &load);
        }
    }

    /// Takes the earlier rounds of an experiment; drops rounds with another number of cells.
    pub(crate) fn take_rounds(&mut self, of: &str, cells: usize) -> Vec<Vec<Sample>> {
        let mut rounds = self.rounds.remove(of).unwrap_or_default();
        rounds.retain(|(_, round)| round.len() == cells);
        self.taken.extend(rounds.iter().map(|(run, _)| run));
        rounds.into_iter().map(|(_, round)| round).collect()
    }

    /// Returns the names of experiments whose rounds were not taken.
    pub(crate) fn left(&self) -> Vec<String> {
        self.rounds.keys().cloned().collect()
    }

    /// Records a complete round.
    pub(crate) fn keep_round(&mut self, of: &str, round: &[Sample]) {
        if let Some(file) = &mut self.file {
            file.append(&JournalLine::of_round(of, round));
        }
    }

    /// Returns the earlier result of an experiment without rounds.
    pub(crate) fn found<T: for<'de> Deserialize<'de>>(&mut self, of: &str) -> Option<T> {
        let (run, found) = self.found.get(of)?.clone();
        let found = serde_json::from_value(found).ok()?;
        self.taken.insert(run);
        Some(found)
    }

    /// Records the result of an experiment without rounds.
    pub(crate) fn keep_found<T: Serialize>(&mut self, of: &str, found: &T) {
        if let Some(file) = &mut self.file {
            file.append(&JournalLine::of_found(of, found));
        }
    }

    /// Returns the error after which nothing more was recorded, if there was one.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.file.as_mut()?.take_failure()
    }
}

/// Parses the record of a run. Earlier versions recorded only its options.
fn run_record(found: Value) -> RunRecord {
    match found {
        Value::String(options) => RunRecord::of_options(options),
        found => serde_json::from_value(found).unwrap_or_else(|_| RunRecord::unknown()),
    }
}
