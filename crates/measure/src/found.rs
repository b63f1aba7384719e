// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The results of the experiments so far: the known parts of the drive file, and remarks about it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{DriveFile, DriveKind};
use tidegate_stats::independence::Dependence;

use crate::experiment::Experiment;
use crate::finding::Finding;
use crate::geometry::{Geometry, NoRotation};
use crate::params::ProfileParams;
use crate::rounds::{Measured, Rounds};
use crate::start::StartTimes;
use crate::table;
use crate::warning::{Entries, Warning};

/// The results of the experiments so far.
#[derive(Debug)]
pub(crate) struct Found {
    /// The drive file. Each experiment fills its own sections; costs, mechanics and identity come
    /// at the end.
    pub(crate) file: DriveFile,
    /// The longest drains from each start.
    pub(crate) starts: Vec<StartTimes>,
    /// The geometry of a rotating disk.
    pub(crate) geometry: Geometry,
    /// The reason why the device is not a rotating disk, if it is not.
    pub(crate) no_rotation: Option<NoRotation>,
    /// The findings from the experiments' samples beyond their tables.
    pub(crate) findings: Vec<Finding>,
    /// Warnings for readers of the drive file.
    pub(crate) warnings: Vec<Warning>,
    /// The smallest number of samples of all experiments about longest times.
    pub(crate) samples: Option<u32>,
    /// Whether the caller stopped the measurement.
    pub(crate) is_cancelled: bool,
}

impl Found {
    /// Starts without any results.
    pub(crate) fn new(params: &ProfileParams) -> Self {
        Self {
            file: DriveFile::new(&*params.name, DriveKind::Recorded, params.depth),
            starts: Vec::new(),
            geometry: Geometry::default(),
            no_rotation: None,
            findings: Vec::new(),
            warnings: Vec::new(),
            samples: None,
            is_cancelled: false,
        }
    }

    /// Returns whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        let has_samples = self.findings.iter().any(|it| it.disturbance.samples > 0);
        !has_samples && !self.is_rotation_known()
    }

    /// Returns whether an experiment has found that the medium turns, or that it does not.
    pub(crate) fn is_rotation_known(&self) -> bool {
        self.geometry.rotation.is_some() || self.no_rotation.is_some()
    }

    /// Counts the samples and returns their table. The cells of `rounds` are numbers of requests
    /// from 1 up, each with all its starts.
    pub(crate) fn table(&mut self, rounds: &Rounds, measured: &Measured) -> Option<MeasuredTable> {
        let kind = rounds.kind.expect("a table is about one kind");
        let table = table::of(kind, rounds.grid.ways, &measured.cells);
        let asked = rounds.grid.cells / rounds.grid.ways;
        let asked = u32::try_from(asked).expect("at most the depth");
        let entries = table.as_ref().map_or(0, |table| table.table.batch_max());
        self.count(rounds, measured, Some(Entries { entries, asked }));
        let worst = self.findings.last().and_then(|finding| finding.independence.worst());
        let samples_effective = worst.map(Dependence::effective);
        table.map(|table| MeasuredTable { samples_effective, ..table })
    }

    /// Counts the samples, and notes the findings from them beyond their table.
    pub(crate) fn note(&mut self, rounds: &Rounds, measured: &Measured) {
        self.count(rounds, measured, None);
    }

    /// Counts the samples and notes a stop by the caller, without any other findings.
    pub(crate) fn note_stop(&mut self, rounds: &Rounds, measured: &Measured) {
        self.count_samples(rounds, measured, None);
    }

    fn count(&mut self, rounds: &Rounds, measured: &Measured, entries: Option<Entries>) {
        self.count_samples(rounds, measured, entries);
        self.findings.push(Finding::of(rounds, measured));
    }

    fn count_samples(&mut self, rounds: &Rounds, measured: &Measured, entries: Option<Entries>) {
        let (experiment, asked) = (rounds.experiment, rounds.grid.samples);
        let counts = measured.cells.iter().map(Vec::len).filter(|&count| count > 0);
        let least = counts.min().and_then(|count| u32::try_from(count).ok());
        if experiment.facts().is_about_maxima {
            self.samples = self.samples.into_iter().chain(least).min();
        }
        self.is_cancelled |= measured.is_cancelled;
        self.warnings.extend(measured.is_cancelled.then_some(match least {
            Some(samples) => Warning::Cancelled { experiment, samples, asked, entries },
            None => Warning::NotBegun { experiments: vec![experiment] },
        }));
    }

    /// Notes that the caller stopped an experiment before it had a result.
    pub(crate) fn stop(&mut self, experiment: Experiment) {
        self.is_cancelled = true;
        self.warnings.push(Warning::NotBegun { experiments: vec![experiment] });
    }

    /// Adds a warning unless it is already there.
    pub(crate) fn warn_once(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Writes a part of `[fit]` and replaces an earlier version; leaves out values that TOML cannot
    /// represent.
    pub(crate) fn fit(&mut self, name: &str, part: &impl Serialize) {
        if let Ok(part) = toml::Value::try_from(part) {
            self.file.fit.get_or_insert_default().insert(name.to_owned(), part);
        }
    }

    /// Reads a part of `[fit]` that an experiment wrote.
    pub(crate) fn fitted<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.file.fit.as_ref()?.get(name)?.clone().try_into().ok()
    }
}
