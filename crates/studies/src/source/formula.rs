// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Expressions over the axes: what a publication computes by hand, for comparison with our code.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Measures, unknown};
use crate::cell::Cell;

/// The values by name; templates are filled in already.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    values: BTreeMap<String, Cell>,
}

impl Measures for Parameters {
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let known = || self.values.keys().cloned().collect::<Vec<_>>().join(", ");
        self.values.get(name).cloned().map(Some).ok_or_else(|| unknown(name, &known()))
    }
}
