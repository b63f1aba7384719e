// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source that measures a simulated drive as `tidegate profile` does: the longest batches, and
//! estimates of longer ones.

use serde::Deserialize;
use tidegate_commands::NamedDrive;
use tidegate_measure::{
    Experiment, Kind, Measurable as _, Profile, ProfileParams, Selection, SimulatedTarget,
};
use tidegate_model::{Bytes, DriveKind, Op};
use tidegate_stats::extremes::{Tail, Tails};
use tidegate_stats::float;

use super::{Failed, Measures, Surroundings, unknown};
use crate::cell::Cell;

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The name of a built-in drive.
    drive: String,
    /// The kind of simulated drive.
    #[serde(default)]
    model: Option<String>,
    size: Bytes,
    /// The largest batch in requests; the measures apply to batches of this size.
    requests: u32,
    /// The number of samples per batch size.
    samples: u32,
    #[serde(default = "one")]
    seed: u64,
    /// The estimates give the time that one batch in `one_in` exceeds.
    one_in: u32,
}

const fn one() -> u64 {
    1
}

/// The measures of a profile.
pub(super) struct Measured {
    profile: Profile,
    parameters: Parameters,
}

impl Parameters {
    pub(super) fn run(self, surroundings: &Surroundings<'_>) -> Result<Measured, Failed> {
        let file = NamedDrive::new(&self.drive).map_err(Failed::of)?.file;
        let wanted = self.model.as_ref().map(|name| {
            DriveKind::from_name(name)
                .ok_or_else(|| Failed::Fault(format!("there is no model `{name}`")))
        });
        let kind = SimulatedTarget::kind_of(&file, wanted.transpose()?);
        let only = &[Experiment::BATCH];
        let params = ProfileParams {
            kinds: vec![Kind { op: Op::Read, size: self.size }],
            depth: self.requests,
            samples: self.samples,
            seed: self.seed,
            ..SimulatedTarget::params(&file, kind, Selection { only, is_quick: false })
        };
        let target = SimulatedTarget::new(file, kind, &params).map_err(Failed::of);
        let profile = target?.measure(&params, &mut |_| (), surroundings.cancelled, None);
        let profile = profile.map_err(Failed::of)?;
        if profile.is_cancelled {
            return Err(Failed::Cancelled);
        }
        Ok(Measured { profile, parameters: self })
    }
}

impl Measures for Measured {
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let size = self.parameters.size;
        let table = || tidegate_drive::measured_table(&self.profile.file, Op::Read, size);
        Ok(match name {
            "batch_ns_max" => table().and_then(|it| it.ns_max.last().copied()).map(Cell::of),
            "blocks_level_ns" => self.level(|tails| tails.blocks),
            "excesses_level_ns" => self.level(|tails| tails.excesses),
            _ => return Err(unknown(name, "batch_ns_max, blocks_level_ns, excesses_level_ns")),
        })
    }
}

impl Measured {
    /// Returns the estimate by one distribution law; `None` if the samples do not follow it.
    fn level(&self, of: impl Fn(&Tails) -> Tail) -> Option<Cell> {
        let tails = self.profile.findings.iter().find_map(|it| it.tail.as_ref())?;
        match of(tails) {
            Tail::Fitted(fit) => {
                let exceedance = 1.0 / float::of(self.parameters.one_in.into());
                fit.level(exceedance).map(Cell::of_time)
            }
            Tail::Refused(..) => None,
        }
    }
}
