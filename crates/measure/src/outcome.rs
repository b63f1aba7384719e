// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a drive file from the results of the experiments, with costs, mechanics and remarks.

use tidegate_model::drive_file::{Identity, MeasuredTable};
use tidegate_model::mechanics::{Mechanics, Queue};
use tidegate_model::{CostModel, DriveFile, Op};
use tidegate_stats::confidence::{CONFIDENCE, FOUR_SIGMA, samples_needed};

use crate::finding::Finding;
use crate::found::Found;
use crate::geometry;
use crate::grouped;
use crate::kind_batches::KindBatches;
use crate::params::{ProfileError, ProfileParams};
use crate::start::StartTimes;
use crate::warning::Warning;

/// A finished measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The drive file, ready to be written. It lacks everything that was not measured.
    pub file: DriveFile,
    /// The longest drains from each start that was tried.
    pub starts: Vec<StartTimes>,
    /// Whether some request was not served at all; the device then has no bound on waiting times.
    pub is_endless: bool,
    /// The findings from the samples beyond their tables.
    pub findings: Vec<Finding>,
    /// Warnings for readers of the drive file.
    pub warnings: Vec<Warning>,
    /// Whether the measurement was stopped before the end.
    pub is_cancelled: bool,
}

impl Profile {
    /// Adds a warning, and its premise to the drive file.
    pub fn warn(&mut self, warning: Warning) {
        self.file.premises.extend(warning.premise());
        self.warnings.push(warning);
    }
}

/// Concludes a measurement of the device that `identity` describes. `warnings` holds the warnings
/// about the target and the host.
pub(crate) fn finish(
    params: &ProfileParams,
    mut found: Found,
    identity: Identity,
    warnings: impl IntoIterator<Item = Warning>,
) -> Result<Profile, ProfileError> {
    if found.is_empty() && found.is_cancelled {
        return Err(ProfileError::NothingMeasured);
    }
    let mut said = grouped::joined(std::mem::take(&mut found.warnings));
    said.extend(grouped::about(&found.findings));
    said.extend(found.samples.and_then(few_samples));
    said.extend(params.is_quick.then_some(Warning::Quick));
    said.extend(warnings);
    let cost = cost(params, &found).transpose().unwrap_or_else(|error| {
        said.push(Warning::NoCosts(error));
        None
    });
    said.extend(geometry::doubt(&found.geometry).map(Warning::MechanicsAmbiguous));
    let mechanics = mechanics(&found);
    fit(&mut found, mechanics.as_deref());
    let mechanics = mechanics.filter(|disk| {
        let apart = geometry::cross_check(disk, &found.file).into_iter().next();
        said.extend(apart.map(|apart| Warning::MechanicsApart { apart }));
        apart.is_none()
    });
    let file = DriveFile {
        depth: depth(&found.file),
        premises: said.iter().filter_map(Warning::premise).collect(),
        identity: with_interruption(identity, &found),
        cost,
        mechanics,
        ..found.file
    };
    let mut profile = Profile {
        is_endless: file.is_starvation_endless,
        file,
        starts: found.starts,
        findings: found.findings,
        warnings: said,
        is_cancelled: found.is_cancelled,
    };
    for mixed in &mut profile.file.mixed {
        mixed.samples = found.samples.map(u64::from);
    }
    Ok(profile)
}

/// Returns the number of requests of the longest table; without tables, the requested depth.
fn depth(file: &DriveFile) -> u32 {
    let tables = [&file.batch, &file.drain, &file.priority].into_iter().flatten();
    tables.map(|table| table.table.batch_max()).max().unwrap_or(file.depth)
}

/// Adds the number of samples that an interrupted measurement has, because its options state only
/// the requested number.
fn with_interruption(identity: Identity, found: &Found) -> Identity {
    if !found.is_cancelled {
        return identity;
    }
    let interrupted = found.samples.map_or_else(
        || "; interrupted".to_owned(),
        |count| format!("; interrupted with {count} samples of each at least"),
    );
    Identity { how: identity.how.map(|how| how + &interrupted), ..identity }
}

/// The reason why mixed batches alone give no costs: the costs must also cover batches of one kind.
const NO_BATCHES: &str =
    "mixed batches are measured together with batches of one kind: `--only batch,mixed`";

/// Returns the costs of batches by their requests, or the reason why none can be computed. `None`
/// if too few kinds of batches were measured to determine them.
fn cost(params: &ProfileParams, found: &Found) -> Option<Result<CostModel, String>> {
    let file = &found.file;
    if file.batch.is_empty() && !file.mixed.is_empty() {
        return Some(Err(NO_BATCHES.to_owned()));
    }
    if file.batch.is_empty() || params.kinds.len() > 1 && file.mixed.is_empty() {
        return None;
    }
    let samples = found.samples.map(u64::from);
    let costs = KindBatches::of(&params.kinds, file).costs();
    Some(costs.map(|costs| CostModel { samples, ..costs }).map_err(|error| error.to_string()))
}

/// Writes the parts of `[fit]` that use several experiments: the findings from the samples, in
/// words, and the geometry and mechanics of the device.
fn fit(found: &mut Found, mechanics: Option<&Mechanics>) {
    let of = |finding: &Finding| {
        let said = finding.sentences().into_iter().map(toml::Value::String).collect();
        (finding.name(), toml::Value::Array(said))
    };
    let samples: toml::Table = found.findings.iter().map(of).collect();
    if !samples.is_empty() {
        found.fit("samples", &samples);
    }
    if found.geometry.rotation.is_some() {
        found.fit("geometry", &found.geometry.clone());
    }
    if let Some(why) = &found.no_rotation {
        found.fit("no_rotation", &why.to_string());
    }
    if let Some(mechanics) = mechanics {
        found.fit("mechanics", mechanics);
    }
}

/// Returns a disk that behaves like the measured one, with the queue order that its batches show;
/// `None` if a figure is missing.
fn mechanics(found: &Found) -> Option<Box<Mechanics>> {
    let bare = geometry::mechanics(&found.geometry, Queue::default())?;
    // The order of the queue is determined from batches at random places.
    let reads = found.file.batch.iter().find(|table| table.op == Some(Op::Read));
    let reads = reads
        .map(|table| MeasuredTable { ns_max: table.random_ns_max().to_vec(), ..table.clone() });
    let reads = reads.as_ref();
    let order = reads.and_then(|table| geometry::queues(&bare, table)?.into_iter().next());
    // The observed wait also contains the request in service when the queue's limit had passed, and
    // the service of the starved request. Both are subtracted.
    let longest = reads.and_then(|table| table.ns_max.first()).copied().unwrap_or(0);
    let starved = found.file.starvation_max.map(|it| it.ns().saturating_sub(2 * longest));
    let starvation_ns = starved.filter(|&ns| ns > 0);
    let queue = Queue { starvation_ns, ..order.map_or_else(Queue::default, |it| it.queue()) };
    geometry::mechanics(&found.geometry, queue).map(Box::new)
}

/// Warns if there are too few samples for the usual confidence.
pub(crate) fn few_samples(samples: u32) -> Option<Warning> {
    let needed = samples_needed(CONFIDENCE, FOUR_SIGMA);
    (u64::from(samples) < needed).then_some(Warning::FewSamples { samples, needed })
}
