// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The doubt about a proof under an order by position: requests that are chosen by position differ
//! from the requests that were measured.

use tidegate_model::{BestEffortQueue, Premise, PremiseCode, Workload};

use crate::assessment::{Answer, Assessment};

/// Returns the assessment of a planned workload, and adds the doubt about the policy's order if
/// there is one.
///
/// No doubt is added
/// - if the times are claims;
/// - on a drive with ceilings: there a proof holds at the ceilings in any order, or is already in
///   doubt;
/// - under policies that rest on predictions: the predictions were measured for requests chosen by
///   position, as these policies choose them.
pub(crate) fn graded(workload: &Workload, mut assessment: Assessment) -> Assessment {
    let contracts = &workload.contracts;
    let rests_on_order = contracts.is_measured
        && contracts.ceilings.is_none()
        && !assessment.policy.facts().rests_on_predictions()
        && assessment.serves_by_position(workload);
    let is_proven = assessment.answer == Answer::Proven && !workload.tasks.is_empty();
    if rests_on_order && is_proven {
        assessment.premises.push(premise(workload, &assessment));
    }
    assessment
}

fn premise(workload: &Workload, assessment: &Assessment) -> Premise {
    let facts = assessment.policy.facts();
    let remedy = match facts.best_effort {
        BestEffortQueue::Held | BestEffortQueue::BesideRealTime if !facts.serves_by_position => {
            "write best_effort_order = \"fifo\""
        }
        BestEffortQueue::Held | BestEffortQueue::BesideRealTime | BestEffortQueue::OwnRule => {
            "choose a policy that ignores positions"
        }
    };
    let text = format!(
        "the bounds hold while `{}` keeps the times of its tables, but how often it exceeds them is \
         unknown: positions decide the order of the requests, and it was measured in another order; \
         {remedy}, which costs throughput, to remove the doubt",
        workload.drive_name
    );
    Premise::new(PremiseCode::PlacesByOrder, "an order by position", text)
}
