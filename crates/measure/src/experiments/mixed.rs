// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures batches of requests of several kinds, whose times the cost model `A + sum c(op, size)`
//! must cover.
//!
//! The compositions of batches are the same for every seed: the longest time of a composition is
//! meaningful only after many trials, and these can come from several runs of a resumed
//! measurement.
//!
//! Source: equation 7.4.1.7 of Stanovich's dissertation, for one kind of request; several kinds are
//! our own extension.

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tidegate_model::Duration;
use tidegate_model::drive_file::{MixedBatches, MixedKind};

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::flow::Flow;
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::procedure::{Pace, Procedure};
use crate::rounds::{Grid, Rounds};
use crate::subject::{Probe, TrialResult};
use crate::warning::Skip;

/// The number of compositions that are measured for each number of requests.
const COMPOSITIONS: usize = 4;

impl Experiment {
    /// Batches of requests of several kinds.
    pub const MIXED: Self = Self::of(&Facts {
        name: "mixed",
        scope: Scope::AllKinds,
        cell_name: CellName::Number,
        time: "a mixed batch is of several kinds and measured as a batch",
        is_about_maxima: true,
        tail: None,
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: false,
    });
}

/// The procedure of [`Experiment::MIXED`].
pub(super) struct Mixed;

impl Procedure for Mixed {
    fn skip(&self, params: &ProfileParams, _has_tags: bool) -> Option<Skip> {
        match () {
            () if params.depth < 2 => Some(Skip::Alone),
            () if params.kinds.len() < 2 => Some(Skip::OneKind),
            () => None,
        }
    }

    fn grid(&self, params: &ProfileParams) -> Grid {
        let cells = compositions(params.kinds.len(), params.depth).len();
        Grid { samples: params.samples, cells, ways: 1 }
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        u64::from(params.depth.div_ceil(2))
    }

    fn make(&self, first: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let ProfileParams { kinds, depth, .. } = context.params;
        let places: Vec<_> = kinds.iter().map(|&kind| context.places(kind)).collect();
        let compositions = compositions(kinds.len(), *depth);
        let grid = self.grid(context.params);
        let rounds = Rounds { kind: None, ..context.rounds(Experiment::MIXED, first, grid) };
        let trial = |flow: &mut Flow<'_>, cell: usize| sample(flow, &places, &compositions[cell]);
        let measured = context.measure(&rounds, trial)?;
        found.note(&rounds, &measured);
        let tried = compositions.into_iter().zip(measured.longest());
        let tried = tried.filter_map(|(composition, longest)| Some((composition, longest?)));
        found.file.mixed.extend(batches(kinds, tried.unzip()));
        Ok(())
    }
}

/// Returns the longest time of each composition; `None` if there are no compositions. `samples` is
/// filled in at the end of the measurement.
pub(super) fn batches(
    kinds: &[Kind],
    (counts, longest): (Vec<Composition>, Vec<Duration>),
) -> Option<MixedBatches> {
    let request = |kind: &Kind| MixedKind { op: kind.op, size: kind.size };
    (!counts.is_empty()).then(|| MixedBatches {
        samples: None,
        request: kinds.iter().map(request).collect(),
        counts,
        ns_max: longest.into_iter().map(Duration::ns).collect(),
        places: Vec::new(),
    })
}

/// The number of requests of each kind in a batch.
pub(super) type Composition = Vec<u32>;

/// Returns the compositions of all batches, the smallest batches first. They have 2 to `depth`
/// requests of at least two kinds.
pub(super) fn compositions(kinds: usize, depth: u32) -> Vec<Composition> {
    let random = &mut Pcg64::seed_from_u64(0);
    let mut all: Vec<Composition> = Vec::new();
    for requests in 2..=depth {
        let first = all.len();
        // Small batches have few compositions, so some draws repeat one that is already listed.
        for _ in 0..4 * COMPOSITIONS {
            let composition = draw(kinds, requests, random);
            let is_new = !all[first..].contains(&composition);
            let is_mixed = composition.iter().filter(|&&count| count > 0).count() > 1;
            if is_new && is_mixed && all.len() < first + COMPOSITIONS {
                all.push(composition);
            }
        }
    }
    all
}

/// Draws a composition by cutting a batch at random positions. Every composition is possible, and
/// compositions dominated by a single kind are not rare.
fn draw(kinds: usize, requests: u32, random: &mut Pcg64) -> Composition {
    let mut cuts: Vec<u32> = (1..kinds).map(|_| random.random_range(0..=requests)).collect();
    cuts.sort_unstable();
    let (from, to) = (std::iter::once(0).chain(cuts.clone()), cuts.iter().copied());
    from.zip(to.chain([requests])).map(|(from, to)| to - from).collect()
}

/// Returns the time of one batch of this composition. `places` has one entry for each kind. All
/// requests start at places of the largest kind, so that no two overlap.
fn sample(flow: &mut Flow<'_>, places: &[Places], composition: &[u32]) -> TrialResult<Duration> {
    let requests = composition.iter().sum::<u32>() as usize;
    let starts = largest(places).different(requests, flow.random);
    let mut batch = at(starts, places, composition);
    batch.shuffle(flow.random);
    flow.serve(&batch)
}

/// Returns the places of the largest kind.
pub(super) fn largest(places: &[Places]) -> Places {
    *places.iter().max_by_key(|places| places.kind.size).expect("at least one kind")
}

/// Returns a batch of this composition whose requests begin at `starts`.
pub(super) fn at(starts: Vec<Probe>, places: &[Places], composition: &[u32]) -> Vec<Probe> {
    let kinds = composition
        .iter()
        .zip(places)
        .flat_map(|(&count, kind)| std::iter::repeat_n(kind.kind, count as usize));
    let at =
        |(place, kind): (Probe, Kind)| Probe { op: kind.op, start: place.start, size: kind.size };
    starts.into_iter().zip(kinds).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compositions_have_their_number_of_requests_and_several_kinds() {
        let all = compositions(3, 16);
        for composition in &all {
            let requests: u32 = composition.iter().sum();
            assert!((2..=16).contains(&requests));
            assert!(composition.iter().filter(|&&count| count > 0).count() > 1);
        }
        let of = |requests: u32| all.iter().filter(move |it| it.iter().sum::<u32>() == requests);
        assert_eq!((of(2).count(), of(16).count()), (3, COMPOSITIONS));
    }
}
