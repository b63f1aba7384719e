// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reports how far a drive can exceed the times in its tables while every deadline is still met.

use serde::Serialize;
use tidegate_analysis::{Assessment, Tolerance, tolerance};
use tidegate_model::{DriveContract, Duration, Workload};

use crate::figures;
use crate::ns::Ns;
use crate::page::Page;

/// The tolerance of a verdict.
#[derive(Debug, Serialize)]
pub(crate) struct ToleranceReport {
    contract: &'static str,
    added_ns: Ns,
    factor_ppm: u64,
    beyond_plan_ns: Ns,
    reason: Option<&'static str>,
    #[serde(skip)]
    tolerance: Tolerance,
}

impl ToleranceReport {
    /// Computes the tolerance of a verdict; `None` without a proof.
    pub(crate) fn of(workload: &Workload, assessment: &Assessment) -> Option<Self> {
        let tolerance = tolerance(workload, assessment)?;
        Some(Self {
            contract: tolerance.contract.name(),
            added_ns: tolerance.added.into(),
            factor_ppm: tolerance.factor_ppm,
            beyond_plan_ns: tolerance.beyond_plan.into(),
            reason: tolerance.spent,
            tolerance,
        })
    }

    /// Writes how much longer the drive may take while all deadlines are still met.
    pub(crate) fn write(&self, page: &mut Page) {
        let Tolerance { contract, added, factor_ppm, spent, .. } = self.tolerance;
        let times = times(contract);
        if let Some(reason) = spent {
            let what = match factor_ppm {
                0 => "nothing; --margin 10% would plan for a slower drive".to_owned(),
                _ => format!("its margin: {times} up to {} longer", percent_floor(factor_ppm)),
            };
            page.labelled("Tolerates", what);
            page.labelled("", format!("{reason}."));
            return;
        }
        if added < Duration::from_us(1) {
            let nothing = "nothing: the plan leaves a task no time before its deadline";
            page.labelled("Tolerates", nothing);
            return;
        }
        let text = format!(
            "every deadline is met with {times} up to {} or {} longer than the drive's {}",
            figures::ms_floor(added),
            percent_floor(factor_ppm),
            contract.what()
        );
        page.labelled("Tolerates", text);
    }
}

/// Names the times that this contract limits.
const fn times(contract: DriveContract) -> &'static str {
    match contract {
        DriveContract::Batches => "batches",
        DriveContract::Drain => "drains",
        DriveContract::Starvation => "requests",
        DriveContract::Priority => "rounds with priority",
    }
}

/// Formats parts per million as a percentage, rounded down: `12.34 %`.
pub(crate) fn percent_floor(ppm: u64) -> String {
    let hundredths = ppm / 100;
    match (hundredths / 100, hundredths % 100) {
        (whole, 0) => format!("{whole} %"),
        (whole, part) => format!("{whole}.{part:02} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_down() {
        let told = [0, 99, 100, 100_000, 123_456, 1_000_000_000].map(percent_floor);
        assert_eq!(told, ["0 %", "0 %", "0.01 %", "10 %", "12.34 %", "100000 %"]);
    }
}
