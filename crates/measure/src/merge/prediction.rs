// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Merges the errors of predictions; the largest errors are kept.

use tidegate_model::drive_file::PredictionErrors;

/// Adds errors of predictions by the same mechanics. New errors replace the known ones for the same
/// kind of request, except that the largest error of both is kept; the quantiles are those of the
/// new samples.
pub(super) fn add(known: &mut Vec<PredictionErrors>, new: &PredictionErrors) {
    let is_same = |it: &&mut PredictionErrors| (it.op, it.size) == (new.op, new.size);
    match known.iter_mut().find(is_same) {
        Some(old) => {
            *old = PredictionErrors {
                samples: old.samples + new.samples,
                late_ns_max: old.late_ns_max.max(new.late_ns_max),
                early_ns_max: old.early_ns_max.max(new.early_ns_max),
                ..new.clone()
            };
        }
        None => known.push(new.clone()),
    }
}
