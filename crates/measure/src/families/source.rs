// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sources of places, one for each family.

use std::ops::Range;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::Bytes;
use tidegate_model::drive_file::PlaceFamily;

use crate::flow::FlowParams;
use crate::places::Places;
use crate::subject::Probe;

/// Draws the place of the next request.
pub(crate) type Draw = dyn FnMut(&mut Pcg64) -> Probe;

/// The divisors of the target's size that give the size of the part at each end. Each trial uses
/// one of them, drawn at random.
const ENDS: [usize; 3] = [20, 200, 2_000];

/// The divisor of the target's size that gives the size of a cluster.
const CLUSTER: usize = 1_000;

/// The maximum number of clusters of a trial.
const CLUSTERS_MAX: usize = 4;

/// The approximate size of a track and its neighbours: tracks have 0.2 to 2 MiB.
const TRACK: Bytes = Bytes::from_kib(2_048);

/// Returns a source of places of a family. For `Random` and `Climbed`, the places are random.
pub(crate) fn of(family: PlaceFamily, flows: FlowParams, random: &mut Pcg64) -> Box<Draw> {
    let places = flows.places;
    match family {
        PlaceFamily::BothEnds => {
            let part = ENDS[random.random_range(0..ENDS.len())];
            Box::new(flows.by_turns(part, random.random()))
        }
        PlaceFamily::Clusters => {
            let count = random.random_range(2..=CLUSTERS_MAX);
            let clusters: Vec<_> =
                (0..count).map(|_| window(flows, places.count / CLUSTER, random)).collect();
            Box::new(move |random| {
                let cluster = clusters[random.random_range(0..clusters.len())].clone();
                places.within(cluster, random)
            })
        }
        PlaceFamily::Track => {
            let track = window(flows, of_track(places), random);
            Box::new(move |random| places.within(track.clone(), random))
        }
        PlaceFamily::Sequential => {
            let mut next = random.random_range(0..places.count);
            Box::new(move |_| {
                let place = places.at(next);
                next = (next + 1) % places.count;
                place
            })
        }
        PlaceFamily::Random | PlaceFamily::Climbed => {
            Box::new(move |random| places.anywhere(random))
        }
    }
}

/// Returns a source of the places in `list`, in this order, and then of random places.
pub(super) fn listed(places: Places, list: Vec<usize>) -> Box<Draw> {
    let mut list = list.into_iter();
    Box::new(move |random| match list.next() {
        Some(place) => places.at(place),
        None => places.anywhere(random),
    })
}

/// Returns the number of places on a track and its neighbours.
fn of_track(places: Places) -> usize {
    usize::try_from(TRACK.get() / places.kind.size.get().max(1)).unwrap_or(usize::MAX)
}

/// Draws a range of about `width` neighbouring places, with room for all requests that can be
/// outstanding.
fn window(flows: FlowParams, width: usize, random: &mut Pcg64) -> Range<usize> {
    let count = flows.places.count;
    let width = width.max(2 * flows.depth as usize).min(count);
    let start = random.random_range(0..=count - width);
    start..start + width
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use tidegate_model::Op;

    use super::*;
    use crate::kind::Kind;

    const COUNT: usize = 100_000;

    fn drawn(family: PlaceFamily) -> Vec<u64> {
        let kind = Kind { op: Op::Read, size: Bytes::from_kib(64) };
        let flows = FlowParams { places: Places { kind, count: COUNT }, depth: 8 };
        let random = &mut Pcg64::seed_from_u64(1);
        let mut draw = of(family, flows, random);
        (0..100).map(|_| draw(random).start.get() / 128).collect()
    }

    fn span(places: &[u64]) -> u64 {
        places.iter().max().unwrap() - places.iter().min().unwrap()
    }

    #[test]
    fn ends_are_drawn_by_turns() {
        let ends = drawn(PlaceFamily::BothEnds);
        let is_low = |place: &u64| *place < 5_000;
        assert!(ends.iter().all(|place| is_low(place) || *place >= 95_000));
        assert!(ends.windows(2).all(|pair| is_low(&pair[0]) != is_low(&pair[1])));
    }

    #[test]
    fn a_track_is_narrow_and_clusters_are_few() {
        assert!(span(&drawn(PlaceFamily::Track)) < 32);
        let mut clusters = drawn(PlaceFamily::Clusters);
        clusters.sort_unstable();
        let gaps = clusters.windows(2).filter(|pair| pair[1] - pair[0] > 100).count();
        assert!((1..CLUSTERS_MAX).contains(&gaps), "{clusters:?}");
    }

    #[test]
    fn a_sequence_goes_on() {
        let places = drawn(PlaceFamily::Sequential);
        assert!(places.windows(2).all(|pair| pair[1] == (pair[0] + 1) % COUNT as u64));
    }
}
