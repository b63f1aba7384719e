// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source of expressions over the axes: numbers that a publication computes by hand, for
//! comparison with our code.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Measures, unknown};
use crate::cell::Cell;

/// The expressions' values by name; templates have already been filled in.
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
