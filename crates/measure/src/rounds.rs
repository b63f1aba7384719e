// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order in which samples are taken.
//!
//! A round runs one trial of every cell (every batch size, or every number to drain from every
//! start), in random order. So drift during the measurement (temperature, other load, the drive's
//! own housekeeping) affects all cells alike, and a measurement that is stopped has samples of all.
//! The first round is a warm-up and does not count. The second is in ascending order, so that a
//! measurement that is stopped in it has a shorter table rather than one with gaps.
//!
//! The journal records each complete round. A resumed measurement warms up again and draws
//! different places.

use rand::SeedableRng as _;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use tidegate_model::drive_file::PlaceFamily;
use tidegate_model::{Duration, Time};

use crate::experiment::Experiment;
use crate::flow::Flow;
use crate::held_up::Sample;
use crate::journal::Journal;
use crate::kind::Kind;
use crate::run_control::{Progress, RunControl};
use crate::subject::{Subject, TrialResult};

/// The shortest recorded time of a trial, for a clock too coarse to show a shorter one.
const SHORTEST: Duration = Duration::from_ns(1);

/// The number of different trials of an experiment, and the number of samples of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    /// The number of samples of each cell.
    pub(crate) samples: u32,
    /// The number of different trials in a round. Cells are ordered from the cheapest.
    pub(crate) cells: usize,
    /// The number of cells of each entry of the table: cell c belongs to entry `c / ways`.
    pub(crate) ways: usize,
}

impl Grid {
    /// Returns a grid with one cell for each number of requests from 1 to `depth`.
    pub(crate) fn counts(samples: u32, depth: u32) -> Self {
        Self { samples, cells: depth as usize, ways: 1 }
    }

    /// Returns the number of trials in all rounds that count.
    pub(crate) fn trials(self) -> u64 {
        u64::from(self.samples) * u64::try_from(self.cells).expect("a count fits")
    }
}

/// The trials of an experiment with one kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// The experiment.
    pub(crate) experiment: Experiment,
    /// The kind of its requests; `None` if it uses several kinds.
    pub(crate) kind: Option<Kind>,
    /// The numbers of cells and samples.
    pub(crate) grid: Grid,
    /// The seed of all places and orders.
    pub(crate) seed: u64,
    /// The time at which the first experiment began.
    pub(crate) begun: Time,
    /// The part of the experiment to which these rounds belong.
    pub(crate) part: Part,
}

/// One of several parts of an experiment that are run one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    phase: Phase,
    /// The families of places, one bit each.
    families: u8,
    /// The number of trials in earlier parts, and in all parts; 0 for a whole experiment.
    before: u64,
    total: u64,
}

/// The parts of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The whole experiment.
    Whole,
    /// A few samples for each family of places.
    Pilot,
    /// More samples for the families that are not far below the longest.
    Main,
    /// A search for the longest time.
    Climb,
}

impl Phase {
    /// Returns the part's seed. All parts have different seeds, so they draw different places.
    pub(crate) const fn seed(self) -> u64 {
        match self {
            Self::Whole => 0,
            Self::Pilot => 1 << 32,
            Self::Main => 2 << 32,
            Self::Climb => 3 << 32,
        }
    }
}

impl Part {
    /// The only part of an experiment that is run as a whole.
    pub(crate) const WHOLE: Self = Self { phase: Phase::Whole, families: 0, before: 0, total: 0 };

    /// Returns a part that measures these families, after `before` of `total` trials.
    pub(crate) fn of(phase: Phase, families: &[PlaceFamily], before: u64, total: u64) -> Self {
        let bit = |family| PlaceFamily::ALL.iter().position(|known| *known == family).unwrap_or(0);
        let families = families.iter().fold(0, |bits, &family| bits | 1 << bit(family));
        Self { phase, families, before, total }
    }

    /// Returns the suffix of the part's name in the journal. It contains the families, because
    /// rounds with other families cannot be resumed.
    fn name(self) -> String {
        let has = |index: &usize| self.families & (1 << index) != 0;
        let names = || {
            let names = PlaceFamily::ALL.iter().enumerate().filter(|(index, _)| has(index));
            names.map(|(_, family)| family.name()).collect::<Vec<_>>().join(", ")
        };
        match self.phase {
            Phase::Whole => String::new(),
            Phase::Pilot => format!(" (pilot: {})", names()),
            Phase::Main => format!(" (main: {})", names()),
            Phase::Climb => " (climbed)".to_owned(),
        }
    }
}

/// The samples of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measured {
    /// The samples of each cell, in the order in which they were taken.
    pub(crate) cells: Vec<Vec<Sample>>,
    /// Whether the experiment was stopped early.
    pub(crate) is_cancelled: bool,
    /// Whether a hypervisor takes time from the host.
    pub(crate) has_steal: bool,
}

/// The result of one trial: a time, and the place if the trial has a single request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trial {
    /// The time from the first submission to the last completion.
    pub(crate) took: Duration,
    /// The first sector of the request; `None` if there are several requests.
    pub(crate) start: Option<u64>,
}

impl From<Duration> for Trial {
    fn from(took: Duration) -> Self {
        Self { took, start: None }
    }
}

impl Measured {
    /// Returns the longest time of each cell; `None` where a cell has no sample.
    pub(crate) fn longest(&self) -> impl Iterator<Item = Option<Duration>> {
        self.cells.iter().map(|cell| cell.iter().map(|sample| sample.took).max())
    }
}

impl Rounds {
    /// Runs rounds until every cell has enough samples or the caller cancels. `trial` takes one
    /// sample of a cell and leaves the subject idle.
    pub(crate) fn measure<T: Into<Trial>>(
        &self,
        subject: &mut dyn Subject,
        mut trial: impl FnMut(&mut Flow<'_>, usize) -> TrialResult<T>,
        control: &mut RunControl<'_>,
    ) -> TrialResult<Measured> {
        let name = self.name(control);
        let earlier = control.journal.take_rounds(&name, self.grid.cells);
        let mut random = self.random(earlier.len());
        let mut measured = self.with_earlier(&earlier, subject.has_steal());
        let mut order: Vec<usize> = (0..self.grid.cells).collect();
        let mut told = self.progress(earlier.len());
        // The first round of each run warms up.
        let mut is_counted = false;
        while measured.cells.iter().any(|cell| cell.len() < self.grid.samples as usize) {
            if is_counted && measured.cells.iter().all(Vec::is_empty) {
                order.sort_unstable();
            } else {
                order.shuffle(&mut random);
            }
            for &cell in &order {
                if control.is_cancelled() {
                    measured.is_cancelled = true;
                    return Ok(measured);
                }
                let sample = one(subject, &mut random, |flow| trial(flow, cell))?;
                if is_counted {
                    control.journal.count_this_run();
                    measured.cells[cell].push(sample);
                    told.done += 1;
                }
                told.elapsed = subject.now().since(self.begun);
                (control.progress)(told);
            }
            if is_counted {
                keep(&name, &measured, subject, control.journal);
            }
            is_counted = true;
        }
        Ok(measured)
    }

    /// Returns the name of these rounds in the journal.
    fn name(&self, control: &RunControl<'_>) -> String {
        let of = self.kind.map_or_else(|| join(control.kinds), |kind| kind.to_string());
        format!("{} of {of}{}", self.experiment.name(), self.part.name())
    }

    /// Returns a generator that draws different places than the runs that left `earlier` rounds.
    fn random(&self, earlier: usize) -> Pcg64 {
        let earlier = u64::try_from(earlier).expect("a number of rounds fits");
        Pcg64::seed_from_u64(self.seed.wrapping_add(earlier))
    }

    fn with_earlier(&self, earlier: &[Vec<Sample>], has_steal: bool) -> Measured {
        let of_cell = |cell| earlier.iter().map(move |round: &Vec<Sample>| round[cell]);
        let cells = (0..self.grid.cells).map(|cell| of_cell(cell).collect()).collect();
        Measured { cells, is_cancelled: false, has_steal }
    }

    /// Returns the progress of the experiment after `earlier` rounds.
    pub(crate) fn progress(&self, earlier: usize) -> Progress {
        let cells = u64::try_from(self.grid.cells).expect("a number of cells fits");
        Progress {
            experiment: self.experiment,
            kind: self.kind,
            done: self.part.before
                + cells * u64::try_from(earlier).expect("a number of rounds fits"),
            total: self.grid.trials().max(self.part.total),
            elapsed: Duration::ZERO,
        }
    }
}

/// Records the last round in the journal and, from time to time, the load of other programs.
fn keep(name: &str, measured: &Measured, subject: &dyn Subject, journal: &mut Journal) {
    let round: Vec<Sample> =
        measured.cells.iter().filter_map(|cell| cell.last().copied()).collect();
    journal.keep_round(name, &round);
    if let Some(load) = journal.is_load_due().then(|| subject.load()).flatten() {
        journal.keep_load(load);
    }
}

fn join(kinds: &[Kind]) -> String {
    kinds.iter().map(Kind::to_string).collect::<Vec<_>>().join(", ")
}

/// Runs a trial, and measures how long the host held it up.
fn one<T: Into<Trial>>(
    subject: &mut dyn Subject,
    random: &mut Pcg64,
    trial: impl FnOnce(&mut Flow<'_>) -> TrialResult<T>,
) -> TrialResult<Sample> {
    let before = subject.held_up();
    let Trial { took, start } = trial(&mut Flow::on(subject, random))?.into();
    let held_up = subject.held_up().checked_sub(before).unwrap_or(Duration::ZERO);
    Ok(Sample::new(took.max(SHORTEST), held_up, start))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use crate::places::Places;
    use crate::subject::Probe;
    use tidegate_model::{Bytes, Lba, Op, Tag};

    use super::*;

    /// A subject that takes one millisecond for each request, and records the requests.
    #[derive(Default)]
    struct Notebook {
        batches: Vec<Vec<Probe>>,
        now: Time,
    }

    impl Subject for Notebook {
        fn send(&mut self, probes: &[Probe], _tag: Tag) -> TrialResult<Time> {
            self.batches.push(probes.to_vec());
            Ok(self.now)
        }

        fn wait(&mut self, _returned: &mut Vec<Lba>) -> TrialResult {
            unreachable!("batches are drained")
        }

        fn drain(&mut self) -> TrialResult<Time> {
            let requests = self.batches.last().map_or(0, Vec::len);
            self.now += Duration::from_ms(1) * u64::try_from(requests).expect("few");
            Ok(self.now)
        }

        fn flush(&mut self) -> TrialResult<Duration> {
            unreachable!("nothing is flushed")
        }

        fn now(&self) -> Time {
            self.now
        }
    }

    const ROUNDS: Rounds = Rounds {
        experiment: Experiment::BATCH,
        kind: None,
        grid: Grid { samples: 5, cells: 4, ways: 1 },
        seed: 0,
        begun: Time::ZERO,
        part: Part::WHOLE,
    };
    const PLACES: Places =
        Places { kind: Kind { op: Op::Read, size: Bytes::from_kib(64) }, count: 10 };

    fn run_until(
        seed: u64,
        mut progress: impl FnMut(Progress),
        cancelled: &AtomicBool,
    ) -> (Notebook, Measured) {
        let mut notebook = Notebook::default();
        let serve = |flow: &mut Flow<'_>, cell| {
            let batch = PLACES.different(cell + 1, flow.random);
            flow.serve(&batch)
        };
        let journal = &mut Journal::unwritten();
        let mut control = RunControl { progress: &mut progress, cancelled, kinds: &[], journal };
        let rounds = Rounds { seed, ..ROUNDS };
        let measured = rounds.measure(&mut notebook, serve, &mut control);
        (notebook, measured.expect("a notebook has no faults"))
    }

    fn run(seed: u64, progress: impl FnMut(Progress)) -> (Notebook, Measured) {
        run_until(seed, progress, &AtomicBool::new(false))
    }

    #[test]
    fn every_round_has_every_batch_once_and_the_first_does_not_count() {
        let (notebook, measured) = run(1, |_| ());
        assert_eq!(notebook.batches.len(), 6 * 4);
        for round in notebook.batches.chunks(4) {
            let mut sizes: Vec<_> = round.iter().map(Vec::len).collect();
            sizes.sort_unstable();
            assert_eq!(sizes, [1, 2, 3, 4]);
        }
        assert!(measured.cells.iter().all(|cell| cell.len() == 5));
        assert!(measured.cells[2].iter().all(|sample| sample.took == Duration::from_ms(3)));
        assert!(!measured.is_cancelled);
    }

    /// Goal: a stop within the first counted round leaves b(1) to b(m). Method: checks the orders
    /// of the rounds for one seed; the other rounds must not all ascend.
    #[test]
    fn first_counted_round_goes_up_and_the_others_are_shuffled() {
        let (notebook, _) = run(1, |_| ());
        let sizes: Vec<_> = notebook.batches.iter().map(Vec::len).collect();
        let rounds: Vec<_> = sizes.chunks(4).collect();
        assert_eq!(rounds[1], [1, 2, 3, 4]);
        assert!(rounds[2..].iter().any(|round| *round != [1, 2, 3, 4]), "{rounds:?}");
    }

    #[test]
    fn places_of_a_batch_differ_and_lie_on_multiples_of_the_size() {
        let (notebook, _) = run(2, |_| ());
        for batch in &notebook.batches {
            let mut places: Vec<_> = batch.iter().map(|probe| probe.start.get()).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), batch.len());
            assert!(places.iter().all(|place| place.is_multiple_of(128) && place / 128 < 10));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_batches_and_another_others() {
        assert_eq!(run(3, |_| ()).0.batches, run(3, |_| ()).0.batches);
        assert_ne!(run(3, |_| ()).0.batches, run(4, |_| ()).0.batches);
    }

    #[test]
    fn progress_counts_what_is_counted() {
        let mut told = Vec::new();
        run(5, |progress| told.push(progress));
        assert_eq!(told[3].done, 0);
        let elapsed = Duration::from_ms(6 * 10);
        assert_eq!(told.last(), Some(&Progress { done: 20, total: 20, elapsed, ..told[0] }));
    }

    #[test]
    fn what_was_measured_before_a_stop_is_kept() {
        let cancelled = AtomicBool::new(false);
        let stop = |progress: Progress| cancelled.store(progress.done >= 10, Ordering::Relaxed);
        let (_, measured) = run_until(6, stop, &cancelled);
        assert!(measured.is_cancelled);
        let counts: Vec<_> = measured.cells.iter().map(Vec::len).collect();
        assert_eq!(counts.iter().sum::<usize>(), 10);
        assert!(counts.iter().all(|&count| (2..=3).contains(&count)), "{counts:?}");
    }
}
