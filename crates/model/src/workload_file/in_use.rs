// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Refuses lines under `[policy]` that would have no effect, or the same effect twice.
//!
//! A user who writes `[policy.token-bucket]` and forgets the regulator believes that best effort is
//! shaped. The check runs when the file is bound and not before, because the command line may name
//! further policies.

use std::ops::Range;

use super::policy::Policy;
use crate::file_error::FileError;
use crate::names::PolicyName;
use crate::regulator::RegulatorName;

impl Policy {
    /// Refuses `[policy.NAME]` if NAME is neither the file's policy, nor one of `asked`, nor a
    /// regulator; and a regulator that wraps itself.
    pub(super) fn check_use(&self, asked: &[PolicyName]) -> Result<(), FileError> {
        self.check_regulators(asked)?;
        let policies = || asked.iter().chain([&self.name]).map(|policy| policy.name());
        let regulators = || self.regulators.iter().map(|regulator| regulator.name());
        let unused = |(name, _): &&(&'static str, Range<usize>)| {
            policies().chain(regulators()).all(|used| used != *name)
        };
        let Some((name, span)) = self.sections.iter().find(unused) else { return Ok(()) };
        Err(FileError::new(
            span.clone(),
            format!("[policy.{name}] changes nothing: `{name}` is not in use"),
            how_to_use(name),
        ))
    }

    fn check_regulators(&self, asked: &[PolicyName]) -> Result<(), FileError> {
        let named = || self.regulators.iter().zip(&self.regulator_spans);
        for (index, (regulator, span)) in named().enumerate() {
            if self.regulators[..index].contains(regulator) {
                return Err(FileError::new(
                    span.clone(),
                    format!(
                        "this is a second regulator `{regulator}`; both would have the same parameters"
                    ),
                    "name each regulator once",
                ));
            }
            let is_it = |policy: &&PolicyName| policy.name() == regulator.name();
            if asked.iter().chain([&self.name]).any(|policy| is_it(&policy)) {
                return Err(FileError::new(
                    span.clone(),
                    format!(
                        "the regulator `{regulator}` wraps the policy `{regulator}`, which is the same"
                    ),
                    format!(
                        "delete the regulator, or name another policy for `{regulator}` to wrap, \
                         for example name = \"dqf\""
                    ),
                ));
            }
        }
        Ok(())
    }
}

fn how_to_use(name: &str) -> String {
    let as_policy = format!("write name = \"{name}\" under [policy]");
    let as_regulator = format!("add regulators = [\"{name}\"] under [policy]");
    let is_policy = PolicyName::from_name(name).is_some();
    let is_regulator = RegulatorName::from_name(name).is_some();
    let how = match (is_policy, is_regulator) {
        (true, true) => format!("{as_regulator}, or {as_policy}"),
        (true, false) => as_policy,
        _ => as_regulator,
    };
    format!("{how}; or delete the table")
}
