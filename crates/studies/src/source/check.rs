// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source `check`, which proves a workload: verdict, bounds, and the values that the proof
//! chose.

use serde::Deserialize;
use tidegate_analysis::{Answer, Assessment, BoundName, assess};
use tidegate_model::Duration;

use super::input::Bound;
use super::{Failed, Measures, Surroundings, unknown};
use crate::axes::Point;
use crate::cell::Cell;

/// The parameters.
#[derive(Debug, Deserialize)]
pub(super) struct Parameters {
    #[serde(flatten)]
    input: Bound,
    #[serde(flatten)]
    unknown: toml::Table,
}

/// The measures of a proof.
pub(super) struct Proof(Assessment);

impl Parameters {
    pub(super) fn run(
        self,
        point: &Point,
        surroundings: &Surroundings<'_>,
    ) -> Result<Proof, Failed> {
        let (input, _, policy) = self.input.read(&self.unknown, point, surroundings)?;
        Ok(Proof(assess(&input.workload, policy)))
    }
}

impl Measures for Proof {
    /// A time is the maximum over all tasks; it is `None` if a task lacks this bound.
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let Self(proof) = self;
        let longest = |of: &dyn Fn(usize) -> Option<Duration>| {
            let times: Option<Vec<Duration>> = (0..proof.tasks.len()).map(of).collect();
            times?.into_iter().max().map(Cell::of_time)
        };
        Ok(match name {
            "is_proven" => Some(Cell::Bool(proof.answer == Answer::Proven)),
            "is_applicable" => Some(Cell::Bool(match proof.answer {
                Answer::Proven | Answer::NotProven => true,
                Answer::NotApplicable { .. } => false,
            })),
            "batch" => Some(Cell::of(proof.batch_max.into())),
            "best_effort_fill" => Some(Cell::of(proof.best_effort_fill.into())),
            "best_effort_depth" => Some(Cell::of(proof.best_effort_depth.into())),
            "response_ns_max" => longest(&|task| proof.tasks[task].response_max.map(|it| it.0)),
            _ => match BoundName::ALL
                .into_iter()
                .find(|bound| name == format!("{}_ns", bound.name()))
            {
                Some(bound) => longest(&|task| proof.tasks[task].bounds.of(bound)),
                None => return Err(unknown(name, KNOWN)),
            },
        })
    }
}

const KNOWN: &str = "is_proven, is_applicable, batch, best_effort_fill, best_effort_depth, \
                     response_ns_max, linear_ns, busy_interval_ns, min_period_ns, tight_ns, mixed_ns";
