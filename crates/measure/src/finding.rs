// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The findings from an experiment's samples beyond their table: whether the device was steady,
//! what the host did, and whether the longest times follow a law of extremes.

use std::fmt;

use tidegate_model::{Duration, count};

use crate::experiment::Experiment;
use crate::held_up::{Disturbance, Sample};
use crate::kind::Kind;
use crate::rounds::{Measured, Rounds};
use tidegate_stats::confidence::{CONFIDENCE, UpperQuantile, quantile_at_most};
use tidegate_stats::drift::{self, Drift};
use tidegate_stats::extremes::{TailParams, Tails};
use tidegate_stats::independence::{self, Independence};

/// The level of the quantile for which an upper bound is computed, in ppm.
const QUANTILE_PPM: u32 = 990_000;

/// The findings from the samples of one experiment with one kind of request.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The experiment.
    pub experiment: Experiment,
    /// The kind of its requests; `None` if it uses several kinds.
    pub kind: Option<Kind>,
    /// How the host disturbed the samples.
    pub disturbance: Disturbance,
    /// Whether the samples at the end differ from those at the beginning.
    pub drift: Drift,
    /// Whether successive samples depend on each other.
    pub independence: Independence,
    /// An upper bound of the 99 % quantile, for any distribution: of the time of one request alone,
    /// or of the largest batch. `None` for other experiments, or with too few samples.
    pub quantile: Option<UpperQuantile>,
    /// An estimate of the tail of the times of one request alone, or of the largest batch. `None`
    /// for other experiments.
    pub tail: Option<Tails>,
}

impl Finding {
    /// Evaluates the samples. An estimate of the tail takes about a tenth of a second.
    pub(crate) fn of(rounds: &Rounds, measured: &Measured) -> Self {
        let times: Vec<Vec<Duration>> =
            measured.cells.iter().map(|cell| Sample::times(cell)).collect();
        let has_tail = rounds.experiment.facts().tail.is_some();
        let tail = times.last().filter(|times| has_tail && !times.is_empty());
        let quantile = tail.and_then(|times| {
            let mut sorted = times.clone();
            sorted.sort_unstable();
            quantile_at_most(&sorted, QUANTILE_PPM, CONFIDENCE)
        });
        Self {
            experiment: rounds.experiment,
            kind: rounds.kind,
            disturbance: Disturbance::of(&measured.cells, measured.has_steal),
            drift: drift::compare(&times, rounds.grid.ways),
            independence: independence::compare(&times, rounds.grid.ways),
            quantile,
            tail: tail.map(|times| Tails::estimate(times, &TailParams::default())),
        }
    }

    /// Returns the name of the measurement, such as `batch of reads of 128KiB`.
    pub fn name(&self) -> String {
        let name = self.experiment.name();
        self.kind.map_or_else(|| name.to_owned(), |kind| format!("{name} of {kind}"))
    }

    /// Returns the remarks for a reader of the results: one sentence each, without the name.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let what = self.experiment.facts().tail.unwrap_or_default();
        let quantile = self.quantile.map(|quantile| format!("{what}: {quantile}"));
        let tail = self.tail.as_ref().map(|tails| format!("{what}: {tails}"));
        let of_all =
            [self.drift.to_string(), self.independence.to_string(), self.disturbance.to_string()];
        of_all.into_iter().chain(quantile).chain(tail).collect()
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, disturbed, held_up_max, excess_max, has_steal } = self;
        if *disturbed == 0 {
            let samples = count(samples, "sample");
            write!(f, "the host held up none of {samples} by more than 1 %")?;
            let limit = ", as far as the kernel counts (stolen time in steps of 10 ms)";
            return f.write_str(if *has_steal { limit } else { "" });
        }
        write!(
            f,
            "the host held up {disturbed} of {samples} samples by more than 1 %, one by \
             {held_up_max}; without them the longest time would be up to {excess_max} shorter"
        )
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::Time;

    use super::*;
    use crate::rounds::{Grid, Part};

    fn rounds(experiment: Experiment, grid: Grid) -> Rounds {
        Rounds { experiment, kind: None, grid, seed: 0, begun: Time::ZERO, part: Part::WHOLE }
    }

    fn measured(cells: Vec<Vec<Sample>>) -> Measured {
        Measured { cells, is_cancelled: false, has_steal: false }
    }

    /// Uses a table of 32 drains from three starts, in which the samples of the 83rd cell get
    /// longer.
    #[test]
    fn what_is_found_is_named_by_its_entry() {
        let list = |cell: u64| {
            let took =
                move |at: u64| if cell == 82 { 1_000 + at } else { 1_000 + at * 7_919 % 997 };
            (0..100).map(move |at| Sample::new(Duration::from_us(took(at)), Duration::ZERO, None))
        };
        let cells = (0..96).map(|cell| list(cell).collect()).collect();
        let grid = Grid { samples: 100, cells: 96, ways: 3 };
        let finding = Finding::of(&rounds(Experiment::DRAIN, grid), &measured(cells));
        let [drift, independence, disturbance] = &finding.sentences()[..] else {
            panic!("no tail of drains: {finding:?}")
        };
        assert!(drift.contains("not steady: entry 28 (way 2 of 3) +"), "{drift}");
        assert!(
            independence.contains("samples of entry 28 (way 2 of 3) resemble"),
            "{independence}"
        );
        assert!(disturbance.contains("held up none of 9600 samples"), "{disturbance}");
    }

    /// An estimate of the tail is reported together with a bound of a quantile that assumes no law.
    #[test]
    fn a_quantile_of_the_largest_batch_is_bounded() {
        let sample = |at| Sample::new(Duration::from_us(1_000 + at), Duration::ZERO, None);
        let rounds = rounds(Experiment::BATCH, Grid { samples: 0, cells: 1, ways: 1 });
        let of =
            |count: u64| Finding::of(&rounds, &measured(vec![(0..count).map(sample).collect()]));
        let sentences = of(1_000).sentences();
        let said = "the largest batch: with 99 % confidence at most 1 % take longer than 1.997ms";
        assert!(sentences[3].starts_with(said), "{sentences:?}");
        assert_eq!(of(458).quantile, None, "459 are needed");
    }
}
