// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Combines warnings about many measurements: how many are affected, and which is the worst.
//!
//! `[fit.samples]` of the drive file has every sentence about each measurement. The warnings at the
//! end of a measurement say whether it is reliable, and what to do.

use crate::experiment::CellName;
use crate::finding::Finding;
use crate::kind::distinct;
use crate::warning::Warning;
use tidegate_stats::cell::Cell;

/// Returns warnings about unreliable samples: one for each kind of fault.
pub(crate) fn about(findings: &[Finding]) -> Vec<Warning> {
    [held_up(findings), drifted(findings), dependent(findings)].into_iter().flatten().collect()
}

/// Combines all warnings about experiments that were not begun into one.
pub(crate) fn joined(warnings: Vec<Warning>) -> Vec<Warning> {
    let not_begun = |warning: &Warning| match warning {
        Warning::NotBegun { experiments } => experiments.clone(),
        _ => Vec::new(),
    };
    let all = distinct(warnings.iter().flat_map(not_begun));
    let mut is_said = false;
    let joined = warnings.into_iter().filter_map(|warning| match warning {
        Warning::NotBegun { .. } if std::mem::replace(&mut is_said, true) => None,
        Warning::NotBegun { .. } => Some(Warning::NotBegun { experiments: all.clone() }),
        other => Some(other),
    });
    joined.collect()
}

/// Warns if the host made a longest time longer.
fn held_up(findings: &[Finding]) -> Option<Warning> {
    let hit = || findings.iter().filter(|it| !it.disturbance.excess_max.is_zero());
    let worst = hit().max_by_key(|it| it.disturbance.excess_max)?;
    let (of, disturbance) = (worst.name(), worst.disturbance);
    Some(Warning::HeldUp { measurements: hit().count(), of, disturbance })
}

/// Warns if the end of a measurement differs from its beginning.
fn drifted(findings: &[Finding]) -> Option<Warning> {
    let shifts = || findings.iter().flat_map(|it| it.drift.shifts.iter().map(move |at| (it, at)));
    let (worst, shift) = shifts().max_by(|a, b| a.1.factor().total_cmp(&b.1.factor()))?;
    let measurements = findings.iter().filter(|it| !it.drift.shifts.is_empty()).count();
    let of = named(worst, shift.cell);
    Some(Warning::Drifted { measurements, of, shift: shift.in_short() })
}

/// Warns if dependent samples carry the information of less than half of their number.
fn dependent(findings: &[Finding]) -> Option<Warning> {
    let grave = || findings.iter().filter(|it| it.independence.is_grave());
    let worst = |it: &Finding| it.independence.worst().copied();
    let (finding, dependence) = grave()
        .filter_map(|it| Some((it, worst(it)?)))
        .max_by(|a, b| a.1.correlation.total_cmp(&b.1.correlation))?;
    Some(Warning::Dependent {
        measurements: grave().count(),
        of: named(finding, dependence.cell),
        samples: dependence.samples,
        effective: dependence.effective(),
    })
}

/// Names a cell: `b(5) of reads of 4KiB`, `drain(5) of reads of 4KiB (start: steady)`, `entry 2 of
/// starvation of reads of 4KiB`.
fn named(finding: &Finding, cell: Cell) -> String {
    match finding.experiment.facts().cell_name {
        CellName::One => finding.name(),
        CellName::Count(symbol, starts) => {
            let of = finding.kind.map_or_else(String::new, |kind| format!(" of {kind}"));
            let start = starts.get(cell.way).map(|start| format!(" (start: {start})"));
            format!("{symbol}({}){of}{}", cell.entry + 1, start.unwrap_or_default())
        }
        CellName::Number => format!("{cell} of {}", finding.name()),
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{Bytes, Duration, Op, Time};

    use super::*;
    use crate::experiment::Experiment;
    use crate::held_up::Sample;
    use crate::kind::Kind;
    use crate::rounds::{Grid, Measured, Part, Rounds};

    /// Returns the finding of a measurement whose samples get slower by about `slower` per cent. At
    /// its end, the host holds up samples for `held_up` microseconds.
    fn finding(experiment: Experiment, slower: u64, held_up: u64) -> Finding {
        let took = |at: u64| 100_000 + at * at * 7_919 % 997 + at * slower * 10;
        let sample = |at: u64| {
            let held_up = if at == 99 { held_up } else { 0 };
            let took = Duration::from_ns(took(at)) + Duration::from_us(held_up);
            Sample::new(took, Duration::from_us(held_up), None)
        };
        let cells = vec![(0..100).map(sample).collect()];
        let measured = Measured { cells, is_cancelled: false, has_steal: false };
        let kind = Some(Kind { op: Op::Read, size: Bytes::from_kib(4) });
        let begun = Time::ZERO;
        let (grid, seed) = (Grid { samples: 100, cells: 1, ways: 1 }, 0);
        Finding::of(&Rounds { experiment, kind, grid, seed, begun, part: Part::WHOLE }, &measured)
    }

    #[test]
    fn what_many_say_is_one_line_that_names_the_worst() {
        let (drain, batch) = (Experiment::DRAIN, Experiment::BATCH);
        let findings = [finding(drain, 100, 0), finding(batch, 300, 900), finding(drain, 0, 500)];
        let all = about(&findings);
        let texts: Vec<_> = all.iter().map(ToString::to_string).collect();
        let [held_up, drifted, dependent] = &texts[..] else { panic!("{texts:#?}") };
        assert!(held_up.contains("2 measurements, most in batch of reads of 4KiB"), "{held_up}");
        assert!(drifted.contains("2 measurements, most in b(1) of reads of 4KiB"), "{drifted}");
        assert!(dependent.contains("2 measurements, most in b(1) of reads of 4KiB"), "{dependent}");
        assert!(texts.iter().all(|text| !text.contains('\n')));
        assert_eq!(about(&[finding(drain, 0, 0)]), []);
    }

    #[test]
    fn what_was_not_begun_is_one_line() {
        let of = |experiment| Warning::NotBegun { experiments: vec![experiment] };
        let (batch, drain) = (Experiment::BATCH, Experiment::DRAIN);
        let all = joined(vec![of(batch), Warning::NotRealTime, of(drain), of(batch)]);
        let both = Warning::NotBegun { experiments: vec![batch, drain] };
        assert_eq!(all, [both, Warning::NotRealTime]);
        assert_eq!(all[0].to_string(), "stopped before the first sample of batch, drain");
    }
}
