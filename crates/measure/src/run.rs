// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes the experiments that were asked for, one after the other, on one subject.
//!
//! What was measured before a stop is kept: the experiments before it, and of the one that
//! was stopped what has a sample.

use std::sync::atomic::AtomicBool;

use model::drive_file::MeasuredTable;
use model::{Duration, Time};
use rand::SeedableRng as _;
use rand_pcg::Pcg64;

use crate::drain::{Drain, Start};
use crate::experiment::Experiment;
use crate::places::Places;
use crate::profile::{ProfileParams, StartTimes};
use crate::rounds::{Measured, Progress, Rounds};
use crate::starvation::{self, Others};
use crate::subject::{Subject, SubjectError};
use crate::warning::{Skip, Warning};
use crate::{priority, record};

/// What the experiments gave.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) batch: Option<MeasuredTable>,
    pub(crate) drain: Option<MeasuredTable>,
    pub(crate) priority: Option<MeasuredTable>,
    pub(crate) starvation_max: Option<Duration>,
    /// The longest drains from each start.
    pub(crate) starts: Vec<StartTimes>,
    pub(crate) warnings: Vec<Warning>,
    /// The least number of samples of anything that was measured.
    pub(crate) samples: Option<u32>,
    pub(crate) is_cancelled: bool,
}

/// What does not change from one experiment to the next.
pub(crate) struct Run<'a> {
    pub(crate) params: &'a ProfileParams,
    pub(crate) places: Places,
    /// Whether the device is told which requests have priority.
    pub(crate) has_tags: bool,
    pub(crate) begun: Time,
    pub(crate) progress: &'a mut dyn FnMut(Progress),
    pub(crate) cancelled: &'a AtomicBool,
}

impl Run<'_> {
    /// Makes them all.
    pub(crate) fn make(&mut self, subject: &mut dyn Subject) -> Result<Found, SubjectError> {
        let mut found = Found::default();
        for experiment in Experiment::ALL {
            if !self.params.experiments.contains(&experiment) {
                continue;
            }
            if let Some(skip) = self.skip(experiment) {
                found.warnings.push(Warning::Skipped { experiment, skip });
                continue;
            }
            self.make_one(experiment, subject, &mut found)?;
        }
        Ok(found)
    }

    fn skip(&self, experiment: Experiment) -> Option<Skip> {
        match experiment {
            Experiment::Priority if !self.has_tags => Some(Skip::NoTags),
            Experiment::Starvation if self.params.depth < 2 => Some(Skip::Alone),
            _ => None,
        }
    }

    fn make_one(
        &mut self,
        experiment: Experiment,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        let (places, depth) = (self.places, self.params.depth);
        match experiment {
            Experiment::Batch => {
                let measured =
                    self.rounds(experiment, 1, subject, |subject, _, count, random| {
                        subject.serve(&places.different(count as usize, random))
                    })?;
                found.batch = found.table(self.params, experiment, 1, measured);
            }
            Experiment::Drain => {
                found.drain = self.drains(&Start::RANDOM, experiment, subject, found)?;
            }
            Experiment::DrainAdversary => {
                self.drains(&Start::ADVERSARIES, experiment, subject, found)?;
            }
            Experiment::Priority => {
                let measured =
                    self.rounds(experiment, 1, subject, |subject, _, count, random| {
                        priority::sample(subject, places, depth, count, random)
                    })?;
                found.priority = found.table(self.params, experiment, 1, measured);
            }
            Experiment::Starvation => self.starve(subject, found)?,
        }
        Ok(())
    }

    fn drains(
        &mut self,
        starts: &[Start],
        experiment: Experiment,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<Option<MeasuredTable>, SubjectError> {
        let drain = Drain { places: self.places, depth: self.params.depth };
        let ways = starts.len();
        let measured = self.rounds(experiment, ways, subject, |subject, way, q, random| {
            drain.sample(subject, starts[way], q, random)
        })?;
        for (way, &start) in starts.iter().enumerate() {
            let of_start = measured.times.iter().skip(way).step_by(ways);
            let longest = of_start.map_while(|times| times.iter().max().copied()).collect();
            found.starts.push(StartTimes { start, longest });
        }
        Ok(found.table(self.params, experiment, ways, measured))
    }

    /// Rounds of `ways` trials for each number of requests from 1 to K.
    fn rounds(
        &mut self,
        experiment: Experiment,
        ways: usize,
        subject: &mut dyn Subject,
        mut trial: impl FnMut(
            &mut dyn Subject,
            usize,
            u32,
            &mut Pcg64,
        ) -> Result<Duration, SubjectError>,
    ) -> Result<Measured, SubjectError> {
        let cells = self.params.depth as usize * ways;
        let counted = |subject: &mut dyn Subject, cell: usize, random: &mut Pcg64| {
            let count = u32::try_from(cell / ways + 1).expect("at most the depth");
            trial(subject, cell % ways, count, random)
        };
        self.cells(experiment, cells, subject, counted)
    }

    fn cells(
        &mut self,
        experiment: Experiment,
        cells: usize,
        subject: &mut dyn Subject,
        trial: impl FnMut(&mut dyn Subject, usize, &mut Pcg64) -> Result<Duration, SubjectError>,
    ) -> Result<Measured, SubjectError> {
        let rounds = Rounds { experiment, samples: self.params.samples, cells, begun: self.begun };
        let mut random = Pcg64::seed_from_u64(self.params.seed);
        rounds.measure(subject, &mut random, trial, self.progress, self.cancelled)
    }

    fn starve(&mut self, subject: &mut dyn Subject, found: &mut Found) -> Result<(), SubjectError> {
        let (places, depth) = (self.places, self.params.depth);
        let experiment = Experiment::Starvation;
        let measured =
            self.cells(experiment, Others::ALL.len(), subject, |subject, cell, random| {
                starvation::sample(subject, places, depth, Others::ALL[cell], random)
            })?;
        let count = measured.times.iter().map(Vec::len).sum::<usize>();
        let samples = u32::try_from(count).ok().filter(|&count| count > 0);
        found.note(self.params, experiment, depth, samples, measured.is_cancelled);
        found.starvation_max = measured.times.iter().flatten().max().copied();
        if found.starvation_max.is_some_and(|longest| longest >= starvation::ENDLESS) {
            found.starvation_max = None;
            found.warnings.push(Warning::Endless { waited: starvation::ENDLESS });
        }
        Ok(())
    }
}

impl Found {
    /// The table of an experiment, and what is to be said of it.
    fn table(
        &mut self,
        params: &ProfileParams,
        experiment: Experiment,
        ways: usize,
        measured: Measured,
    ) -> Option<MeasuredTable> {
        let is_cancelled = measured.is_cancelled;
        let table = record::table(params, ways, measured.times);
        let entries = table.as_ref().map_or(0, |(table, _)| table.table.batch_max());
        let samples = table.as_ref().map(|(_, samples)| *samples);
        self.note(params, experiment, entries, samples, is_cancelled);
        table.map(|(table, _)| table)
    }

    /// Counts the samples and says whether it was stopped.
    fn note(
        &mut self,
        params: &ProfileParams,
        experiment: Experiment,
        entries: u32,
        samples: Option<u32>,
        is_cancelled: bool,
    ) {
        self.samples = self.samples.into_iter().chain(samples).min();
        self.is_cancelled |= is_cancelled;
        let (asked, depth) = (params.samples, params.depth);
        self.warnings.extend(is_cancelled.then_some(match samples {
            Some(samples) => Warning::Cancelled { experiment, samples, asked, entries, depth },
            None => Warning::NotBegun { experiment },
        }));
    }
}
