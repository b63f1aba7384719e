// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The verdict on one policy's run, and the overall answer for several.
//!
//! Policies that promise every deadline determine the answer, because in a comparison a baseline is
//! expected to miss some. If no policy promises anything, all determine it.

use serde::Serialize;
use tidegate_host::RunEnd;
use tidegate_model::{Grade, PolicyName, Premise, Premises, Weight};

use super::PolicyReport;
use crate::figures;
use crate::page::{Answer, Tone};

/// The verdict on a run under one policy, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunVerdict {
    /// Every deadline and every promised bound was kept.
    Kept,
    /// Every deadline was kept, but a response exceeded its bound because the drive or the host
    /// took longer than the proof assumes.
    Exceeded,
    /// The run stopped before its planned end.
    Incomplete,
    /// A deadline was missed.
    Missed,
    /// A request failed.
    Failed,
    /// A bound was exceeded or a rule was broken through a bug in Tidegate.
    Broken,
}

impl RunVerdict {
    /// Returns the word with which the verdict's line begins.
    const fn word(self) -> &'static str {
        match self {
            Self::Kept => "KEPT",
            Self::Exceeded => "KEPT, but a bound was exceeded",
            Self::Incomplete => "INCOMPLETE",
            Self::Missed => "MISSED",
            Self::Failed => "FAILED",
            Self::Broken => "BROKEN by a bug in Tidegate",
        }
    }

    pub(crate) const fn tone(self) -> Tone {
        match self {
            Self::Kept => Tone::Good,
            Self::Exceeded | Self::Incomplete => Tone::Doubtful,
            Self::Missed | Self::Failed | Self::Broken => Tone::Bad,
        }
    }
}

impl PolicyReport<'_> {
    /// Returns the verdict of the run.
    pub(crate) fn verdict(&self) -> RunVerdict {
        let misses = self.misses();
        if self.is_blamed {
            RunVerdict::Broken
        } else if self.requests_failed > 0 || self.tasks.iter().any(|task| task.jobs_failed > 0) {
            RunVerdict::Failed
        } else if misses > 0 || !self.is_kept && self.run_end == RunEnd::Complete {
            RunVerdict::Missed
        } else if self.run_end != RunEnd::Complete {
            RunVerdict::Incomplete
        } else if self.excesses().next().is_some() {
            RunVerdict::Exceeded
        } else {
            RunVerdict::Kept
        }
    }

    fn misses(&self) -> u64 {
        self.tasks.iter().map(|task| task.misses).sum()
    }

    fn jobs(&self) -> u64 {
        self.tasks.iter().map(|task| task.jobs).sum()
    }

    /// Describes the outcome for the deadlines: `kept all 134 deadlines`.
    fn deadlines(&self) -> String {
        let (misses, jobs) = (figures::thousands(self.misses()), figures::thousands(self.jobs()));
        let is_interrupted = self.is_interrupted();
        match self.verdict() {
            RunVerdict::Incomplete if is_interrupted => {
                format!("was interrupted after {}", figures::count(jobs, "job"))
            }
            _ if self.tasks.is_empty() => "had no deadline to keep".to_owned(),
            RunVerdict::Failed => {
                format!(
                    "had {}",
                    figures::count(figures::thousands(self.requests_failed), "failed request")
                )
            }
            _ if self.misses() > 0 => {
                let until = if is_interrupted { " until it was interrupted" } else { "" };
                format!("missed {misses} of {}{until}", figures::count(jobs, "deadline"))
            }
            RunVerdict::Incomplete => {
                format!("was overloaded after {}", figures::count(jobs, "job"))
            }
            RunVerdict::Missed => format!("dropped or left jobs of {jobs}"),
            RunVerdict::Kept | RunVerdict::Exceeded | RunVerdict::Broken if self.jobs() == 0 => {
                "had no deadline to keep: no job ended".to_owned()
            }
            RunVerdict::Kept | RunVerdict::Exceeded | RunVerdict::Broken => {
                figures::kept_all(&jobs)
            }
        }
    }

    /// Returns the premises of the proof if the policy promises the deadlines by a weak proof.
    fn doubts(&self) -> Option<&Premises> {
        let is_weak = match self.grade {
            Some(Grade::Weak) => self.is_promised,
            Some(Grade::Strong) | None => false,
        };
        is_weak.then_some(&self.premises)
    }

    /// Returns the line about this policy: its verdict, the grade of the proof and the reason.
    pub(crate) fn sentence(&self) -> String {
        let excess = self.excesses().max_by_key(|&(_, _, excess)| excess);
        let excess = excess.map(|(_, task, excess)| {
            format!(", but {task} exceeded its bound by {}", figures::ms_ceil(excess))
        });
        let promise = match (self.doubts(), self.assessment.policy.facts().theorem) {
            (Some(premises), _) => format!("; the proof is weak: {}", premises.doubts()),
            (None, _) if self.is_promised => String::new(),
            (None, Ok(_)) => "; not proven, so it promises no deadline".to_owned(),
            (None, Err(_)) => "; it promises no deadline".to_owned(),
        };
        let deadlines = self.deadlines();
        let said = match self.verdict() {
            // The verdict's word is the verb of the sentence.
            RunVerdict::Kept | RunVerdict::Exceeded | RunVerdict::Missed => {
                let (verb, rest) = deadlines.split_once(' ').unwrap_or((&deadlines, ""));
                format!("{} {rest}", verb.to_uppercase())
            }
            verdict @ (RunVerdict::Incomplete | RunVerdict::Failed | RunVerdict::Broken) => {
                format!("{}: {deadlines}", verdict.word())
            }
        };
        format!("{said}{}{promise}", excess.unwrap_or_default())
    }
}

/// Returns the results that determine the answer.
pub(crate) fn deciding<'r, 'w>(results: &[&'r PolicyReport<'w>]) -> Vec<&'r PolicyReport<'w>> {
    let promised = results.iter().copied().filter(|result| result.is_promised);
    let promised: Vec<_> = promised.collect();
    if promised.is_empty() { results.to_vec() } else { promised }
}

/// Returns the premises of a workload, with the doubts of the proofs on which the results rely. The
/// workload's own doubts are included only if nothing is proved.
pub(crate) fn premises(workload: &Premises, results: &[&PolicyReport<'_>]) -> Premises {
    let is_doubt = |premise: &&Premise| premise.weight() == Weight::Weak;
    let has_proof = results.iter().any(|result| result.is_promised && result.grade.is_some());
    let of_workload = workload.iter().filter(|premise| !has_proof || !is_doubt(premise));
    let proofs = results.iter().filter_map(|result| result.doubts()).flatten();
    of_workload.chain(proofs.filter(is_doubt)).cloned().collect()
}

/// Returns the worst verdict of the results that determine the answer; an interruption of any run
/// counts as [`RunVerdict::Incomplete`].
fn worst(results: &[&PolicyReport<'_>], not_run: &[PolicyName]) -> RunVerdict {
    let cut = (!is_whole(results, not_run)).then_some(RunVerdict::Incomplete);
    let verdicts = deciding(results).into_iter().map(PolicyReport::verdict);
    verdicts.chain(cut).max().unwrap_or(RunVerdict::Incomplete)
}

fn is_whole(results: &[&PolicyReport<'_>], not_run: &[PolicyName]) -> bool {
    not_run.is_empty() && !results.iter().any(|result| result.is_interrupted())
}

/// Returns whether no run was interrupted, and the deciding policies kept every deadline.
pub(crate) fn is_kept(results: &[&PolicyReport<'_>], not_run: &[PolicyName]) -> bool {
    worst(results, not_run) <= RunVerdict::Exceeded
}

/// Returns the overall answer; `not_run` names policies that have no result because of an
/// interruption.
pub(crate) fn answer(results: &[&PolicyReport<'_>], not_run: &[PolicyName]) -> Answer {
    let worst = worst(results, not_run);
    let deciding = deciding(results);
    let said = |results: &mut dyn Iterator<Item = &&PolicyReport<'_>>| {
        let said = results.map(|result| format!("{} {}", result.policy, result.deadlines()));
        said.collect::<Vec<_>>().join(", ")
    };
    let decides =
        |result: &&&PolicyReport<'_>| deciding.iter().any(|it| std::ptr::eq(*it, **result));
    let doubts: Premises =
        deciding.iter().filter_map(|it| it.doubts()).flatten().cloned().collect();
    let doubts = match doubts.doubts() {
        none if none.is_empty() => none,
        doubts => format!(", weak ({doubts})"),
    };
    if results.is_empty() {
        return Answer::doubtful(format!("{}: interrupted before any policy ran.", worst.word()));
    }
    let said_of_deciding = said(&mut results.iter().filter(decides));
    let mut text = format!("{}{doubts}: {said_of_deciding}", worst.word());
    let others = said(&mut results.iter().filter(|result| !decides(result)));
    if !others.is_empty() {
        text = format!("{text}; without a promise: {others}");
    }
    let is_whole = is_whole(results, not_run) && !results.is_empty();
    if is_whole && results.iter().all(|it| !it.is_promised && !it.tasks.is_empty()) {
        text.push_str("; no policy promises the deadlines, so every one decides");
    }
    text.push('.');
    match worst.tone() {
        Tone::Good if !doubts.is_empty() => Answer::doubtful(text),
        Tone::Good => Answer::good(text),
        Tone::Doubtful => Answer::doubtful(text),
        Tone::Bad => Answer::bad(text),
    }
}
