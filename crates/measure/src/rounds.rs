// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order in which batches are measured.
//!
//! A round measures every batch size once, in an order of its own: what drifts during the
//! measurement (temperature, other load, the drive's own housekeeping) falls on all sizes
//! alike, and a measurement that is stopped has samples of all of them. The first round
//! warms up and is not counted. The second goes up from 1: stopped within it, there is a
//! shorter table, and not one with gaps.

use std::sync::atomic::{AtomicBool, Ordering};

use model::{Bytes, Duration, Lba};
use rand::seq::{SliceRandom, index};
use rand_pcg::Pcg64;

use crate::subject::{Subject, SubjectError};

/// A clock too coarse to see a batch does not make it free.
const SHORTEST: Duration = Duration::from_ns(1);

/// The rounds before this one warm up.
const FIRST_COUNTED: u32 = 1;

/// How far a measurement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Batches measured.
    pub done: u64,
    /// Batches to be measured.
    pub total: u64,
    /// How long the measurement has lasted, the warm-up included; of a simulated drive in
    /// its virtual time.
    pub elapsed: Duration,
}

/// What is measured how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Samples of each batch size.
    pub(crate) samples: u32,
    /// The largest batch.
    pub(crate) depth: u32,
    /// Size of every request.
    pub(crate) size: Bytes,
    /// How many places there are for a request.
    pub(crate) places: usize,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Entry `i - 1`: times of batches of i requests, in the order they were taken.
    pub(crate) times: Vec<Vec<Duration>>,
    /// Requests given to the device, those that warmed up included.
    pub(crate) requests: u64,
    /// Whether it was stopped before the end.
    pub(crate) is_cancelled: bool,
}

impl Rounds {
    /// Measures round by round, until done or `cancelled`.
    pub(crate) fn measure(
        &self,
        subject: &mut dyn Subject,
        random: &mut Pcg64,
        mut progress: impl FnMut(Progress),
        cancelled: &AtomicBool,
    ) -> Result<Measured, SubjectError> {
        let mut measured = self.nothing();
        let mut order: Vec<u32> = (1..=self.depth).collect();
        let total = u64::from(self.samples) * u64::from(self.depth);
        let begun = subject.now();
        let mut told = Progress { done: 0, total, elapsed: Duration::ZERO };
        for round in 0..=self.samples {
            match round {
                FIRST_COUNTED => order.sort_unstable(),
                _ => order.shuffle(random),
            }
            for &requests in &order {
                if cancelled.load(Ordering::Relaxed) {
                    measured.is_cancelled = true;
                    return Ok(measured);
                }
                let took = subject.serve(&self.places(requests, random))?.max(SHORTEST);
                measured.requests += u64::from(requests);
                if round >= FIRST_COUNTED {
                    measured.times[requests as usize - 1].push(took);
                    told.done += 1;
                }
                told.elapsed = subject.now().since(begun);
                progress(told);
            }
        }
        Ok(measured)
    }

    fn nothing(&self) -> Measured {
        let times = (0..self.depth).map(|_| Vec::with_capacity(self.samples as usize)).collect();
        Measured { times, requests: 0, is_cancelled: false }
    }

    /// So many different places, uniformly random: what is asked for twice in one batch
    /// would come from the drive's cache.
    fn places(&self, requests: u32, random: &mut Pcg64) -> Vec<Lba> {
        let sectors = self.size.sectors_ceil();
        index::sample(random, self.places, requests as usize)
            .iter()
            .map(|place| Lba::new(u64::try_from(place).expect("a place fits") * sectors))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use model::Time;
    use rand::SeedableRng;

    use super::*;

    /// Takes as many milliseconds as there are requests, and notes what it was given.
    #[derive(Default)]
    struct Notebook {
        batches: Vec<Vec<Lba>>,
        now: Time,
    }

    impl Subject for Notebook {
        fn serve(&mut self, places: &[Lba]) -> Result<Duration, SubjectError> {
            self.batches.push(places.to_vec());
            let took = Duration::from_ms(1) * u64::try_from(places.len()).expect("few");
            self.now += took;
            Ok(took)
        }

        fn now(&self) -> Time {
            self.now
        }
    }

    const ROUNDS: Rounds = Rounds { samples: 5, depth: 4, size: Bytes::from_kib(64), places: 10 };

    fn run(seed: u64, mut progress: impl FnMut(Progress)) -> (Notebook, Measured) {
        let mut notebook = Notebook::default();
        let mut random = Pcg64::seed_from_u64(seed);
        let never = AtomicBool::new(false);
        let measured = ROUNDS.measure(&mut notebook, &mut random, &mut progress, &never);
        (notebook, measured.expect("a notebook has no faults"))
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
        assert_eq!(measured.requests, 6 * 10);
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
            let mut places: Vec<_> = batch.iter().map(|place| place.get()).collect();
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
        assert_eq!(told.last(), Some(&Progress { done: 20, total: 20, elapsed }));
    }

    #[test]
    fn what_was_measured_before_a_stop_is_kept() {
        let mut notebook = Notebook::default();
        let cancelled = AtomicBool::new(false);
        let stop = |progress: Progress| cancelled.store(progress.done >= 10, Ordering::Relaxed);
        let mut random = Pcg64::seed_from_u64(6);
        let measured = ROUNDS
            .measure(&mut notebook, &mut random, stop, &cancelled)
            .expect("a notebook has no faults");
        assert!(measured.is_cancelled);
        let counts: Vec<_> = measured.times.iter().map(Vec::len).collect();
        assert_eq!(counts.iter().sum::<usize>(), 10);
        assert!(counts.iter().all(|&count| (2..=3).contains(&count)), "{counts:?}");
    }
}
