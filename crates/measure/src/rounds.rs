// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order in which samples are taken.
//!
//! A round tries every cell (every batch size, every number to drain from every start) once,
//! in an order of its own: what drifts during the measurement (temperature, other load, the
//! drive's own housekeeping) falls on all alike, and one that is stopped has samples of all. The first round
//! warms up and is not counted. The second goes up from 1: stopped within it, there is a
//! shorter table, and not one with gaps.

use std::sync::atomic::{AtomicBool, Ordering};

use model::{Duration, Time};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use crate::experiment::Experiment;
use crate::subject::{Subject, SubjectError};

/// A clock too coarse to see a batch does not make it free.
const SHORTEST: Duration = Duration::from_ns(1);

/// The rounds before this one warm up.
const FIRST_COUNTED: u32 = 1;

/// How far an experiment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Which.
    pub experiment: Experiment,
    /// Trials made.
    pub done: u64,
    /// Trials to be made.
    pub total: u64,
    /// How long the measurement has lasted, what warmed up and earlier experiments included;
    /// of a simulated drive in its virtual time.
    pub elapsed: Duration,
}

/// How often what is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// What is measured.
    pub(crate) experiment: Experiment,
    /// Samples of each cell.
    pub(crate) samples: u32,
    /// How many different trials a round has, the cheapest first.
    pub(crate) cells: usize,
    /// When the first experiment began.
    pub(crate) begun: Time,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Entry c: times of the trials of cell c, in the order they were taken.
    pub(crate) times: Vec<Vec<Duration>>,
    /// Whether it was stopped before the end.
    pub(crate) is_cancelled: bool,
}

impl Rounds {
    /// Measures round by round, until done or `cancelled`. `trial` takes one sample of a
    /// cell and leaves the subject idle.
    pub(crate) fn measure(
        &self,
        subject: &mut dyn Subject,
        random: &mut Pcg64,
        mut trial: impl FnMut(&mut dyn Subject, usize, &mut Pcg64) -> Result<Duration, SubjectError>,
        progress: &mut dyn FnMut(Progress),
        cancelled: &AtomicBool,
    ) -> Result<Measured, SubjectError> {
        let times = (0..self.cells).map(|_| Vec::with_capacity(self.samples as usize)).collect();
        let mut measured = Measured { times, is_cancelled: false };
        let mut order: Vec<usize> = (0..self.cells).collect();
        let mut told = self.nothing();
        for round in 0..=self.samples {
            match round {
                FIRST_COUNTED => order.sort_unstable(),
                _ => order.shuffle(random),
            }
            for &cell in &order {
                if cancelled.load(Ordering::Relaxed) {
                    measured.is_cancelled = true;
                    return Ok(measured);
                }
                let took = trial(subject, cell, random)?.max(SHORTEST);
                if round >= FIRST_COUNTED {
                    measured.times[cell].push(took);
                    told.done += 1;
                }
                told.elapsed = subject.now().since(self.begun);
                progress(told);
            }
        }
        Ok(measured)
    }

    fn nothing(&self) -> Progress {
        let cells = u64::try_from(self.cells).expect("a number of cells fits");
        Progress {
            experiment: self.experiment,
            done: 0,
            total: u64::from(self.samples) * cells,
            elapsed: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Bytes, Lba, Op, Tag};
    use rand::SeedableRng;

    use crate::places::Places;
    use crate::subject::Probe;

    use super::*;

    /// Takes as many milliseconds as there are requests, and notes what it was given.
    #[derive(Default)]
    struct Notebook {
        batches: Vec<Vec<Probe>>,
        now: Time,
    }

    impl Subject for Notebook {
        fn send(&mut self, probes: &[Probe], _tag: Tag) -> Result<Time, SubjectError> {
            self.batches.push(probes.to_vec());
            Ok(self.now)
        }

        fn wait(&mut self, _returned: &mut Vec<Lba>) -> Result<(), SubjectError> {
            unreachable!("batches are drained")
        }

        fn drain(&mut self) -> Result<Time, SubjectError> {
            let requests = self.batches.last().map_or(0, Vec::len);
            self.now += Duration::from_ms(1) * u64::try_from(requests).expect("few");
            Ok(self.now)
        }

        fn now(&self) -> Time {
            self.now
        }
    }

    const ROUNDS: Rounds =
        Rounds { experiment: Experiment::Batch, samples: 5, cells: 4, begun: Time::ZERO };
    const PLACES: Places = Places { op: Op::Read, size: Bytes::from_kib(64), count: 10 };

    fn run_until(
        seed: u64,
        mut progress: impl FnMut(Progress),
        cancelled: &AtomicBool,
    ) -> (Notebook, Measured) {
        let mut notebook = Notebook::default();
        let mut random = Pcg64::seed_from_u64(seed);
        let serve = |subject: &mut dyn Subject, cell, random: &mut Pcg64| {
            subject.serve(&PLACES.different(cell + 1, random))
        };
        let measured = ROUNDS.measure(&mut notebook, &mut random, serve, &mut progress, cancelled);
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
        assert!(measured.times.iter().all(|times| times.len() == 5));
        assert!(measured.times[2].iter().all(|&took| took == Duration::from_ms(3)));
        assert!(!measured.is_cancelled);
    }

    /// Goal: a stop within the first counted round leaves b(1) to b(m). Method: the orders
    /// of the rounds that a seed gives; the other rounds must not all go up as well.
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
        let counts: Vec<_> = measured.times.iter().map(Vec::len).collect();
        assert_eq!(counts.iter().sum::<usize>(), 10);
        assert!(counts.iter().all(|&count| (2..=3).contains(&count)), "{counts:?}");
    }
}
