// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks whether a proof holds on a simulated drive at the longest times that its parts allow.
//!
//! The tables of a simulated drive are the longest times that a search found. Its parts are known
//! exactly, and so are its ceilings: times that it cannot exceed. A proof that holds at the
//! ceilings does not depend on the search; a proof that holds only at the tables has a doubt.

use tidegate_model::{Ceilings, DriveContract, Premise, PremiseCode, Workload};

use crate::assessment::{Answer, Assessment};
use crate::tolerance;

/// Returns the assessment of a planned workload with the doubt that belongs to its tables. On a
/// drive with ceilings, doubts about samples are removed, and a doubt about the search is added
/// unless the proof holds at the ceilings.
///
/// # Complexity
/// One evaluation of the bound under the chosen plan.
pub(crate) fn graded(workload: &Workload, mut assessment: Assessment) -> Assessment {
    let Some(ceilings) = &workload.contracts.ceilings else { return assessment };
    if assessment.answer != Answer::Proven || workload.tasks.is_empty() {
        return assessment;
    }
    assessment.premises.remove(&[PremiseCode::FewSamples, PremiseCode::DependentSamples]);
    if !tolerance::holds_at_ceilings(workload, ceilings, &assessment) {
        assessment.premises.push(searched(workload, ceilings, &assessment));
    }
    assessment
}

fn searched(workload: &Workload, ceilings: &Ceilings, assessment: &Assessment) -> Premise {
    let drive = &workload.drive_name;
    let contract = assessment.policy.facts().contract();
    let count = assessment.batch_max.min(workload.table.batch_max());
    let limit = match contract {
        DriveContract::Batches => {
            Some(format!("up to {} for {count} requests", ceilings.batches.time_max(count)))
        }
        DriveContract::Drain => {
            Some(format!("up to {} for {count} requests", ceilings.drain.time_max(count)))
        }
        DriveContract::Starvation => {
            ceilings.starvation_max.map(|wait| format!("a wait of up to {wait}"))
        }
        DriveContract::Priority => None,
    };
    let allow = match limit {
        Some(limit) => format!("allow {limit}"),
        None => "set no limit that is known".to_owned(),
    };
    let text = format!(
        "the times of `{drive}` are the longest that searches found; its simulated parts {allow}, with \
         which a deadline could be missed; a longer deadline or a margin removes the doubt"
    );
    Premise::new(PremiseCode::Searched, "searched times", text)
}
