// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The measurements behind a workload's batch table: how many samples, and how short a batch can
//! be. They say how often an overrun must be expected; no bound rests on them.

use crate::drive_file::{DriveFile, MeasuredTable};
use crate::plural::count;
use crate::premise::{Premise, PremiseCode};
use crate::task::Op;
use crate::units::Duration;

/// The number of samples that shows, with 99 % confidence, a time beyond 4 sigma on either side of
/// a normal distribution.
pub const SAMPLES_NEEDED: u64 = 72_704;

/// Returns whether the times of a table are claims: no samples are stated, and the drive file says
/// that its times were simulated, computed, chosen or taken from a data sheet.
pub(crate) fn are_claims(drive: &DriveFile, table: &MeasuredTable) -> bool {
    let codes = [PremiseCode::Simulated, PremiseCode::Chosen, PremiseCode::DataSheet];
    table.samples.is_none() && codes.iter().any(|&code| is_said(drive, code))
}

/// Returns whether a table is computed from a data sheet: its times then hold at all places.
pub(crate) fn is_of_data_sheet(drive: &DriveFile, table: &MeasuredTable) -> bool {
    table.samples.is_none() && is_said(drive, PremiseCode::DataSheet)
}

fn is_said(drive: &DriveFile, code: PremiseCode) -> bool {
    drive.premises.of_code(code).next().is_some()
}

/// Returns the doubts about the number and the independence of a table's samples that the drive
/// file does not state itself. Empty if the times are claims.
///
/// # Arguments
/// `what` names the table's times, in the plural.
pub(crate) fn doubts(drive: &DriveFile, table: &MeasuredTable, what: &str) -> Vec<Premise> {
    if are_claims(drive, table) {
        return Vec::new();
    }
    let mut doubts = Vec::new();
    let name = &drive.name;
    if !is_said(drive, PremiseCode::FewSamples) {
        doubts.extend(match table.samples {
            None => Some((
                "an unstated number of samples".to_owned(),
                format!(
                    "`{name}` does not say how many samples of {what} were taken; write `samples`, or \
                     a [[premise]] with code = \"chosen\" if the times were chosen"
                ),
            )),
            Some(samples) if samples < SAMPLES_NEEDED => Some((
                count(samples, "sample"),
                format!(
                    "{what} of `{name}` are the longest of {} each; {SAMPLES_NEEDED} are \
                     needed to see, with 99 % confidence, a time beyond 4 sigma",
                    count(samples, "sample")
                ),
            )),
            Some(_) => None,
        }
        .map(|(subject, text)| Premise::new(PremiseCode::FewSamples, subject, text)));
    }
    let Some(samples) = table.samples else { return doubts };
    let effective = table.samples_effective.filter(|&effective| effective < samples.div_ceil(2));
    if let Some(effective) = effective.filter(|_| !is_said(drive, PremiseCode::DependentSamples)) {
        doubts.push(Premise::new(
            PremiseCode::DependentSamples,
            "dependent samples",
            format!(
                "the {samples} samples of {what} of `{name}` carry the information of {effective} \
                 independent ones"
            ),
        ));
    }
    doubts
}

/// The measurement of one batch table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// The operation of its requests; `None` for every operation.
    pub op: Option<Op>,
    /// The smallest number of samples of a batch.
    pub samples: u64,
    /// The number of independent samples that carry as much information as these samples; `None` if
    /// no dependence was found.
    pub samples_effective: Option<u64>,
    /// The shortest measured time of a batch; `None` if the drive file does not have it.
    pub time_min: Option<Duration>,
}

impl Sampling {
    /// Returns the measurements behind these tables; none if one of them does not state its
    /// samples.
    pub(crate) fn of(measured: &[&MeasuredTable]) -> Vec<Self> {
        let of_table = |table: &&MeasuredTable| {
            let samples = table.samples.filter(|&samples| samples > 0)?;
            let shortest = table.quantiles_ns[0].iter().min().copied();
            Some(Self {
                op: table.op,
                samples,
                samples_effective: table.samples_effective,
                time_min: shortest.map(Duration::from_ns),
            })
        };
        measured.iter().map(of_table).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Returns the number of samples that count as independent, at least one.
    pub fn independent(&self) -> u64 {
        self.samples_effective.unwrap_or(self.samples).min(self.samples).max(1)
    }
}
