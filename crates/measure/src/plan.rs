// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predicts the steps of a measurement and their duration before it begins.
//!
//! The duration is estimated from the pace of the device: a batch of i takes as long as one request
//! alone plus i - 1 requests on a full device.

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_model::{Bytes, Duration, Op, Tag};

use crate::experiment::{Experiment, Scope};
use crate::experiments::starvation::{self, Others};
use crate::experiments::{made, procedure};
use crate::flow::{Flow, FlowParams};
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::procedure::Pace;
use crate::subject::{Subject, TrialResult};

/// The number of requests that are timed one at a time to estimate the device's pace.
const ALONE: u32 = 8;

/// The number of requests that are timed on a full device to estimate its pace, in multiples of its
/// depth.
const IN_COMPANY: u32 = 3;

/// One experiment with one kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The experiment.
    pub experiment: Experiment,
    /// The kind of its requests; `None` if it uses several kinds.
    pub kind: Option<Kind>,
    /// The number of samples of all cells together.
    pub trials: u64,
    /// The approximate number of requests, without warm-up.
    pub requests: u64,
    /// The approximate duration.
    pub time: Duration,
}

/// Measures the pace with a few requests. This takes less than a second on most devices, plus the
/// wait of a starved request.
fn pace(subject: &mut dyn Subject, places: Places, params: &ProfileParams) -> TrialResult<Pace> {
    let (random, depth) = (&mut Pcg64::seed_from_u64(params.seed), params.depth);
    let mut flow = Flow::on(subject, random);
    let begun = flow.now();
    for _ in 0..ALONE {
        let probe = places.anywhere(flow.random);
        flow.serve(&[probe])?;
    }
    let alone = flow.now().since(begun);
    flow.keep(depth, depth, |random| places.anywhere(random))?;
    let (begun, mut done) = (flow.now(), 0);
    while done < IN_COMPANY * depth {
        let returned = u32::try_from(flow.wait()?.len()).expect("a device holds few requests");
        done += returned;
        flow.send(returned, Tag::Simple, |random| places.anywhere(random))?;
    }
    let together = flow.now().since(begun);
    flow.drain()?;
    let is_starved = params.experiments.contains(&Experiment::STARVATION) && depth > 1;
    let flows = FlowParams { places, depth };
    let mut starve = || starvation::sample(&mut flow, flows, Others::Random);
    let starved = is_starved.then(&mut starve).transpose()?;
    Ok(Pace { alone: part(alone, ALONE), in_company: part(together, done), starved })
}

fn part(whole: Duration, parts: u32) -> Duration {
    Duration::from_ns(whole.ns() / u64::from(parts.max(1)))
}

/// Returns the steps of a measurement, after timing a few reads of each size. Writes are assumed to
/// be as fast as reads, because a plan must not write.
pub(crate) fn steps(
    subject: &mut dyn Subject,
    has_tags: bool,
    capacity: Bytes,
    params: &ProfileParams,
) -> TrialResult<Vec<Step>> {
    let pace = |kind: &Kind| {
        let places = Places::of(capacity, Kind { op: Op::Read, ..*kind });
        pace(subject, places, params)
    };
    let paces = params.kinds.iter().map(pace).collect::<TrialResult<Vec<_>>>()?;
    let of = |it| kinds(params, it, &paces).into_iter().map(move |(kind, pace)| (it, kind, pace));
    let steps = made(params, has_tags).into_iter().flat_map(of);
    Ok(steps.map(|(experiment, kind, pace)| step(params, experiment, kind, pace)).collect())
}

/// Returns one entry per run of the experiment: the kind of its requests, and the pace of that
/// kind. If the experiment is run once rather than per kind, the kind is `None` and the pace is the
/// slowest.
fn kinds(
    params: &ProfileParams,
    experiment: Experiment,
    paces: &[Pace],
) -> Vec<(Option<Kind>, Pace)> {
    let of_size = |kind: Kind| {
        let known = params.kinds.iter().position(|known| known.size == kind.size)?;
        Some((Some(kind), *paces.get(known)?))
    };
    match experiment.scope() {
        Scope::EachKind | Scope::EachKindOfDisk => {
            params.kinds.iter().copied().map(Some).zip(paces.iter().copied()).collect()
        }
        Scope::Writes => {
            procedure(experiment).kinds(params).into_iter().filter_map(of_size).collect()
        }
        Scope::Device | Scope::AllKinds => {
            let slowest = paces.iter().copied().max_by_key(|pace| pace.alone);
            slowest.map(|pace| (None, pace)).into_iter().collect()
        }
    }
}

fn step(params: &ProfileParams, experiment: Experiment, kind: Option<Kind>, pace: Pace) -> Step {
    let procedure = procedure(experiment);
    let (trials, each) = (procedure.grid(params).trials(), procedure.requests(params, pace));
    let alone = pace.alone.ns().saturating_mul(trials);
    let rest = trials.saturating_mul(each - 1).saturating_mul(pace.in_company.ns());
    Step {
        experiment,
        kind,
        trials,
        requests: trials.saturating_mul(each),
        time: Duration::from_ns(alone.saturating_add(rest)),
    }
}
