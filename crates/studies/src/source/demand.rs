// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source of bounds on a task's demand for the processor in a window.

use serde::Deserialize;
use tidegate_cpu_analysis::{DemandBound, Source};
use tidegate_model::Duration;
use tidegate_stats::float;

use super::{Measures, unknown};
use crate::cell::Cell;

/// The parameters, from which the measures follow directly.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    execution: Duration,
    period: Duration,
    window: Duration,
}

const KNOWN: &str = "ceil_ns, refined_ns, linear_ns, and ceil_load, refined_load, linear_load";

impl Measures for Parameters {
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let (bound, form) = name.rsplit_once('_').ok_or_else(|| unknown(name, KNOWN))?;
        let bound = match bound {
            "ceil" => DemandBound::Ceil,
            "refined" => DemandBound::Refined,
            "linear" => DemandBound::Linear,
            _ => return Err(unknown(name, KNOWN)),
        };
        let demand = Source::new(self.execution, self.period).demand(bound, self.window);
        // Rounded up to a nanosecond.
        let demand = demand
            .and_then(tidegate_cpu_analysis::Ratio::ceil)
            .and_then(|ns| u64::try_from(ns).ok());
        let load = |ns: u64| Cell::Float(float::of(ns) / float::of(self.window.ns()));
        match form {
            "ns" => Ok(demand.map(Cell::of)),
            "load" => Ok(demand.filter(|_| !self.window.is_zero()).map(load)),
            _ => Err(unknown(name, KNOWN)),
        }
    }
}
