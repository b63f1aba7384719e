// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Judges the project's own claims.

use minijinja::Environment;
use serde::Serialize;

use crate::cell::Cell;
use crate::expression::{NoValue, evaluate_strictly};
use crate::file::ExpectFile;
use crate::verdict::Verdict;

/// The verdict on one of the project's own claims.
#[derive(Debug, Clone, Serialize)]
pub struct ExpectationResult {
    /// The claim, in one sentence.
    pub says: String,
    /// The verdict on the claim.
    pub verdict: Verdict,
    /// The reason for the verdict, if it needs one.
    pub reason: Option<String>,
}

impl ExpectFile {
    /// Judges the claim by these results; `is_quick` says whether they come from a `--quick` run.
    pub(crate) fn judge(&self, environment: &Environment<'_>, is_quick: bool) -> ExpectationResult {
        let (verdict, reason) = if is_quick && !self.quick {
            (Verdict::NotRun, Some("needs a full run".to_owned()))
        } else {
            match evaluate_strictly(environment, &self.holds) {
                Ok(Cell::Bool(true)) => (Verdict::Holds, None),
                Ok(Cell::Bool(false)) => (Verdict::Refuted, None),
                Ok(other) => {
                    (Verdict::Faulty, Some(format!("`{other}` is neither true nor false")))
                }
                Err(NoValue::Missing(what)) => (Verdict::NotRun, Some(what)),
                Err(NoValue::Faulty(what)) => (Verdict::Faulty, Some(what)),
            }
        };
        ExpectationResult { says: self.says.clone(), verdict, reason }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::expression::{Results, over};

    /// Canary: a claim that could not fail would show nothing.
    #[test]
    fn a_claim_can_fail() {
        for (text, is_quick, verdict) in [
            ("holds = '1 < 2'", false, Verdict::Holds),
            ("holds = '2 < 1'", false, Verdict::Refuted),
            ("holds = '2'", false, Verdict::Faulty),
            ("holds = 'missing(1) < 2'", false, Verdict::Faulty),
            ("holds = '2 < 1'\nquick = false", true, Verdict::NotRun),
        ] {
            let file: ExpectFile = toml::from_str(&format!("says = 's'\n{text}")).unwrap();
            let judged = file.judge(&over(&Results::new(), &BTreeSet::new()), is_quick);
            assert_eq!(judged.verdict, verdict, "{text}");
        }
        assert!(Verdict::Refuted.is_open() && !Verdict::Holds.is_open());
    }
}
