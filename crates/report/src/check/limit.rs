// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The limit of a workload, as a sentence.

use tidegate_analysis::{Assessment, Limit};
use tidegate_model::{Duration, Workload};

use crate::figures;

pub(super) fn limited_by(workload: &Workload, assessment: &Assessment) -> Option<String> {
    let bound_of =
        |task: usize| assessment.tasks[task].response_max.map_or(Duration::ZERO, |b| b.0);
    let sentence = match assessment.limit? {
        Limit::NoBound { task } if assessment.policy.facts().dispatch.limits_best_effort() => {
            format!("{}: no bound holds for it", workload.tasks[task].name)
        }
        Limit::NoBound { task } if assessment.batch_cost.is_some() => format!(
            "{}: the bound for batches limited by cost would not be below every period, and says \
             nothing then",
            workload.tasks[task].name
        ),
        Limit::NoBound { task } => format!(
            "{}: no bound was found before the search was given up",
            workload.tasks[task].name
        ),
        Limit::Capacity => format!(
            "capacity: more requests come in the long run than batches of {} serve",
            assessment.batch_max
        ),
        Limit::Margin { task } => format!(
            "{}: {} of its deadline of {} are left",
            workload.tasks[task].name,
            figures::ms_floor(workload.tasks[task].deadline - bound_of(task)),
            workload.tasks[task].deadline
        ),
        Limit::Deadline { task } => format!(
            "{}: it may take {}, its deadline is {}",
            workload.tasks[task].name,
            figures::ms_ceil(bound_of(task)),
            workload.tasks[task].deadline
        ),
    };
    Some(sentence)
}
