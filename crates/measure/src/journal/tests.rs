// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests that a journal keeps complete lines across crashes and refuses other measurements.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tidegate_device::load::Completed;
use tidegate_model::Duration;

use super::{Journal, JournalError};
use crate::held_up::Sample;
use crate::load::Load;
use crate::run_record::{RunRecord, Runs};

fn sample(ns: u64, held_up: u64) -> Sample {
    let of = Duration::from_ns;
    Sample { took: of(ns), held_up: of(held_up), start: None }
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("samples");
    (folder, path)
}

fn created(path: &Path) -> Journal {
    Journal::create(path, "it").expect("a journal")
}

fn resumed(path: &Path) -> Journal {
    Journal::resume(path, "it").expect("a journal")
}

#[test]
fn what_was_kept_is_there_when_it_goes_on() {
    let (_folder, path) = folder();
    let rounds = [vec![sample(1, 0), sample(2, 0)], vec![sample(3, 1), sample(4, 0)]];
    let mut journal = created(&path);
    for round in &rounds {
        journal.keep_round("batch", round);
    }
    journal.keep_found("rotation", &7_u32);
    drop(journal);
    let mut journal = resumed(&path);
    assert_eq!(journal.found::<u32>("rotation"), Some(7));
    assert_eq!(journal.take_rounds("batch", 2), rounds);
    assert_eq!(journal.take_rounds("drain", 2), [[]; 0]);
}

/// Goal: a run is reported if its rounds are in the file, even if it was killed; a run that
/// measured nothing is not. Method: a run with rounds and load that simply ends; a run that resumes
/// and only takes these rounds; a run that also measures; and an options line in the format of
/// earlier versions.
#[test]
fn a_run_is_told_of_where_its_rounds_are_in_the_file() {
    let (_folder, path) = folder();
    let load = Load::new(None, Some(Completed { reads: 9, writes: 2 }));
    let mut journal = created(&path);
    let host = vec!["no real-time scheduling".to_owned()];
    let is_real_time = Some(false);
    let first = RunRecord { host, is_real_time, ..RunRecord::of_options("first") };
    journal.begin(first.clone());
    journal.keep_round("batch", &[sample(1, 0)]);
    journal.keep_load(Load::default());
    assert!(!journal.is_load_due());
    journal.keep_load(load);
    let killed = RunRecord { load, ..first };
    drop(journal);

    let mut journal = resumed(&path);
    journal.begin(RunRecord::of_options("second"));
    assert_eq!(journal.take_rounds("batch", 1).len(), 1);
    assert_eq!(journal.runs_in_file(), Runs::new(vec![killed.clone()]));
    let third = RunRecord::of_options("third");
    journal.begin(third.clone());
    journal.count_this_run();
    assert_eq!(journal.runs_in_file(), Runs::new(vec![killed, third]));
    drop(journal);

    let old = "{\"of\":\"options\",\"found\":\"old\"}\n{\"of\":\"batch\",\"ns\":[1]}\n";
    let head = "{\"measured\":\"it\",\"version\":1}\n";
    fs::write(&path, format!("{head}{old}")).expect("the file");
    let mut journal = resumed(&path);
    journal.take_rounds("batch", 1);
    assert_eq!(journal.runs_in_file(), Runs::new(vec![RunRecord::of_options("old")]));
}

/// Goal: a crash at any byte loses only the line that it cut. Method: cuts a file at every length,
/// then appends one more round.
#[test]
fn a_line_that_was_cut_short_does_not_spoil_the_next() {
    let (_folder, path) = folder();
    let mut journal = created(&path);
    let head = fs::read(&path).expect("the file").len();
    (1..=3).for_each(|ns| journal.keep_round("batch", &[sample(ns, 0)]));
    drop(journal);
    let whole = fs::read(&path).expect("the file");
    for length in head..=whole.len() {
        fs::write(&path, &whole[..length]).expect("the file");
        let mut journal = resumed(&path);
        journal.keep_round("batch", &[sample(9, 0)]);
        drop(journal);
        let mut journal = resumed(&path);
        let complete = whole[..length].split(|&byte| byte == b'\n').count() - 1;
        let rounds = journal.take_rounds("batch", 1);
        assert_eq!(rounds.len(), complete, "{length}");
        assert_eq!(rounds.last(), Some(&vec![sample(9, 0)]));
    }
}

/// Goal: if two measurements use one journal, the second is refused, and nothing is cut off.
#[test]
fn a_journal_that_is_written_is_not_gone_on_with() {
    let (_folder, path) = folder();
    let mut first = created(&path);
    first.keep_round("batch", &[sample(1, 0)]);
    let refused = Journal::resume(&path, "it").expect_err("it is in use");
    assert!(matches!(refused, JournalError::Locked), "{refused}");
    drop(first);
    let second = resumed(&path);
    assert!(matches!(Journal::resume(&path, "it"), Err(JournalError::Locked)));
    drop(second);
}

#[test]
fn another_measurement_and_other_files_are_refused() {
    let (_folder, path) = folder();
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
