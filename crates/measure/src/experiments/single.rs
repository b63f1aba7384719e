// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The time of one request at a random place of an idle device, and the places where it takes long.
//!
//! Slow places are read or written again. If a place is slow every time, the place itself is the
//! cause: its sector is weak or was remapped. Otherwise it was slow by chance.
//!
//! Source: RTAS'08, section 2.1, figure 2. Trying slow places again is our own.

use tidegate_model::drive_file::{SingleTimes, SlowPlace};
use tidegate_model::{Duration, Lba};
use tidegate_stats::order_statistics::Summary;

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::found::Found;
use crate::held_up::Sample;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::Procedure;
use crate::rounds::{Grid, Rounds, Trial};
use crate::subject::{Probe, Subject, TrialResult};

/// The maximum number of slow places that are recorded.
const SLOW_MAX: usize = 10;

/// The number of times that each slow place is tried again.
const AGAIN: u32 = 3;

impl Experiment {
    /// One request at a random place of an idle device.
    pub const SINGLE: Self = Self::of(&Facts {
        name: "single",
        scope: Scope::EachKind,
        cell_name: CellName::One,
        time: "single: one random request on an idle device",
        is_about_maxima: true,
        tail: Some("one at a time"),
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: false,
    });
}

/// The procedure of [`Experiment::SINGLE`].
pub(super) struct Single;

impl Procedure for Single {
    fn grid(&self, params: &ProfileParams) -> Grid {
        Grid { samples: params.samples, cells: 1, ways: 1 }
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let places = context.places(kind);
        let own = context.rounds(Experiment::SINGLE, kind, self.grid(context.params));
        // Use other places than the batches of one request: the device may hold those in its
        // memory.
        let rounds = Rounds { seed: !own.seed, ..own };
        let measured = context.measure(&rounds, |flow, _| {
            let probe = places.anywhere(flow.random);
            let took = flow.serve(&[probe])?;
            Ok(Trial { took, start: Some(probe.start.get()) })
        })?;
        found.note(&rounds, &measured);
        // Slow places are tried again in each run, so this run always counts as part of the result.
        context.control.journal.count_this_run();
        found.file.single.extend(times(kind, &measured.cells[0], context.subject)?);
        Ok(())
    }
}

/// Returns the summary of all samples and the slow places; `None` without a sample.
///
/// # Assumptions
/// Between two requests for one place, a request elsewhere is served. The device may still have the
/// place in memory; the second request then takes the time of a hit.
fn times(
    kind: Kind,
    samples: &[Sample],
    subject: &mut dyn Subject,
) -> TrialResult<Option<SingleTimes>> {
    let Some(summary) = Sample::summary(samples) else { return Ok(None) };
    let slow = slow_places(samples, limit(&summary));
    let slow = slow.into_iter().map(|it| ask_again(kind, it, samples, subject));
    Ok(Some(SingleTimes {
        op: kind.op,
        size: kind.size,
        samples: u64::from(summary.count),
        ns_max: summary.highest.ns(),
        ns_quantiles: summary.quantiles.map(Duration::ns),
        slow: slow.collect::<Result<_, _>>()?,
    }))
}

/// Returns the time above which a request is slow: the 90th percentile plus its distance from the
/// 10th percentile.
fn limit(summary: &Summary) -> Duration {
    let [_, p10, _, p90, ..] = summary.quantiles;
    p90 + (p90 - p10)
}

/// Returns the slowest places above `limit`, the slowest first.
fn slow_places(samples: &[Sample], limit: Duration) -> Vec<SlowPlace> {
    let mut slow: Vec<_> = samples
        .iter()
        .filter(|sample| sample.took > limit && !sample.is_disturbed())
        .filter_map(|sample| Some((sample.took, sample.start?)))
        .map(|(took, sector)| SlowPlace { sector, ns: took.ns(), again_ns_min: None })
        .collect();
    slow.sort_unstable_by_key(|place| std::cmp::Reverse(place.ns));
    slow.truncate(SLOW_MAX);
    slow
}

/// Requests a slow place again, each time after a request for another place.
fn ask_again(
    kind: Kind,
    slow: SlowPlace,
    samples: &[Sample],
    subject: &mut dyn Subject,
) -> TrialResult<SlowPlace> {
    let Kind { op, size } = kind;
    let at = |sector| Probe { op, start: Lba::new(sector), size };
    let elsewhere = samples.iter().filter_map(|sample| sample.start).cycle();
    let elsewhere: Vec<u64> = elsewhere.take(AGAIN as usize).collect();
    let mut least = None;
    for other in elsewhere {
        subject.serve(&[at(other)])?;
        let took = subject.serve(&[at(slow.sector)])?;
        least = Some(least.map_or(took, |known: Duration| known.min(took)));
    }
    Ok(SlowPlace { again_ns_min: least.map(Duration::ns), ..slow })
}
