// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adds to a workload the predictions that its drive's mechanics give for its requests.
//!
//! The model crate binds a workload to the tables of a drive file, but only this crate models the
//! movements of a disk.

use tidegate_model::{Bytes, DriveFile, Duration, Op, ServicePrediction, Workload};

use crate::mechanical::Ceiling;

/// Returns the workload with the predictions for its requests: the longest time that the
/// `[mechanics]` of `file` can predict, and the largest measured error. Without valid mechanics,
/// and for writes that a drive's memory takes, nothing is predicted.
///
/// # Complexity
/// As [`Ceiling::of`], for each operation.
#[must_use]
pub fn with_prediction(mut workload: Workload, file: &DriveFile) -> Workload {
    workload.contracts.prediction = prediction(&workload.contracts.covered, file);
    workload
}

fn prediction(requests: &[(Op, Bytes)], file: &DriveFile) -> Option<ServicePrediction> {
    let mechanics = file.mechanics.as_deref()?;
    // Nothing is predicted for a disk with random faults: only its ceiling counts.
    let is_predicted = mechanics.faults.is_none();
    let mut longest = ServicePrediction { ceiling: Duration::ZERO, late_max: Some(Duration::ZERO) };
    for &(op, size) in requests {
        let ceiling = Ceiling::of(mechanics, op, size).ok()??.total();
        longest.ceiling = longest.ceiling.max(ceiling);
        if is_predicted {
            let late_max = file.late_max(op, size);
            longest.late_max = longest.late_max.and_then(|late| Some(late.max(late_max?)));
        }
    }
    Some(longest)
}
