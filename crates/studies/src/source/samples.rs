// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source of the number of samples needed so that, with a given confidence, at least one
//! exceeds a quantile.

use serde::Deserialize;
use tidegate_stats::confidence::samples_needed;

use super::{Measures, unknown};
use crate::cell::Cell;

/// The parameters, from which the measure follows directly.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    confidence: f64,
    quantile: f64,
}

impl Measures for Parameters {
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let is_share = |value: f64| 0.0 < value && value < 1.0;
        if !is_share(self.confidence) || !is_share(self.quantile) {
            return Err("`confidence` and `quantile` lie between 0 and 1".to_owned());
        }
        match name {
            "samples" => Ok(Some(Cell::of(samples_needed(self.confidence, self.quantile)))),
            _ => Err(unknown(name, "samples")),
        }
    }
}
