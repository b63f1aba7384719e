// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a measurement will do, and how long that takes, before it begins.
//!
//! The time is an estimate from the pace of the device: a batch of i takes as long as one
//! request alone and i - 1 more in company.

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_model::{Duration, Tag};

use crate::drain::{self, Start};
use crate::experiment::Experiment;
use crate::flow::Flow;
use crate::flush::FlushStart;
use crate::kind::Kind;
use crate::mixed;
use crate::places::Places;
use crate::profile::ProfileParams;
use crate::run::skip;
use crate::starvation::{self, Others};
use crate::subject::{Subject, SubjectError};
use crate::{flush, geometry, stripe, throughput};

/// How often one request alone is timed for the pace.
const ALONE: u32 = 8;

/// How many requests of a full device are timed for the pace, in multiples of its depth.
const IN_COMPANY: u32 = 3;

/// Writes before a flush, in multiples of the depth: a guess.
const FILLED_DEPTHS: u64 = 4;

/// How fast a device is with one kind of request, roughly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// One request alone.
    pub alone: Duration,
    /// Each request of a full device.
    pub in_company: Duration,
    /// One request that others hold up; not tried where nothing overtakes it.
    pub starved: Option<Duration>,
}

/// One experiment with one kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Which.
    pub experiment: Experiment,
    /// With which requests; none where it takes several kinds.
    pub kind: Option<Kind>,
    /// Samples of everything together.
    pub trials: u64,
    /// Requests, roughly; what warms up is not in it.
    pub requests: u64,
    /// How long, roughly.
    pub time: Duration,
}

/// Times a few requests: less than a second of most devices, where they bound the wait of a
/// starved request that much longer.
pub(crate) fn pace(
    subject: &mut dyn Subject,
    places: Places,
    params: &ProfileParams,
) -> Result<Pace, SubjectError> {
    let (random, depth) = (&mut Pcg64::seed_from_u64(params.seed), params.depth);
    let begun = subject.now();
    for _ in 0..ALONE {
        subject.serve(&[places.anywhere(random)])?;
    }
    let alone = subject.now().since(begun);
    let mut flow = Flow::on(subject);
    flow.keep(depth, depth, || places.anywhere(random))?;
    let (begun, mut done) = (flow.now(), 0);
    while done < IN_COMPANY * depth {
        let returned = u32::try_from(flow.wait()?.len()).expect("a device holds few requests");
        done += returned;
        flow.send(returned, Tag::Simple, || places.anywhere(random))?;
    }
    let together = flow.now().since(begun);
    flow.drain()?;
    let is_starved = params.experiments.contains(&Experiment::Starvation) && depth > 1;
    let mut starve = || starvation::sample(subject, places, depth, Others::Random, random);
    let starved = is_starved.then(&mut starve).transpose()?;
    Ok(Pace { alone: part(alone, ALONE), in_company: part(together, done), starved })
}

fn part(whole: Duration, parts: u32) -> Duration {
    Duration::from_ns(whole.ns() / u64::from(parts.max(1)))
}

/// The steps of a measurement whose kinds have these paces.
pub(crate) fn steps(params: &ProfileParams, has_tags: bool, paces: &[Pace]) -> Vec<Step> {
    let chosen = Experiment::ALL.into_iter().filter(|it| params.experiments.contains(it));
    let chosen = chosen.filter(|&it| skip(params, has_tags, it).is_none());
    let slowest = paces.iter().copied().max_by_key(|pace| pace.alone);
    chosen
        .flat_map(|experiment| {
            let kinds: Vec<_> = match experiment {
                Experiment::Flush => flush_kinds(params, paces),
                it if it.is_of_several() => slowest.map(|pace| (None, pace)).into_iter().collect(),
                _ => params.kinds.iter().copied().map(Some).zip(paces.iter().copied()).collect(),
            };
            kinds.into_iter().map(move |(kind, pace)| step(params, experiment, kind, pace))
        })
        .collect()
}

/// Writes of each size, as fast as what is asked for in that size.
fn flush_kinds(params: &ProfileParams, paces: &[Pace]) -> Vec<(Option<Kind>, Pace)> {
    let of_size = |kind: Kind| {
        let known = params.kinds.iter().position(|known| known.size == kind.size)?;
        Some((Some(kind), *paces.get(known)?))
    };
    flush::kinds(params).into_iter().filter_map(of_size).collect()
}

fn step(params: &ProfileParams, experiment: Experiment, kind: Option<Kind>, pace: Pace) -> Step {
    let (samples, depth) = (u64::from(params.samples), u64::from(params.depth));
    // A flow before a drain lasts for a random number of requests, up to seven times its depth.
    let flow = |depth: u64| 4 * depth + depth;
    let half = depth.div_ceil(2);
    let (trials, requests_each) = match experiment {
        Experiment::Single => (samples, 1),
        Experiment::Rotation => (geometry::REQUESTS[0], 1),
        Experiment::Overhead => (geometry::REQUESTS[1], 1),
        Experiment::Zones => (geometry::REQUESTS[2], 1),
        Experiment::SeekCurve => (geometry::REQUESTS[3], 1),
        Experiment::Stripe => {
            let cells = u64::try_from(stripe::cell_count(params.depth)).expect("a count fits");
            (u64::from(stripe::samples(params.samples)) * cells, 3)
        }
        Experiment::Batch => (samples * depth, half),
        Experiment::Mixed => {
            let cells = mixed::compositions(params.kinds.len(), params.depth).len();
            (samples * u64::try_from(cells).expect("a count fits"), half)
        }
        Experiment::Drain => {
            let ways = u64::try_from(Start::RANDOM.len()).expect("a few");
            (samples * depth * ways, (half + flow(half) + flow(depth)) / ways)
        }
        Experiment::DrainAdversary => {
            let ways = u64::try_from(Start::ADVERSARIES.len()).expect("a few");
            let samples = u64::from(drain::samples_of_adversaries(params.samples));
            (samples * depth * ways, (drain::STRANDED_LENGTH + flow(half)) / ways)
        }
        Experiment::Priority => (samples * depth, flow(depth) + depth),
        Experiment::Starvation => {
            let starved = pace.starved.map_or(0, Duration::ns);
            let each = starved / pace.in_company.ns().max(1);
            (samples * 2, each + 2 * depth)
        }
        Experiment::Flush => {
            // How many writes fill a cache is not known before they are made.
            let starts = u64::try_from(FlushStart::ALL.len()).expect("a few");
            (u64::from(flush::samples(params.samples)) * starts, FILLED_DEPTHS * depth)
        }
        Experiment::Throughput => {
            let depths = throughput::depths(params.depth);
            let stretches = u64::from(throughput::stretches(params.samples)) * 3;
            let requests: u64 =
                depths.iter().map(|&depth| u64::from(throughput::length(depth) + 2 * depth)).sum();
            let cells = u64::try_from(depths.len()).expect("a few");
            (stretches * cells, requests / cells)
        }
    };
    let alone = pace.alone.ns().saturating_mul(trials);
    let rest = trials.saturating_mul(requests_each - 1).saturating_mul(pace.in_company.ns());
    Step {
        experiment,
        kind,
        trials,
        requests: trials.saturating_mul(requests_each),
        time: Duration::from_ns(alone.saturating_add(rest)),
    }
}
