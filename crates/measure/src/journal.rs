// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every sample as it is taken, in a file of its own: a measurement that was interrupted goes on
//! where it was, and nothing that took hours is lost with a process.
//!
//! One JSON object a line. The first says what is measured; each other is a round, or what an
//! experiment found that is not made of rounds:
//!
//! ```text
//!   {"measured": "..", "version": 1}
//!   {"of": "options", "found": {"options": "tidegate profile ..", "when": .., "host": [..]}}
//!                                                  of all lines up to the next such
//!   {"of": "load", "found": {"other": [3, 0], ..}}      what others did in that run so far
//!   {"of": "batch of reads of 128KiB", "ns": [..], "held_up_ns": [..], "start": [..]}
//!   {"of": "rotation", "found": {..}}
//! ```
//!
//! A line that a crash cut short is not counted; what was read of it is made again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::time::{Duration as StdDuration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidegate_model::Duration;

use crate::held_up::Sample;
use crate::run_record::{Load, RunRecord, Runs};

/// What a later version would read otherwise.
const VERSION: u32 = 1;

/// Why there is no journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What stands there is no journal of ours.
    #[error("it does not hold samples of `tidegate profile`")]
    NotAJournal,
    /// Another process measures into it.
    #[error("another process measures into it now")]
    Locked,
    /// A line cannot be read.
    #[error("its line {line} is damaged: delete that line, and its samples are taken again")]
    Damaged {
        /// Which, from 1.
        line: u32,
    },
    /// It is about something else.
    #[error("it holds samples of `{known}`, and now `{asked}` is asked for")]
    OtherMeasurement {
        /// What it is about.
        known: String,
        /// What is to be measured.
        asked: String,
    },
}

/// What the lines are called that say with which options, when and where a run was made.
const OPTIONS: &str = "options";

/// What the lines are called that say what others did during a run so far.
const LOAD: &str = "load";

/// How often that is asked for.
const LOAD_PAUSE: StdDuration = StdDuration::from_secs(1);

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    measured: String,
    version: u32,
}

/// Any other line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    of: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ns: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held_up_ns: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    start: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found: Option<Value>,
}

/// A round, and which run made it.
type Round = (usize, Vec<Sample>);

/// A file of samples.
#[derive(Debug)]
pub struct Journal {
    file: File,
    rounds: BTreeMap<String, Vec<Round>>,
    found: BTreeMap<String, (usize, Value)>,
    /// All runs; the last is made, or its lines are read. The first stands for those that left no
    /// record.
    runs: Vec<RunRecord>,
    /// The runs of which something is in the drive file.
    taken: BTreeSet<usize>,
    /// When it was last kept what others did.
    load_kept: Option<Instant>,
    /// The first failure to write; nothing is written after it.
    failure: Option<io::Error>,
}

impl Journal {
    /// A new file about `measured`: what is measured, and with which options.
    ///
    /// # Errors
    /// [`JournalError::Io`], also when the file exists.
    pub fn create(path: &Path, measured: &str) -> Result<Self, JournalError> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        lock(&file)?;
        let mut journal = Self::of(file);
        let head = Head { measured: measured.to_owned(), version: VERSION };
        journal.append(&head);
        journal.failure.take().map_or(Ok(journal), |error| Err(error.into()))
    }

    fn of(file: File) -> Self {
        let (rounds, found) = (BTreeMap::new(), BTreeMap::new());
        let (runs, taken) = (vec![RunRecord::unknown()], BTreeSet::new());
        Self { file, rounds, found, runs, taken, load_kept: None, failure: None }
    }

    /// Goes on with the file of an earlier measurement of the same.
    ///
    /// # Errors
    /// [`JournalError`].
    ///
    /// # Panics
    /// Never: a line is not longer than memory.
    pub fn resume(path: &Path, measured: &str) -> Result<Self, JournalError> {
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        lock(&file)?;
        let (mut whole, mut lines) = (0, Vec::new());
        let mut reader = BufReader::new(&file);
        let mut text = String::new();
        while reader.read_line(&mut text).map_err(|_| JournalError::NotAJournal)? > 0 {
            if !text.ends_with('\n') {
                break;
            }
            whole += u64::try_from(text.len()).expect("a length fits");
            lines.push(std::mem::take(&mut text));
        }
        let (head, lines) = lines.split_first().ok_or(JournalError::NotAJournal)?;
        let head: Head = serde_json::from_str(head).map_err(|_| JournalError::NotAJournal)?;
        if head.version != VERSION {
            return Err(JournalError::NotAJournal);
        }
        if head.measured != measured {
            let asked = measured.to_owned();
            return Err(JournalError::OtherMeasurement { known: head.measured, asked });
        }
        let mut journal = Self::of(file);
        for (line, number) in lines.iter().zip(2..) {
            let damaged = |_| JournalError::Damaged { line: number };
            journal.read(serde_json::from_str(line).map_err(damaged)?);
        }
        // What a crash cut short, now that the file is known to be ours: the next line must not
        // be its end.
        journal.file.set_len(whole)?;
        Ok(journal)
    }

    fn read(&mut self, line: Line) {
        if let Some(found) = line.found {
            match &line.of[..] {
                OPTIONS => self.runs.push(run_record(found)),
                LOAD => self.last_run().load = serde_json::from_value(found).unwrap_or_default(),
                _ => drop(self.found.insert(line.of, (self.run(), found))),
            }
            return;
        }
        let at = |list: &[u64], index: usize| list.get(index).copied();
        let sample = |(index, &ns): (usize, &u64)| {
            let held_up = Duration::from_ns(at(&line.held_up_ns, index).unwrap_or(0));
            Sample::new(Duration::from_ns(ns), held_up, at(&line.start, index))
        };
        let round = line.ns.iter().enumerate().map(sample).collect();
        let run = self.run();
        self.rounds.entry(line.of).or_default().push((run, round));
    }

    /// What follows is made by that run.
    pub(crate) fn begin(&mut self, record: &RunRecord) {
        self.runs.push(record.clone());
        self.keep_found(OPTIONS, record);
    }

    /// The number of the run that is made, or whose lines are read.
    fn run(&self) -> usize {
        self.runs.len() - 1
    }

    fn last_run(&mut self) -> &mut RunRecord {
        self.runs.last_mut().expect("one stands for those without a record")
    }

    /// Something that this run measured is in the drive file.
    pub(crate) fn count_this_run(&mut self) {
        self.taken.insert(self.run());
    }

    /// The runs of which something is in the drive file; this one where there are none.
    pub(crate) fn runs_in_file(&self) -> Runs {
        let is_taken = |(number, _): &(usize, &RunRecord)| self.taken.contains(number);
        let taken = self.runs.iter().enumerate().filter(is_taken).map(|(_, run)| run);
        let mut runs: Vec<_> = taken.cloned().collect();
        if runs.is_empty() {
            runs.extend(self.runs.last().cloned());
        }
        Runs::new(runs)
    }

    /// Whether it is time again to keep what others did.
    pub(crate) fn is_load_due(&self) -> bool {
        self.load_kept.is_none_or(|at| at.elapsed() >= LOAD_PAUSE)
    }

    /// Keeps what others did in this run so far: it may be killed before its end.
    pub(crate) fn keep_load(&mut self, load: Load) {
        self.load_kept = Some(Instant::now());
        if self.last_run().load != load {
            self.last_run().load = load;
            self.keep_found(LOAD, &load);
        }
    }

    /// The rounds of an experiment that were made before, of so many cells.
    pub(crate) fn take_rounds(&mut self, of: &str, cells: usize) -> Vec<Vec<Sample>> {
        let mut rounds = self.rounds.remove(of).unwrap_or_default();
        rounds.retain(|(_, round)| round.len() == cells);
        self.taken.extend(rounds.iter().map(|(run, _)| run));
        rounds.into_iter().map(|(_, round)| round).collect()
    }

    /// The experiments of which there are rounds that nobody took.
    pub(crate) fn left(&self) -> Vec<String> {
        self.rounds.keys().cloned().collect()
    }

    /// Keeps a round that is complete.
    pub(crate) fn keep_round(&mut self, of: &str, round: &[Sample]) {
        let times = |figure: fn(&Sample) -> Duration| -> Vec<u64> {
            round.iter().map(figure).map(Duration::ns).collect()
        };
        let mut held_up_ns = times(|sample| sample.held_up);
        if held_up_ns.iter().all(|&ns| ns == 0) {
            held_up_ns.clear();
        }
        let start = round.iter().filter_map(|sample| sample.start).collect();
        let ns = times(|sample| sample.took);
        self.append(&Line { of: of.to_owned(), ns, held_up_ns, start, found: None });
    }

    /// What an experiment found before that is not made of rounds.
    pub(crate) fn found<T: for<'de> Deserialize<'de>>(&mut self, of: &str) -> Option<T> {
        let (run, found) = self.found.get(of)?.clone();
        let found = serde_json::from_value(found).ok()?;
        self.taken.insert(run);
        Some(found)
    }

    /// Keeps what an experiment found.
    pub(crate) fn keep_found<T: Serialize>(&mut self, of: &str, found: &T) {
        let found = serde_json::to_value(found).expect("plain data can be written as JSON");
        let nothing = Vec::new;
        let (ns, held_up_ns, start) = (nothing(), nothing(), nothing());
        self.append(&Line { of: of.to_owned(), ns, held_up_ns, start, found: Some(found) });
    }

    /// The failure after which nothing more was kept.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    fn append(&mut self, line: &impl Serialize) {
        if self.failure.is_some() {
            return;
        }
        let mut text = serde_json::to_vec(line).expect("plain data can be written as JSON");
        text.push(b'\n');
        self.failure = self.file.write_all(&text).err();
    }
}

/// Keeps other measurements out until the journal is closed. Where the file system has no locks
/// nothing keeps them out.
fn lock(file: &File) -> Result<(), JournalError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked),
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
            Err(error.into())
        }
        _ => Ok(()),
    }
}

/// The record of a run; earlier versions kept its options alone.
fn run_record(found: Value) -> RunRecord {
    match found {
        Value::String(options) => RunRecord::of_options(options),
        found => serde_json::from_value(found).unwrap_or_else(|_| RunRecord::unknown()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tidegate_device::load::Completed;

    use super::*;

    fn sample(ns: u64, held_up: u64) -> Sample {
        let of = Duration::from_ns;
        Sample { took: of(ns), held_up: of(held_up), start: None }
    }

    #[test]
    fn what_was_kept_is_there_when_it_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("samples");
        let rounds = [vec![sample(1, 0), sample(2, 0)], vec![sample(3, 1), sample(4, 0)]];
        let mut journal = Journal::create(&path, "it").expect("a journal");
        for round in &rounds {
            journal.keep_round("batch", round);
        }
        journal.keep_found("rotation", &7_u32);
        drop(journal);
        let mut journal = Journal::resume(&path, "it").expect("a journal");
        assert_eq!(journal.found::<u32>("rotation"), Some(7));
        assert_eq!(journal.take_rounds("batch", 2), rounds);
        assert_eq!(journal.take_rounds("drain", 2), [[]; 0]);
    }

    /// Goal: what is said of a run that was killed is what it kept, and of one that measured nothing
    /// nothing is said. Method: a run with rounds and other load that just ends, one that goes on and
    /// takes its rounds, and one that measures as well; an options line as earlier versions wrote it.
    #[test]
    fn a_run_is_told_of_where_its_rounds_are_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("samples");
        let load = Load::new(None, Some(Completed { reads: 9, writes: 2 }));
        let mut journal = Journal::create(&path, "it").expect("a journal");
        let host = vec!["no real-time scheduling".to_owned()];
        let is_real_time = Some(false);
        let first = RunRecord { host, is_real_time, ..RunRecord::of_options("first") };
        journal.begin(&first);
        journal.keep_round("batch", &[sample(1, 0)]);
        journal.keep_load(Load::default());
        assert!(!journal.is_load_due());
        journal.keep_load(load);
        let killed = RunRecord { load, ..first };
        drop(journal);

        let mut journal = Journal::resume(&path, "it").expect("a journal");
        journal.begin(&RunRecord::of_options("second"));
        assert_eq!(journal.take_rounds("batch", 1).len(), 1);
        assert_eq!(journal.runs_in_file(), Runs::new(vec![killed.clone()]));
        let third = RunRecord::of_options("third");
        journal.begin(&third);
        journal.count_this_run();
        assert_eq!(journal.runs_in_file(), Runs::new(vec![killed, third]));
        drop(journal);

        let old = "{\"of\":\"options\",\"found\":\"old\"}\n{\"of\":\"batch\",\"ns\":[1]}\n";
        let head = "{\"measured\":\"it\",\"version\":1}\n";
        fs::write(&path, format!("{head}{old}")).expect("the file");
        let mut journal = Journal::resume(&path, "it").expect("a journal");
        journal.take_rounds("batch", 1);
        assert_eq!(journal.runs_in_file(), Runs::new(vec![RunRecord::of_options("old")]));
    }

    /// Goal: a crash at any byte loses the line that it cut and nothing else. Method: every
    /// length of a file, then one more round.
    #[test]
    fn a_line_that_was_cut_short_does_not_spoil_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("samples");
        let mut journal = Journal::create(&path, "it").expect("a journal");
        let head = fs::read(&path).expect("the file").len();
        (1..=3).for_each(|ns| journal.keep_round("batch", &[sample(ns, 0)]));
        drop(journal);
        let whole = fs::read(&path).expect("the file");
        for length in head..=whole.len() {
            fs::write(&path, &whole[..length]).expect("the file");
            let mut journal = Journal::resume(&path, "it").expect("a journal");
            journal.keep_round("batch", &[sample(9, 0)]);
            drop(journal);
            let mut journal = Journal::resume(&path, "it").expect("a journal");
            let complete = whole[..length].split(|&byte| byte == b'\n').count() - 1;
            let rounds = journal.take_rounds("batch", 1);
            assert_eq!(rounds.len(), complete, "{length}");
            assert_eq!(rounds.last(), Some(&vec![sample(9, 0)]));
        }
    }

    /// Goal: of two measurements into one journal the second is refused, and nothing is cut off.
    #[test]
    fn a_journal_that_is_written_is_not_gone_on_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("samples");
        let mut first = Journal::create(&path, "it").expect("a journal");
        first.keep_round("batch", &[sample(1, 0)]);
        let refused = Journal::resume(&path, "it").expect_err("it is in use");
        assert!(matches!(refused, JournalError::Locked), "{refused}");
        drop(first);
        let second = Journal::resume(&path, "it").expect("a journal");
        assert!(matches!(Journal::resume(&path, "it"), Err(JournalError::Locked)));
        drop(second);
    }

    #[test]
    fn another_measurement_and_other_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("samples");
        drop(Journal::create(&path, "reads").expect("a journal"));
        let refused = Journal::resume(&path, "writes").expect_err("another");
        assert!(matches!(refused, JournalError::OtherMeasurement { .. }), "{refused}");
        assert!(matches!(Journal::create(&path, "reads"), Err(JournalError::Io(_))));
        for text in ["", "\n", "name = 1\n", "{}\n", "\u{0}\u{1}"] {
            fs::write(&path, text).expect("the file");
            let refused = Journal::resume(&path, "reads").expect_err("no journal");
            assert!(matches!(refused, JournalError::NotAJournal), "{text:?}: {refused}");
            assert_eq!(fs::read(&path).expect("the file"), text.as_bytes(), "it is not ours");
        }
    }
}
