// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes the experiments that were asked for, one after the other, on one subject.
//!
//! What was measured before a stop is kept: the experiments before it, and of the one that
//! was stopped what has a sample.

use std::collections::BTreeMap;

use rand_pcg::Pcg64;
use tidegate_model::drive_file::{FlowPlace, MeasuredTable, SingleTimes, StarvedKind, Throughput};
use tidegate_model::{BatchTable, Bytes, Duration, Op, Time};

use crate::drain::{self, Drain, Start};
use crate::experiment::Experiment;
use crate::finding::Finding;
use crate::flush::{self, FlushTimes};
use crate::held_up::Sample;
use crate::journal::Journal;
use crate::kind::Kind;
use crate::mixed::Composition;
use crate::places::Places;
use crate::profile::{ProfileParams, StartTimes};
use crate::rounds::{Followers, Measured, Rounds, Trial};
use crate::run_record::{Load, RunRecord, Runs};
use crate::starvation::{self, Others};
use crate::stripe::{self, Stripe};
use crate::structure::Structure;
use crate::subject::{Subject, SubjectError};
use crate::warning::{Entries, Skip, Warning};
use crate::{mixed, priority, record, single, throughput};

/// Seeds of kinds are farther apart than there are rounds of one.
const SEED_SHIFT: u32 = 40;

/// What the experiments gave.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) batch: Vec<MeasuredTable>,
    pub(crate) drain: Vec<MeasuredTable>,
    pub(crate) priority: Vec<MeasuredTable>,
    pub(crate) single: Vec<SingleTimes>,
    pub(crate) throughput: Vec<Throughput>,
    pub(crate) starvation_max: Option<Duration>,
    /// With which requests.
    pub(crate) starvation_of: Vec<StarvedKind>,
    /// What flushes took, by the kind of writes before them.
    pub(crate) flush: BTreeMap<String, FlushTimes>,
    /// Whether some request was not served at all.
    pub(crate) is_endless: bool,
    /// The longest time of each composition of a batch.
    pub(crate) mixed: Vec<(Composition, Duration)>,
    /// The longest drains from each start.
    pub(crate) starts: Vec<StartTimes>,
    /// What the device is made of.
    pub(crate) structure: Structure,
    /// How it spreads data over chips.
    pub(crate) stripe: Option<Stripe>,
    /// What the samples of each experiment tell beside.
    pub(crate) findings: Vec<Finding>,
    pub(crate) warnings: Vec<Warning>,
    /// The least number of samples of anything that was measured.
    pub(crate) samples: Option<u32>,
    pub(crate) is_cancelled: bool,
}

/// What does not change from one experiment to the next.
pub(crate) struct Run<'a> {
    pub(crate) params: &'a ProfileParams,
    pub(crate) capacity: Bytes,
    /// The smallest request.
    pub(crate) block: Bytes,
    /// Whether the device is told which requests have priority.
    pub(crate) has_tags: bool,
    pub(crate) begun: Time,
    /// With which options, when and where.
    pub(crate) record: RunRecord,
    pub(crate) followers: Followers<'a>,
}

impl Run<'_> {
    /// Makes them all.
    pub(crate) fn make(&mut self, subject: &mut dyn Subject) -> Result<Found, SubjectError> {
        let mut found = Found::default();
        if let Some(journal) = self.followers.journal.as_mut() {
            journal.begin(&self.record);
        }
        for (experiment, op) in self.steps() {
            if found.is_cancelled {
                found.warn_once(Warning::NotBegun { experiments: vec![experiment] });
            } else if let Some(skip) = skip(self.params, self.has_tags, experiment) {
                found.warn_once(Warning::Skipped { experiment, skip });
            } else {
                self.make_one(experiment, op, subject, &mut found)?;
            }
        }
        let left = self.followers.journal.as_ref().map(|journal| journal.left());
        let of = left.filter(|of| !of.is_empty() && !found.is_cancelled);
        found.warnings.extend(of.map(|of| Warning::RoundsLeft { of }));
        let failure = self.followers.journal.as_mut().and_then(|journal| journal.take_failure());
        found.warnings.extend(failure.map(|error| Warning::JournalFailed(error.to_string())));
        Ok(found)
    }

    /// What is made, in its order: all that only reads comes before the first write, for a
    /// device is not the same after it.
    fn steps(&self) -> Vec<(Experiment, Op)> {
        let chosen =
            || Experiment::ALL.into_iter().filter(|it| self.params.experiments.contains(it));
        let has = |op| self.params.kinds.iter().any(|kind| kind.op == op);
        let of = |op: Op| {
            chosen()
                .filter(move |it| !it.is_of_several() && *it != Experiment::Flush && has(op))
                .map(move |it| (it, op))
        };
        let is_structure = |it: &Experiment| it.is_of_several() && *it != Experiment::Mixed;
        let structure = chosen().filter(is_structure).map(|it| (it, Op::Read));
        let mixed = chosen().filter(|it| *it == Experiment::Mixed).map(|it| (it, Op::Write));
        let flush = chosen().filter(|it| *it == Experiment::Flush).map(|it| (it, Op::Write));
        of(Op::Read).chain(structure).chain(of(Op::Write)).chain(mixed).chain(flush).collect()
    }

    fn make_one(
        &mut self,
        experiment: Experiment,
        op: Op,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        match experiment {
            Experiment::Mixed => return self.mix(subject, found),
            Experiment::Rotation
            | Experiment::Overhead
            | Experiment::Zones
            | Experiment::SeekCurve => return self.look_inside(experiment, subject, found),
            Experiment::Stripe => return self.spread(subject, found),
            _ => (),
        }
        let kinds = match experiment {
            Experiment::Flush => flush::kinds(self.params),
            _ => self.params.kinds.clone(),
        };
        for kind in kinds.into_iter().filter(|kind| kind.op == op) {
            if !found.is_cancelled {
                self.make_of_kind(experiment, kind, subject, found)?;
            }
        }
        Ok(())
    }

    fn make_of_kind(
        &mut self,
        experiment: Experiment,
        kind: Kind,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        let (places, depth) = (self.places(kind), self.params.depth);
        match experiment {
            Experiment::Batch => {
                let rounds = self.rounds(experiment, kind, depth as usize);
                let measured = self.counts(rounds, 1, subject, |subject, _, count, random| {
                    subject.serve(&places.different(count as usize, random))
                })?;
                let table = found.table(rounds, 1, &measured);
                found.batch.extend(table);
            }
            Experiment::Single => self.serve_alone(kind, subject, found)?,
            Experiment::Drain => {
                let table = self.drains(&Start::RANDOM, experiment, kind, subject, found)?;
                found.drain.extend(table);
            }
            Experiment::DrainAdversary => {
                let table = self.drains(&Start::ADVERSARIES, experiment, kind, subject, found)?;
                found.raise_drains(table);
            }
            Experiment::Priority => {
                let rounds = self.rounds(experiment, kind, depth as usize);
                let measured = self.counts(rounds, 1, subject, |subject, _, count, random| {
                    priority::sample(subject, places, depth, count, random)
                })?;
                let table = found.table(rounds, 1, &measured);
                let table = table.map(|it| MeasuredTable { depth: Some(depth), ..it });
                found.priority.extend(table);
            }
            Experiment::Starvation => self.starve(kind, subject, found)?,
            Experiment::Flush => self.flush(kind, subject, found)?,
            Experiment::Throughput => self.flow(kind, subject, found)?,
            _ => unreachable!("it is not of one kind"),
        }
        Ok(())
    }

    fn drains(
        &mut self,
        starts: &[Start],
        experiment: Experiment,
        kind: Kind,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<Option<MeasuredTable>, SubjectError> {
        let flow = Drain { places: self.places(kind), depth: self.params.depth };
        let ways = starts.len();
        let own = self.rounds(experiment, kind, self.params.depth as usize * ways);
        let samples = match experiment {
            Experiment::DrainAdversary => drain::samples_of_adversaries(own.samples),
            _ => own.samples,
        };
        let rounds = Rounds { samples, ways, ..own };
        let measured = self.counts(rounds, ways, subject, |subject, way, q, random| {
            flow.sample(subject, starts[way], q, random)
        })?;
        for (way, &start) in starts.iter().enumerate() {
            let of_start = measured.cells.iter().skip(way).step_by(ways);
            let longest = of_start.map_while(|cell| longest(cell)).collect();
            found.starts.push(StartTimes { kind, start, longest });
        }
        Ok(found.table(rounds, ways, &measured))
    }

    fn serve_alone(
        &mut self,
        kind: Kind,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        let places = self.places(kind);
        let own = self.rounds(Experiment::Single, kind, 1);
        // Other places than those of batches of one: a memory would answer them.
        let rounds = Rounds { seed: !own.seed, ..own };
        let trial = |subject: &mut dyn Subject, _, random: &mut Pcg64| {
            let probe = places.anywhere(random);
            let took = subject.serve(&[probe])?;
            Ok(Trial { took, start: Some(probe.start.get()) })
        };
        let measured = rounds.measure(subject, trial, &mut self.followers)?;
        found.note(rounds, &measured, None);
        // Slow places are asked again by each run.
        self.followers.count_this_run();
        found.single.extend(single::times(kind, &measured.cells[0], subject)?);
        Ok(())
    }

    fn flow(
        &mut self,
        kind: Kind,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        let (places, depths) = (self.places(kind), throughput::depths(self.params.depth));
        let flows = FlowPlace::ALL.len();
        let rounds = Rounds {
            samples: throughput::stretches(self.params.samples),
            ways: flows,
            ..self.rounds(Experiment::Throughput, kind, depths.len() * flows)
        };
        let trial = |subject: &mut dyn Subject, cell: usize, random: &mut Pcg64| {
            let (place, depth) = (FlowPlace::ALL[cell % flows], depths[cell / flows]);
            throughput::sample(subject, places, place, depth, random)
        };
        let measured = rounds.measure(subject, trial, &mut self.followers)?;
        found.note(rounds, &measured, None);
        for (way, place) in FlowPlace::ALL.into_iter().enumerate() {
            let cells: Vec<_> = measured.cells.iter().skip(way).step_by(flows).collect();
            found.throughput.extend(throughput::table(kind, place, &depths, &cells));
        }
        Ok(())
    }

    /// What others did until the end.
    pub(crate) fn end(&mut self, load: Load) {
        self.record.load = load;
        if let Some(journal) = self.followers.journal.as_mut() {
            journal.keep_load(load);
        }
    }

    /// Those of which something was found.
    pub(crate) fn runs(&self) -> Runs {
        let alone = || Runs::new(vec![self.record.clone()]);
        self.followers.journal.as_deref().map_or_else(alone, Journal::runs_in_file)
    }

    fn mix(&mut self, subject: &mut dyn Subject, found: &mut Found) -> Result<(), SubjectError> {
        let params = self.params;
        let places: Vec<_> = params.kinds.iter().map(|&kind| self.places(kind)).collect();
        let compositions = mixed::compositions(params.kinds.len(), params.depth);
        let rounds = Rounds {
            kind: None,
            ..self.rounds(Experiment::Mixed, params.kinds[0], compositions.len())
        };
        let trial = |subject: &mut dyn Subject, cell: usize, random: &mut Pcg64| {
            mixed::sample(subject, &places, &compositions[cell], random)
        };
        let measured = rounds.measure(subject, trial, &mut self.followers)?;
        found.note(rounds, &measured, None);
        let longest = measured.cells.iter().map(|cell| longest(cell));
        let tried = compositions.into_iter().zip(longest);
        found
            .mixed
            .extend(tried.filter_map(|(composition, longest)| Some((composition, longest?))));
        Ok(())
    }

    /// How data is spread over chips; a disk that turns has none.
    fn spread(&mut self, subject: &mut dyn Subject, found: &mut Found) -> Result<(), SubjectError> {
        let experiment = Experiment::Stripe;
        if self.turns(subject, found)? {
            found.warnings.push(Warning::Skipped { experiment, skip: Skip::Turns });
            return Ok(());
        }
        if found.is_cancelled {
            found.warnings.push(Warning::NotBegun { experiments: vec![experiment] });
            return Ok(());
        }
        let depth = self.params.depth;
        // Of large writes the way to the device is full, which hides what its chips do.
        let writes = self.params.kinds.iter().copied().filter(|kind| kind.op == Op::Write);
        let writes = writes.min_by_key(|kind| kind.size);
        let reads = stripe::places(self.capacity);
        let places = (reads, writes.map(|kind| self.places(kind)));
        let mut made = Vec::new();
        // Reads beside writes come last, by themselves.
        for cells in [stripe::cells(reads, depth), stripe::beside_cells(depth, writes)] {
            let kind = writes.filter(|_| cells.contains(&stripe::Cell::BesideWrites));
            let rounds = Rounds {
                samples: stripe::samples(self.params.samples),
                ..self.rounds(experiment, kind.unwrap_or(reads.kind), cells.len())
            };
            let trial = |subject: &mut dyn Subject, cell: usize, random: &mut Pcg64| {
                stripe::sample(subject, cells[cell], places, depth, random)
            };
            if !cells.is_empty() && !found.is_cancelled {
                let measured = rounds.measure(subject, trial, &mut self.followers)?;
                found.note(rounds, &measured, None);
                made.extend(cells.into_iter().zip(measured.cells));
            }
        }
        found.stripe = stripe::found(&made, writes);
        Ok(())
    }

    fn starve(
        &mut self,
        kind: Kind,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        let (places, depth) = (self.places(kind), self.params.depth);
        let rounds = self.rounds(Experiment::Starvation, kind, Others::ALL.len());
        let trial = |subject: &mut dyn Subject, cell: usize, random: &mut Pcg64| {
            starvation::sample(subject, places, depth, Others::ALL[cell], random)
        };
        let measured = rounds.measure(subject, trial, &mut self.followers)?;
        found.note(rounds, &measured, None);
        let starved = measured.cells.iter().filter_map(|cell| longest(cell)).max();
        if starved.is_some_and(|longest| longest >= starvation::ENDLESS) {
            found.warnings.push(Warning::Endless { waited: starvation::ENDLESS });
            found.is_endless = true;
        }
        let known = found.starvation_max.max(starved);
        found.starvation_max = known.filter(|_| !found.is_endless);
        let Kind { op, size } = kind;
        found.starvation_of.extend(starved.map(|_| StarvedKind { op, size, depth: Some(depth) }));
        Ok(())
    }

    /// Rounds of `ways` trials for each number of requests from 1 to K.
    fn counts(
        &mut self,
        rounds: Rounds,
        ways: usize,
        subject: &mut dyn Subject,
        mut trial: impl FnMut(
            &mut dyn Subject,
            usize,
            u32,
            &mut Pcg64,
        ) -> Result<Duration, SubjectError>,
    ) -> Result<Measured, SubjectError> {
        let counted = |subject: &mut dyn Subject, cell: usize, random: &mut Pcg64| {
            let count = u32::try_from(cell / ways + 1).expect("at most the depth");
            trial(subject, cell % ways, count, random)
        };
        rounds.measure(subject, counted, &mut self.followers)
    }

    pub(crate) fn rounds(&self, experiment: Experiment, kind: Kind, cells: usize) -> Rounds {
        let ProfileParams { samples, seed, kinds, .. } = self.params;
        // Each kind has places of its own: a device may remember those that were just read. The
        // first has those that it has alone.
        let of_kind = kinds.iter().position(|known| *known == kind).unwrap_or(0);
        let seed = seed.wrapping_add(u64::try_from(of_kind).expect("few kinds") << SEED_SHIFT);
        let samples = *samples;
        Rounds { experiment, kind: Some(kind), samples, cells, ways: 1, seed, begun: self.begun }
    }

    pub(crate) fn places(&self, kind: Kind) -> Places {
        Places::of(self.capacity, kind)
    }
}

/// Why an experiment is not made.
pub(crate) fn skip(params: &ProfileParams, has_tags: bool, experiment: Experiment) -> Option<Skip> {
    match experiment {
        Experiment::Priority if !has_tags => Some(Skip::NoTags),
        Experiment::Starvation | Experiment::Mixed if params.depth < 2 => Some(Skip::Alone),
        Experiment::Flush if !params.may_write() => Some(Skip::MayNotWrite),
        Experiment::Mixed if params.kinds.len() < 2 => Some(Skip::OneKind),
        _ => None,
    }
}

fn longest(cell: &[Sample]) -> Option<Duration> {
    cell.iter().map(|sample| sample.took).max()
}

impl Found {
    /// The table of an experiment whose cells are numbers of requests, in so many ways each,
    /// and what is to be said of it.
    fn table(&mut self, rounds: Rounds, ways: usize, measured: &Measured) -> Option<MeasuredTable> {
        let kind = rounds.kind.expect("a table is about one kind");
        let table = record::table(kind, ways, &measured.cells);
        let asked = u32::try_from(rounds.cells / ways).expect("at most the depth");
        let entries = table.as_ref().map_or(0, |table| table.table.batch_max());
        self.note(rounds, measured, Some(Entries { entries, asked }));
        table
    }

    /// Whether nothing was found out.
    pub(crate) fn is_empty(&self) -> bool {
        let has_samples = self.findings.iter().any(|it| it.disturbance.samples > 0);
        let geometry = &self.structure.geometry;
        !has_samples && geometry.rotation.is_none() && self.structure.no_rotation.is_none()
    }

    /// What adversaries found refutes a table that is below it: the table holds the greatest of
    /// all starts. Its quantiles stay those of random places.
    fn raise_drains(&mut self, adversaries: Option<MeasuredTable>) {
        let Some(found) = adversaries else { return };
        let is_it = |known: &&mut MeasuredTable| (known.op, known.size) == (found.op, found.size);
        let Some(known) = self.drain.iter_mut().find(is_it) else { return };
        for (known, longer) in known.ns_max.iter_mut().zip(&found.ns_max) {
            *known = (*known).max(*longer);
        }
        let times: Vec<_> = known.ns_max.iter().copied().map(Duration::from_ns).collect();
        known.table = BatchTable::new(&times).expect("it has entries above zero");
    }

    fn warn_once(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Counts the samples, says whether it was stopped, and what the host did.
    pub(crate) fn note(&mut self, rounds: Rounds, measured: &Measured, entries: Option<Entries>) {
        let Rounds { experiment, samples: asked, .. } = rounds;
        let counts = measured.cells.iter().map(Vec::len).filter(|&count| count > 0);
        let least = counts.min().and_then(|count| u32::try_from(count).ok());
        if experiment.is_about_maxima() {
            self.samples = self.samples.into_iter().chain(least).min();
        }
        self.is_cancelled |= measured.is_cancelled;
        self.warnings.extend(measured.is_cancelled.then_some(match least {
            Some(samples) => Warning::Cancelled { experiment, samples, asked, entries },
            None => Warning::NotBegun { experiments: vec![experiment] },
        }));
        self.findings.push(Finding::of(&rounds, measured));
    }
}
