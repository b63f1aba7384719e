// SPDX-License-Identifier: Apache-2.0 OR MIT
//! From what the experiments gave to a drive file: tables, fits, and what is to be said of them.

use tidegate_model::drive_file::{Identity, MeasuredTable, MixedBatches, MixedKind};
use tidegate_model::mechanics::{Mechanics, Queue};
use tidegate_model::{CostModel, DriveFile, DriveKind, Duration, Op};

use crate::envelope::{self, EnvelopeError, Point};
use crate::finding::Finding;
use crate::flush;
use crate::geometry;
use crate::grouped;
use crate::kind::Kind;
use crate::profile::{Profile, ProfileError, ProfileParams};
use crate::run::Found;
use crate::warning::Warning;
use tidegate_stats::confidence::{CONFIDENCE, FOUR_SIGMA, samples_needed};

/// The profile of what was found on the device that `identity` tells of; `warnings` are those of the
/// target and the host.
pub(crate) fn finish(
    params: &ProfileParams,
    found: Found,
    identity: Identity,
    warnings: impl IntoIterator<Item = Warning>,
) -> Result<Profile, ProfileError> {
    if found.is_empty() && found.is_cancelled {
        return Err(ProfileError::NothingMeasured);
    }
    let mut said = grouped::joined(found.warnings.clone());
    said.extend(grouped::about(&found.findings));
    said.extend(found.samples.and_then(few_samples));
    said.extend(warnings);
    let is_cancelled = found.is_cancelled;
    let how = identity.how.clone().filter(|_| is_cancelled);
    let how = how.map(|how| how + &interrupted(found.samples)).or(identity.how);
    let identity = Identity { how, ..identity };
    let (starts, findings, is_endless) =
        (found.starts.clone(), found.findings.clone(), found.is_endless);
    let cost = cost(params, &found).transpose().unwrap_or_else(|error| {
        said.push(Warning::NoCosts(error.to_string()));
        None
    });
    let file = DriveFile { cost, ..drive_file(params, identity, found) };
    Ok(Profile { file, starts, is_endless, findings, warnings: said, is_cancelled })
}

/// What a batch costs by its requests; only if batches like those it speaks of were measured:
/// of one kind, or mixed ones.
fn cost(params: &ProfileParams, found: &Found) -> Option<Result<CostModel, CostsError>> {
    if found.batch.is_empty() && !found.mixed.is_empty() {
        return Some(Err(CostsError::NoBatches));
    }
    if found.batch.is_empty() || params.kinds.len() > 1 && found.mixed.is_empty() {
        return None;
    }
    let of_table = |table: &MeasuredTable| {
        let kind = |kind: &Kind| (Some(kind.op), Some(kind.size)) == (table.op, table.size);
        let at = params.kinds.iter().position(kind).expect("tables are of kinds asked for");
        let point = |(&ns, count): (&u64, u32)| {
            let mut counts = vec![0; params.kinds.len()];
            counts[at] = count;
            Point { counts, highest: Duration::from_ns(ns) }
        };
        table.ns_max.iter().zip(1..).map(point).collect::<Vec<_>>()
    };
    let pure = found.batch.iter().flat_map(of_table);
    let mixed = found.mixed.iter().cloned();
    let mixed = mixed.map(|(counts, highest)| Point { counts, highest });
    let points: Vec<Point> = pure.chain(mixed).collect();
    let samples = found.samples.map(u64::from);
    let model = |envelope| CostModel { samples, ..CostModel::from(envelope) };
    Some(envelope::fit(&params.kinds, &points).map(model).map_err(CostsError::from))
}

/// Why there is no model of costs.
#[derive(Debug, thiserror::Error)]
enum CostsError {
    /// Costs have to cover the tables beside them.
    #[error("mixed batches are measured together with batches of one kind: `--only batch,mixed`")]
    NoBatches,
    /// Nothing covers what was measured.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
}

/// The batches of several kinds, if any was measured.
fn mixed(params: &ProfileParams, found: &Found) -> Option<MixedBatches> {
    let request = |kind: &Kind| MixedKind { op: kind.op, size: kind.size };
    let (counts, longest): (Vec<_>, Vec<_>) = found.mixed.iter().cloned().unzip();
    (!counts.is_empty()).then(|| MixedBatches {
        samples: found.samples.map(u64::from),
        request: params.kinds.iter().map(request).collect(),
        counts,
        ns_max: longest.into_iter().map(Duration::ns).collect(),
    })
}

/// What was found out that no table holds: what the samples tell, in words; what the device is
/// made of.
fn fit(found: &Found, mechanics: Option<&Mechanics>) -> Option<toml::Table> {
    let of = |finding: &Finding| {
        let said = finding.sentences().into_iter().map(toml::Value::String).collect();
        (finding.name(), toml::Value::Array(said))
    };
    let samples: toml::Table = found.findings.iter().map(of).collect();
    let structure = &found.structure;
    let geometry = structure.geometry.rotation.as_ref().and(value(&structure.geometry));
    let no_rotation = structure.no_rotation.as_ref().map(|why| why.to_string().into());
    let stripe = found.stripe.as_ref().and_then(value);
    let flush = (!found.flush.is_empty()).then(|| value(&found.flush)).flatten();
    let samples = (!samples.is_empty()).then_some(toml::Value::Table(samples));
    let all = [
        ("samples", samples),
        ("geometry", geometry),
        ("no_rotation", no_rotation),
        ("stripe", stripe),
        ("flush", flush),
        ("mechanics", mechanics.and_then(value)),
    ];
    let all = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Some(all.collect::<toml::Table>()).filter(|table| !table.is_empty())
}

/// Plain data as TOML; what is too large for it is left out.
fn value(of: &impl serde::Serialize) -> Option<toml::Value> {
    toml::Value::try_from(of).ok()
}

/// A disk that behaves as what was seen, and why its queue is what it is; none where not all of
/// it was seen.
fn mechanics(found: &Found) -> Option<Box<Mechanics>> {
    let geometry = &found.structure.geometry;
    let bare = geometry::mechanics(geometry, Queue::default())?;
    let reads = found.batch.iter().find(|table| table.op == Some(Op::Read));
    let order = reads.and_then(|table| geometry::queues(&bare, table)?.into_iter().next());
    // What waited for so long was served next, behind what was in service, and took its time.
    let longest = reads.and_then(|table| table.ns_max.first()).copied().unwrap_or(0);
    let starvation_ns =
        found.starvation_max.map(|it| it.ns().saturating_sub(2 * longest)).filter(|&ns| ns > 0);
    let queue = Queue { starvation_ns, ..order.map_or_else(Queue::default, |it| it.queue()) };
    geometry::mechanics(geometry, queue).map(Box::new)
}

fn drive_file(params: &ProfileParams, identity: Identity, found: Found) -> DriveFile {
    let tables = [&found.batch, &found.drain, &found.priority].into_iter().flatten();
    let entries = tables.map(|table| table.table.batch_max());
    let mechanics = mechanics(&found);
    let fit = fit(&found, mechanics.as_deref());
    let flush_max = flush::longest(params, &found.flush);
    let mixed = mixed(params, &found).into_iter().collect();
    DriveFile {
        name: params.name.clone(),
        kind: DriveKind::Recorded,
        depth: entries.max().unwrap_or(params.depth),
        identity,
        batch: found.batch,
        drain: found.drain,
        priority: found.priority,
        single: found.single,
        throughput: found.throughput,
        mixed,
        cost: None,
        starvation_max: found.starvation_max,
        starvation_of: found.starvation_of,
        flush_max,
        starvation_depth: None,
        is_starvation_endless: found.is_endless,
        mechanics,
        ssd: None,
        fit,
    }
}

/// How many samples there really are: options tell how many were asked for.
fn interrupted(samples: Option<u32>) -> String {
    samples.map_or_else(
        || "; interrupted".to_owned(),
        |count| format!("; interrupted with {count} samples of each at least"),
    )
}

fn few_samples(samples: u32) -> Option<Warning> {
    let needed = samples_needed(CONFIDENCE, FOUR_SIGMA);
    (u64::from(samples) < needed).then_some(Warning::FewSamples { samples, needed })
}
