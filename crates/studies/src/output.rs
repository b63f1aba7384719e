// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes results into a new folder: JSON, CSV and figures for each study, and one list of
//! verdicts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tidegate_platform::{FileFault, NewFile};

use crate::cell::Cell;
use crate::engine::StudyResult;
use crate::expectation::ExpectationResult;
use crate::fact::FactResult;
use crate::figure;
use crate::row::Row;

/// The reason why results cannot be written to a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputFault {
    /// The folder is not empty.
    #[error("{} is not empty; existing results are never overwritten", .0.display())]
    NotEmpty(PathBuf),
    /// The folder cannot be created or read.
    #[error("cannot use {}: {}", .0.display(), .1)]
    Unusable(PathBuf, std::io::Error),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileFault),
    /// A figure cannot be drawn.
    #[error("figure `{figure}` of `{study}`: {message}")]
    Figure {
        /// The study's name.
        study: String,
        /// The figure's name.
        figure: String,
        /// The reason.
        message: String,
    },
}

impl OutputFault {
    /// Returns advice for the user.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotEmpty(..) => "name a new folder",
            Self::Unusable(..) => "name a folder that can be made and written",
            Self::File(fault) => fault.help(),
            Self::Figure { .. } => "docs/reference/studies.md describes figures",
        }
    }
}

/// A folder to which results are written.
#[derive(Debug)]
pub struct Outputs {
    folder: PathBuf,
}

/// The results of one study, as programs read them.
#[derive(Serialize)]
struct StudyFile<'a> {
    format: &'static str,
    version: u32,
    tidegate: String,
    study: &'a str,
    title: &'a str,
    items: &'a [String],
    is_quick: bool,
    points_left_out: usize,
    faults: &'a [String],
    facts: &'a [FactResult],
    expectations: &'a [ExpectationResult],
    grids: BTreeMap<&'a str, Vec<BTreeMap<&'a str, Option<&'a Cell>>>>,
}

impl Outputs {
    /// Creates the folder; refuses one that exists and is not empty.
    ///
    /// # Errors
    /// [`OutputFault`].
    pub fn prepare(folder: &Path) -> Result<Self, OutputFault> {
        let unusable = |error| OutputFault::Unusable(folder.to_owned(), error);
        fs::create_dir_all(folder).map_err(unusable)?;
        if fs::read_dir(folder).map_err(unusable)?.next().is_some() {
            return Err(OutputFault::NotEmpty(folder.to_owned()));
        }
        Ok(Self { folder: folder.to_owned() })
    }

    /// Writes one list of all verdicts, and the results of each study.
    ///
    /// # Errors
    /// [`OutputFault`]; files that were written before the fault remain.
    ///
    /// # Panics
    /// Never: results are plain data.
    pub fn write(&self, results: &[StudyResult<'_>], is_quick: bool) -> Result<(), OutputFault> {
        let facts = results
            .iter()
            .flat_map(|it| it.facts.iter().map(move |fact| (it.study.name.as_str(), fact)));
        let header = ["study", "at", "says", "published", "ours", "fitted", "verdict", "reason"];
        let row = |(study, fact): (&str, &FactResult)| {
            let text = |it: &Option<String>| it.clone().unwrap_or_default();
            let [published, ours, reason] = [&fact.published, &fact.ours, &fact.reason].map(text);
            let (fitted, verdict) = (fact.is_fitted.to_string(), fact.verdict.words().to_owned());
            vec![
                study.to_owned(),
                fact.at.clone(),
                fact.says.clone(),
                published,
                ours,
                fitted,
                verdict,
                reason,
            ]
        };
        write(&self.folder.join("facts.csv"), &csv_of(&header, facts.map(row)))?;
        results.iter().try_for_each(|result| self.write_study(result, is_quick))
    }

    fn write_study(&self, result: &StudyResult<'_>, is_quick: bool) -> Result<(), OutputFault> {
        let study = result.study;
        let folder = self.folder.join(&study.name);
        fs::create_dir(&folder).map_err(|error| OutputFault::Unusable(folder.clone(), error))?;
        let text =
            serde_json::to_string_pretty(&StudyFile::of(result, is_quick)).expect("plain data");
        write(&folder.join("result.json"), &(text + "\n"))?;
        for (name, rows) in &result.results {
            write(&folder.join(format!("{name}.csv")), &csv_of_rows(rows))?;
        }
        for table in result.tables() {
            let path = |ending: &str| folder.join(format!("{}.{ending}", table.file));
            let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
            write(&path("csv"), &csv_of(&header, table.rows.iter().cloned()))?;
            write(&path("md"), &table.markdown())?;
        }
        for file in &study.file.figure {
            // An interrupted grid may have no point.
            if result.results[&file.grid].is_empty() {
                continue;
            }
            let drawn = figure::draw(&study.name, file, &result.results);
            let svg = drawn.map_err(|message| OutputFault::Figure {
                study: study.name.clone(),
                figure: file.file.clone(),
                message,
            })?;
            write(&folder.join(format!("{}.svg", file.file)), &svg)?;
        }
        Ok(())
    }
}

impl<'a> StudyFile<'a> {
    fn of(result: &'a StudyResult<'_>, is_quick: bool) -> Self {
        let study = result.study;
        let all = |row: &'a Row| {
            let axes = row.point.iter().map(|(name, cell)| (name.as_str(), Some(cell)));
            let measures = row.measures.iter().map(|(name, cell)| (name.as_str(), cell.as_ref()));
            axes.chain(measures).collect()
        };
        Self {
            format: "tidegate-study",
            version: 1,
            tidegate: tidegate_commands::version(),
            study: &study.name,
            title: study.title(),
            items: study.items(),
            is_quick,
            points_left_out: result.left_out,
            faults: &result.faults,
            facts: &result.facts,
            expectations: &result.expectations,
            grids: result
                .results
                .iter()
                .map(|(name, rows)| (name.as_str(), rows.iter().map(all).collect()))
                .collect(),
        }
    }
}

/// Returns the rows of a grid as CSV. Lists are left out, because the JSON file contains them.
fn csv_of_rows(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let is_list =
        |name: &&String| rows.iter().any(|row| matches!(row.get(name), Some(Cell::List(_))));
    let names: Vec<&String> =
        first.point.keys().chain(first.measures.keys()).filter(|name| !is_list(name)).collect();
    let header: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let cell = |row: &Row, name: &str| row.get(name).map(ToString::to_string).unwrap_or_default();
    csv_of(&header, rows.iter().map(|row| names.iter().map(|name| cell(row, name)).collect()))
}

fn csv_of(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).expect("memory takes everything");
    for row in rows {
        writer.write_record(row).expect("as many cells as titles");
    }
    String::from_utf8(writer.into_inner().expect("memory takes everything")).expect("made of texts")
}

fn write(path: &Path, text: &str) -> Result<(), OutputFault> {
    Ok(NewFile::prepare(path)?.write(text)?)
}
