// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the table of an experiment again, by families of places.
//!
//! Random places are rarely the worst ones. Each table is therefore measured again at both ends, in
//! clusters, on one track, in sequence, and at places that a search finds:
//!
//! ```text
//!   pilot .... every family of [`SAMPLED`], a few samples each
//!                 |--> a family far below the longest keeps its pilot figures (screened)
//!   main ..... the other families share a fixed number of samples
//!   climb .... a search over places, their order and the starting position of the heads
//! ```
//!
//! The three parts together take about 70 % of the samples of the experiment that they repeat.

mod climb;
mod source;

use tidegate_model::Duration;
use tidegate_model::drive_file::{FamilyTimes, PlaceFamily};
use tidegate_stats::order_statistics::Summary;

use crate::context::Context;
use crate::experiment::Experiment;
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::held_up::Sample;
use crate::kind::Kind;
use crate::rounds::{Grid, Part, Phase, Rounds};
use crate::subject::TrialResult;

use climb::Climb;
pub(crate) use source::{Draw, of as drawn};

/// The families whose places are drawn at random.
const SAMPLED: [PlaceFamily; 4] =
    [PlaceFamily::BothEnds, PlaceFamily::Clusters, PlaceFamily::Track, PlaceFamily::Sequential];

/// For each family, the pilot takes this part (1/20) of the number of samples.
const PILOT_PART: u32 = 20;

/// The families that are not screened share this part (1/4) of the number of samples.
const MAIN_PART: u32 = 4;

/// The search takes this part (1/4) of the number of samples, one for each step.
const CLIMB_PART: u32 = 4;

/// The number of requests in a round below which a drive's cache can still hold the places of an
/// entry's last trial. A step of a search then shares no place with the previous step for the same
/// entry.
const CACHED: u64 = 128;

/// The percentage of the longest time that a family's pilot must reach in at least half of the
/// entries; otherwise the family is screened. A pilot's longest time is shorter than a whole
/// measurement's, but not by this much.
const FAR_BELOW_PERCENT: u128 = 75;

/// An experiment that can be run at chosen places.
pub(crate) trait AtPlaces {
    /// Returns the places at which requests can be, and the largest number that can be outstanding.
    fn flows(&self) -> FlowParams;

    /// Returns the number of values that a search chooses for a trial of this entry. They are
    /// usually places; all further places of the trial are random.
    fn chosen(&self, entry: usize) -> usize;

    /// Returns a source of places for one trial, for a family other than `Random` and `Climbed`.
    fn source(&self, family: PlaceFamily, random: &mut rand_pcg::Pcg64) -> Box<Draw> {
        source::of(family, self.flows(), random)
    }

    /// Returns a source of the places that a search chose, for one trial.
    fn climbed(&self, chosen: &[usize]) -> Box<Draw> {
        source::listed(self.flows().places, chosen.to_vec())
    }

    /// Takes one sample of an entry with these places, and leaves the subject idle.
    ///
    /// # Errors
    /// If the target fails.
    fn trial(
        &self,
        flow: &mut Flow<'_>,
        entry: usize,
        family: PlaceFamily,
        draw: &mut Draw,
    ) -> TrialResult<Duration>;
}

/// The size of a round of trials, which has one trial for each entry of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    /// The number of entries.
    pub(crate) entries: usize,
    /// The average number of requests of a trial.
    pub(crate) requests: u64,
}

impl Round {
    /// Returns the round for a table of batches or drains of 1 to `depth` requests.
    pub(crate) fn of_depth(depth: u32) -> Self {
        Self { entries: depth as usize, requests: u64::from(depth.div_ceil(2)) }
    }

    /// Returns whether the drive's cache can still hold the places of an entry's last trial.
    fn is_short(self) -> bool {
        let entries = u64::try_from(self.entries).expect("a count fits");
        entries * self.requests < CACHED
    }
}

/// Returns the grid from which a plan estimates the time: its samples per entry are the sum over
/// all parts.
pub(crate) fn grid(samples: u32, round: Round) -> Grid {
    let Shares { pilot, main, climb } = Shares::of(samples);
    let ways = u32::try_from(SAMPLED.len()).expect("a few");
    Grid { samples: pilot * ways + main + climb, cells: round.entries, ways: 1 }
}

/// The numbers of samples of the parts.
struct Shares {
    /// Samples for each family and entry.
    pilot: u32,
    /// Samples for each entry, divided among the families that are not screened.
    main: u32,
    /// Samples for each entry.
    climb: u32,
}

impl Shares {
    fn of(samples: u32) -> Self {
        Self {
            pilot: samples.div_ceil(PILOT_PART),
            main: samples.div_ceil(MAIN_PART),
            climb: samples.div_ceil(CLIMB_PART),
        }
    }
}

/// The measurement of one experiment by families of places.
pub(crate) struct ByFamilies<'a> {
    /// The experiment.
    pub(crate) experiment: Experiment,
    /// The kind of its requests; `None` if it uses several kinds.
    pub(crate) kind: Option<Kind>,
    /// The size of a round of its trials.
    pub(crate) round: Round,
    /// The experiment's trials, which can be run at chosen places.
    pub(crate) at_places: &'a dyn AtPlaces,
    /// The longest time of each entry at random places, in ns; shorter if some are unknown.
    pub(crate) random_ns_max: &'a [u64],
}

impl ByFamilies<'_> {
    /// Measures every family except random places.
    ///
    /// # Errors
    /// If the target fails.
    pub(crate) fn measure(
        &self,
        context: &mut Context<'_>,
        found: &mut Found,
    ) -> TrialResult<Vec<FamilyTimes>> {
        let shares = Shares::of(context.params.samples);
        let pilot = self.sampled(Phase::Pilot, &SAMPLED, shares.pilot, context, found)?;
        let kept = self.kept(&pilot);
        let each = kept.len().try_into().map_or(0, |count: u32| shares.main.div_ceil(count.max(1)));
        let main = self.sampled(Phase::Main, &kept, each, context, found)?;
        let climbed = self.climb(shares.climb, context, found)?;
        let join = |(index, &family): (usize, &PlaceFamily)| {
            let more = kept.iter().position(|known| *known == family).map(|at| &main[at][..]);
            joined(family, &pilot[index], more)
        };
        let sampled = SAMPLED.iter().enumerate().filter_map(join);
        Ok(sampled.chain(times(PlaceFamily::Climbed, &climbed)).collect())
    }

    /// Measures these families. Returns the samples by family and entry.
    fn sampled(
        &self,
        phase: Phase,
        families: &[PlaceFamily],
        samples: u32,
        context: &mut Context<'_>,
        found: &mut Found,
    ) -> TrialResult<Vec<Vec<Vec<Sample>>>> {
        let (ways, entries) = (families.len(), self.round.entries);
        if ways == 0 || found.is_cancelled {
            return Ok(vec![vec![Vec::new(); entries]; ways]);
        }
        let grid = Grid { samples, cells: entries * ways, ways };
        let rounds = self.rounds(phase, families, grid, context);
        let measured = context.measure(&rounds, |flow, cell| {
            let family = families[cell % ways];
            let mut draw = self.at_places.source(family, flow.random);
            self.at_places.trial(flow, cell / ways, family, &mut *draw)
        })?;
        found.note(&rounds, &measured);
        let of_way = |way: usize| measured.cells.iter().skip(way).step_by(ways).cloned().collect();
        Ok((0..ways).map(of_way).collect())
    }

    /// Searches, for each entry, for the places with the longest time.
    fn climb(
        &self,
        samples: u32,
        context: &mut Context<'_>,
        found: &mut Found,
    ) -> TrialResult<Vec<Vec<Sample>>> {
        let (flows, round) = (self.at_places.flows(), self.round);
        let (places, entries) = (flows.places, round.entries);
        if found.is_cancelled {
            return Ok(vec![Vec::new(); entries]);
        }
        let grid = Grid { samples, cells: entries, ways: 1 };
        let rounds = self.rounds(Phase::Climb, &[], grid, context);
        let is_apart = round.is_short();
        let new = |entry| Climb::new(places.count, self.at_places.chosen(entry), is_apart);
        let mut climbs: Vec<Climb> = (0..entries).map(new).collect();
        let measured = context.measure(&rounds, |flow, entry| {
            let climb = &mut climbs[entry];
            let candidate = climb.propose(flow.random);
            flow.serve(&[places.at(candidate.start)])?;
            let mut draw = self.at_places.climbed(&candidate.chosen);
            let took = self.at_places.trial(flow, entry, PlaceFamily::Climbed, &mut *draw)?;
            climb.accept(candidate, took);
            Ok(took)
        })?;
        // The times of a search grow because the search progresses. They show neither drift nor
        // dependence, so only a stop is noted.
        found.note_stop(&rounds, &measured);
        Ok(measured.cells)
    }

    /// Returns the rounds of a part. No two parts draw the same places, and none draws the places
    /// of the experiment that this one repeats.
    fn rounds(
        &self,
        phase: Phase,
        families: &[PlaceFamily],
        grid: Grid,
        context: &Context<'_>,
    ) -> Rounds {
        let (params, round) = (context.params, self.round);
        let Shares { pilot, main, .. } = Shares::of(params.samples);
        let entries_count = u64::try_from(round.entries).expect("a count fits");
        let families_count = u64::try_from(SAMPLED.len()).expect("a few");
        let piloted = entries_count * u64::from(pilot) * families_count;
        let before = match phase {
            Phase::Whole | Phase::Pilot => 0,
            Phase::Main => piloted,
            Phase::Climb => piloted + entries_count * u64::from(main),
        };
        let total = self::grid(params.samples, round).trials();
        let kind = self.kind.or_else(|| params.kinds.first().copied());
        let kind = kind.expect("a measurement has a kind of request");
        let rounds = context.rounds(self.experiment, kind, grid);
        let seed = rounds.seed.wrapping_add(phase.seed());
        Rounds { kind: self.kind, seed, part: Part::of(phase, families, before, total), ..rounds }
    }

    /// Returns the families that can contain a longest time: those that come near it in at least
    /// half of the entries. An entry of a single request must not decide alone, because that
    /// request is far from the previous one in every family.
    fn kept(&self, pilot: &[Vec<Vec<Sample>>]) -> Vec<PlaceFamily> {
        let longest = |cell: &[Sample]| cell.iter().map(|sample| sample.took.ns()).max();
        let best = |entry: usize| {
            let of_pilot = pilot.iter().filter_map(|cells| longest(&cells[entry]));
            of_pilot.chain(self.random_ns_max.get(entry).copied()).max().unwrap_or(0)
        };
        let is_near = |cells: &[Vec<Sample>]| {
            let is_near = |(entry, cell): &(usize, &Vec<Sample>)| {
                let own = u128::from(longest(cell).unwrap_or(0));
                own * 100 >= u128::from(best(*entry)) * FAR_BELOW_PERCENT
            };
            2 * cells.iter().enumerate().filter(is_near).count() >= cells.len()
        };
        let all = SAMPLED.into_iter().zip(pilot);
        all.filter(|(_, cells)| is_near(cells)).map(|(family, _)| family).collect()
    }
}

/// Returns the times of a family from the pilot, combined with those of the main part if the pilot
/// kept the family.
///
/// The pilot chose the family by its own samples: they tend to be long for a kept family, and short
/// for a screened one. So the pilot gives no quantiles, and its samples do not count together with
/// those of the main part. But its longest times were observed, so they belong to the table.
fn joined(
    family: PlaceFamily,
    pilot: &[Vec<Sample>],
    main: Option<&[Vec<Sample>]>,
) -> Option<FamilyTimes> {
    let seen = times(family, pilot)?;
    let seen =
        FamilyTimes { ns_p99: Vec::new(), ns_p50: Vec::new(), screened: main.is_none(), ..seen };
    let Some(more) = main.and_then(|cells| times(family, cells)) else { return Some(seen) };
    let longest =
        |(entry, &time): (usize, &u64)| time.max(more.ns_max.get(entry).copied().unwrap_or(0));
    let ns_max = seen.ns_max.iter().enumerate().map(longest).collect();
    // An interrupted main part has no samples of the later entries.
    let is_whole = more.ns_max.len() == seen.ns_max.len();
    Some(FamilyTimes { ns_max, ..if is_whole { more } else { seen } })
}

/// Returns the times of a family, up to the first entry without a sample; `None` if the first entry
/// has none.
fn times(places: PlaceFamily, cells: &[Vec<Sample>]) -> Option<FamilyTimes> {
    let all: Vec<Summary> = cells.iter().map_while(|cell| Sample::summary(cell)).collect();
    let samples = all.iter().map(|summary| summary.count).min()?;
    let list = |figure: &dyn Fn(&Summary) -> Duration| -> Vec<u64> {
        all.iter().map(|summary| figure(summary).ns()).collect()
    };
    // A quantile over the steps of a search says nothing about the drive.
    let quantile = |level: usize| match places {
        PlaceFamily::Climbed => Vec::new(),
        PlaceFamily::Random
        | PlaceFamily::BothEnds
        | PlaceFamily::Clusters
        | PlaceFamily::Track
        | PlaceFamily::Sequential => list(&|summary| summary.quantiles[level]),
    };
    let times = FamilyTimes::new(places, Some(u64::from(samples)), list(&|it| it.highest));
    Some(FamilyTimes { ns_p99: quantile(4), ns_p50: quantile(2), ..times })
}

/// Returns the average number of requests of a trial by families, for an experiment whose own
/// trials have `each` requests: a search sends one more, for the starting position.
pub(crate) fn requests(each: u64) -> u64 {
    each + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(times: &[&[u64]]) -> Vec<Vec<Sample>> {
        let sample = |&ns: &u64| Sample {
            took: Duration::from_ns(ns),
            held_up: Duration::ZERO,
            start: None,
        };
        times.iter().map(|cell| cell.iter().map(sample).collect()).collect()
    }

    /// Goal: the samples by which a family was chosen do not enter its statistics, except for their
    /// longest times. Method: a pilot whose times differ from the main part's.
    #[test]
    fn a_pilot_counts_for_the_longest_time_only() {
        let pilot = cells(&[&[90, 95], &[99, 98]]);
        let main = cells(&[&[10, 20, 30], &[40, 50, 100]]);
        let kept = joined(PlaceFamily::Track, &pilot, Some(&main)).unwrap();
        let alone = times(PlaceFamily::Track, &main).unwrap();
        assert_eq!(kept, FamilyTimes { ns_max: vec![95, 100], ..alone });
        assert_eq!((kept.samples, kept.screened), (Some(3), false));
    }

    #[test]
    fn a_screened_family_has_no_quantiles() {
        let screened = joined(PlaceFamily::Track, &cells(&[&[1, 2], &[3, 4]]), None).unwrap();
        let expected = FamilyTimes::new(PlaceFamily::Track, Some(2), vec![2, 4]);
        assert_eq!(screened, FamilyTimes { screened: true, ..expected });
    }

    #[test]
    fn an_interrupted_main_part_gives_no_quantiles() {
        let main = cells(&[&[10, 200, 30], &[]]);
        let kept = joined(PlaceFamily::Track, &cells(&[&[1], &[3]]), Some(&main)).unwrap();
        assert_eq!(kept, FamilyTimes::new(PlaceFamily::Track, Some(1), vec![200, 3]));
        assert_eq!(joined(PlaceFamily::Track, &cells(&[&[]]), Some(&main)), None);
    }
}
