// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Batches of different requests: what `A + sum c(op, size)` has to cover.
//!
//! The batches of each number of requests have fixed compositions, the same for every seed: the
//! longest time of a composition says something only if it was tried often, also by a
//! measurement that goes on later.
//!
//! Source: equation 7.4.1.7 of Stanovich's dissertation knows one kind; more are our own.

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tidegate_model::Duration;

use crate::kind::Kind;
use crate::places::Places;
use crate::subject::{Probe, Subject, SubjectError};

/// How many compositions each number of requests is tried with.
const COMPOSITIONS: usize = 4;

/// How many requests of each kind a batch has.
pub(crate) type Composition = Vec<u32>;

/// The compositions of all batches, the smallest batches first: of 2 to `depth` requests, with
/// at least two kinds each.
pub(crate) fn compositions(kinds: usize, depth: u32) -> Vec<Composition> {
    let random = &mut Pcg64::seed_from_u64(0);
    let mut all: Vec<Composition> = Vec::new();
    for requests in 2..=depth {
        let first = all.len();
        // Small batches have few: some tries draw what is there.
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

/// Any composition is possible, and those with much of one kind are not rare: shares by cuts at
/// random places.
fn draw(kinds: usize, requests: u32, random: &mut Pcg64) -> Composition {
    let mut cuts: Vec<u32> = (1..kinds).map(|_| random.random_range(0..=requests)).collect();
    cuts.sort_unstable();
    let (from, to) = (std::iter::once(0).chain(cuts.clone()), cuts.iter().copied());
    from.zip(to.chain([requests])).map(|(from, to)| to - from).collect()
}

/// The time of one batch of that composition; `places` has one entry for each kind, all of one
/// size of place, so that no two requests overlap.
pub(crate) fn sample(
    subject: &mut dyn Subject,
    places: &[Places],
    composition: &[u32],
    random: &mut Pcg64,
) -> Result<Duration, SubjectError> {
    let requests = composition.iter().sum::<u32>() as usize;
    let largest = places.iter().max_by_key(|places| places.kind.size).expect("at least one kind");
    let starts = largest.different(requests, random);
    let kinds = composition
        .iter()
        .zip(places)
        .flat_map(|(&count, kind)| std::iter::repeat_n(kind.kind, count as usize));
    let at =
        |(place, kind): (Probe, Kind)| Probe { op: kind.op, start: place.start, size: kind.size };
    let mut batch: Vec<Probe> = starts.into_iter().zip(kinds).map(at).collect();
    batch.shuffle(random);
    subject.serve(&batch)
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
