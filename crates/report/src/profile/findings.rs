// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The findings about a profile's samples, for programs.

use serde::Serialize;
use tidegate_measure::Finding;
use tidegate_model::{Bytes, Op};
use tidegate_stats::drift::{Change, Shift};
use tidegate_stats::extremes::{Fitted, Refusal, Tail};
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
    tails: Vec<TailReport>,
}

/// An estimate of the tail by one distribution law, or the reason why there is none.
#[derive(Serialize)]
struct TailReport {
    law: &'static str,
    values: u32,
    exceedance: Option<f64>,
    level_ns: Option<Ns>,
    level_ns_low: Option<Ns>,
    level_ns_high: Option<Ns>,
    anderson_darling: Option<f64>,
    p: Option<f64>,
    refused: Option<&'static str>,
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
            tails: finding
                .tail
                .iter()
                .flat_map(|it| [it.blocks, it.excesses])
                .map(TailReport::of)
                .collect(),
        }
    }
}

impl TailReport {
    fn of(tail: Tail) -> Self {
        let (fitted, fit, refusal) = match tail {
            Tail::Fitted(fit) => (fit.fitted, Some(fit), None),
            Tail::Refused(fitted, refusal) => (fitted, None, Some(refusal)),
        };
        let (law, values) = match fitted {
            Fitted::Blocks { count, .. } => ("block_maxima", count),
            Fitted::Excesses { count, .. } => ("excesses", count),
        };
        let range = fit.and_then(|it| it.range);
        let poor = match refusal {
            Some(Refusal::PoorFit(goodness)) => Some(goodness),
            _ => None,
        };
        let goodness = fit.map(|it| it.goodness).or(poor);
        Self {
            law,
            values,
            exceedance: fit.map(|it| it.exceedance),
            level_ns: tail.level().map(Ns::from),
            level_ns_low: range.map(|it| it.low.into()),
            level_ns_high: range.and_then(|it| it.high).map(Ns::from),
            anderson_darling: goodness.map(|it| it.statistic),
            p: goodness.map(|it| it.p),
            refused: refusal.map(|it| it.name()),
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
