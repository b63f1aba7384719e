// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[[prediction]]` of a drive file: the errors of the times that `[mechanics]` predicts.

use serde::{Deserialize, Serialize};

use super::DriveFile;
use super::limits::TIME_NS_MAX;
use super::observations::as_text;
use super::tables::MeasuredTable;
use crate::task::Op;
use crate::units::{Bytes, Duration};

/// The errors of the times that `[mechanics]` predicts for one request at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictionErrors {
    /// Read or write.
    pub op: Op,
    /// Size of every request.
    #[serde(serialize_with = "as_text")]
    pub size: Bytes,
    /// Number of requests whose time was predicted and measured.
    pub samples: u64,
    /// The most by which a request took longer than predicted, in ns.
    pub late_ns_max: u64,
    /// The most by which a request took less time than predicted, in ns.
    pub early_ns_max: u64,
    /// Quantiles of the error in either direction, in the order of [`MeasuredTable::LEVELS_PPM`].
    pub error_ns_quantiles: [u64; MeasuredTable::LEVELS_PPM.len()],
}

impl PredictionErrors {
    /// Returns the first fault as a sentence.
    pub(super) fn fault(&self) -> Option<String> {
        let longest = self.late_ns_max.max(self.early_ns_max);
        match () {
            () if self.samples == 0 => Some("[[prediction]]: 0 samples measure nothing".to_owned()),
            () if longest > TIME_NS_MAX => {
                Some("[[prediction]]: an error is longer than a day".to_owned())
            }
            () => None,
        }
    }
}

impl DriveFile {
    /// Returns the most by which a request of this operation and size took longer than predicted;
    /// `None` if that was not measured for requests of this operation and of this size or more.
    pub fn late_max(&self, op: Op, size: Bytes) -> Option<Duration> {
        let covering = self.prediction.iter().filter(|it| it.op == op && it.size >= size);
        covering.min_by_key(|it| it.size).map(|it| Duration::from_ns(it.late_ns_max))
    }
}
