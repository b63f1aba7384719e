// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The findings about a profile's samples, for programs.

use serde::Serialize;
use tidegate_measure::Finding;
use tidegate_model::{Bytes, Op};
use tidegate_stats::drift::{Change, Shift};
use tidegate_stats::independence::Dependence;

use crate::ns::Ns;

#[derive(Serialize)]
pub(super) struct FindingReport {
    op: Option<&'static str>,
    size_bytes: Option<u64>,
    experiment: &'static str,
    samples: u64,
    samples_disturbed: u64,
    held_up_ns_max: Ns,
    excess_ns_max: Ns,
    drift: Vec<ShiftReport>,
    dependent: Vec<DependenceReport>,
    p99_ns_max: Option<Ns>,
    tail: Option<String>,
}

/// Times that changed during the measurement. Entries and ways count from 1, as tables do.
#[derive(Serialize)]
struct ShiftReport {
    entry: usize,
    way: usize,
    of: &'static str,
    first_ns: Ns,
    last_ns: Ns,
}

/// Samples that depend on their predecessors. Entries and ways count from 1, as tables do.
#[derive(Serialize)]
struct DependenceReport {
    entry: usize,
    way: usize,
    correlation: f64,
    samples: u64,
    samples_effective: u64,
}

impl FindingReport {
    pub(super) fn of(finding: &Finding) -> Self {
        let Finding { disturbance, drift, independence, .. } = finding;
        Self {
            op: finding.kind.map(|kind| Op::name(kind.op)),
            size_bytes: finding.kind.map(|kind| Bytes::get(kind.size)),
            experiment: finding.experiment.name(),
            samples: disturbance.samples,
            samples_disturbed: disturbance.disturbed,
            held_up_ns_max: disturbance.held_up_max.into(),
            excess_ns_max: disturbance.excess_max.into(),
            drift: drift.shifts.iter().map(ShiftReport::of).collect(),
            dependent: independence.dependent.iter().map(DependenceReport::of).collect(),
            p99_ns_max: finding.quantile.as_ref().map(|it| it.time_max.into()),
            tail: finding.tail.as_ref().map(ToString::to_string),
        }
    }
}

impl ShiftReport {
    fn of(shift: &Shift) -> Self {
        Self {
            entry: shift.cell.entry + 1,
            way: shift.cell.way + 1,
            of: match shift.change {
                Change::Samples => "median",
                Change::Longest => "p95",
            },
            first_ns: shift.first.into(),
            last_ns: shift.last.into(),
        }
    }
}

impl DependenceReport {
    fn of(dependence: &Dependence) -> Self {
        Self {
            entry: dependence.cell.entry + 1,
            way: dependence.cell.way + 1,
            correlation: dependence.correlation,
            samples: dependence.samples,
            samples_effective: dependence.effective(),
        }
    }
}
