// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One request at a random place of an idle device: how long it takes, and where it takes long.
//!
//! What stands out is asked for again: a place that is slow each time is slow by itself (a
//! sector that was moved aside, a weak one); a place that is not had bad luck.
//!
//! Source: RTAS'08, section 2.1, figure 2. Asking again is our own.

use tidegate_model::drive_file::{SingleTimes, SlowPlace};
use tidegate_model::{Duration, Lba};

use crate::held_up::Sample;
use crate::kind::Kind;
use crate::subject::{Probe, Subject, SubjectError};
use tidegate_stats::order_statistics::Summary;

/// How many of those that stand out are written down.
const SLOW_MAX: usize = 10;

/// How often each of them is asked for again.
const AGAIN: u32 = 3;

/// The times of all samples, and of the places that stand out; none without a sample.
///
/// # Assumptions
/// Between two requests for one place another is served, far away, but the device may still
/// remember it: the time of the second is then that of its memory.
pub(crate) fn times(
    kind: Kind,
    samples: &[Sample],
    subject: &mut dyn Subject,
) -> Result<Option<SingleTimes>, SubjectError> {
    let mut sorted: Vec<_> = samples.iter().map(|sample| sample.took).collect();
    let Some(summary) = Summary::of(&mut sorted) else { return Ok(None) };
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

/// What is longer stands out: as far above the ninetieth percentile as that is above the tenth.
fn limit(summary: &Summary) -> Duration {
    let [_, p10, _, p90, ..] = summary.quantiles;
    p90 + (p90 - p10)
}

/// The slowest above `limit`, the slowest first.
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

fn ask_again(
    kind: Kind,
    slow: SlowPlace,
    samples: &[Sample],
    subject: &mut dyn Subject,
) -> Result<SlowPlace, SubjectError> {
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
