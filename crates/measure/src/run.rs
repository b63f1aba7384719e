// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs the requested experiments, one after the other.
//!
//! A stop keeps all results so far: those of the finished experiments, and the samples of the one
//! that was stopped.

use tidegate_model::Op;

use crate::context::Context;
use crate::experiment::{Experiment, Scope};
use crate::experiments::procedure;
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::run_record::RunRecord;
use crate::subject::TrialResult;
use crate::warning::Warning;

/// The order of experiments, by scope. All experiments that only read come before the first write,
/// because writes change a device.
const PASSES: [(Scope, Op); 7] = [
    (Scope::EachKind, Op::Read),
    (Scope::Device, Op::Read),
    (Scope::EachKindOfDisk, Op::Read),
    (Scope::EachKind, Op::Write),
    (Scope::EachKindOfDisk, Op::Write),
    (Scope::AllKinds, Op::Write),
    (Scope::Writes, Op::Write),
];

/// Runs all experiments in one run, which `record` describes. `has_tags` says whether the device
/// learns which requests have priority.
pub(crate) fn make(
    context: &mut Context<'_>,
    has_tags: bool,
    record: RunRecord,
) -> TrialResult<Found> {
    let params = context.params;
    let mut found = Found::new(params);
    context.control.journal.begin(record);
    for (experiment, op) in passes(params) {
        if found.is_cancelled {
            found.warn_once(Warning::NotBegun { experiments: vec![experiment] });
        } else if let Some(skip) = procedure(experiment).skip(params, has_tags) {
            found.warn_once(Warning::Skipped { experiment, skip });
        } else {
            make_one(experiment, op, context, &mut found)?;
        }
    }
    warn_of_journal(context, &mut found);
    Ok(found)
}

/// Runs an experiment with each of its kinds of requests with this operation; only once if it
/// measures the device as a whole.
fn make_one(
    experiment: Experiment,
    op: Op,
    context: &mut Context<'_>,
    found: &mut Found,
) -> TrialResult {
    let (procedure, params) = (procedure(experiment), context.params);
    let kinds: Vec<Kind> = match experiment.scope() {
        Scope::EachKind | Scope::EachKindOfDisk | Scope::Writes => {
            procedure.kinds(params).into_iter().filter(|kind| kind.op == op).collect()
        }
        Scope::Device | Scope::AllKinds => params.kinds.first().copied().into_iter().collect(),
    };
    for kind in kinds {
        if !found.is_cancelled {
            procedure.make(kind, context, found)?;
        }
    }
    Ok(())
}

/// Warns of rounds in the journal that were not requested, and of samples that could not be written
/// to it.
fn warn_of_journal(context: &mut Context<'_>, found: &mut Found) {
    let journal = &mut *context.control.journal;
    let of = journal.left();
    if !of.is_empty() && !found.is_cancelled {
        found.warnings.push(Warning::RoundsLeft { of });
    }
    let failure = journal.take_failure();
    found.warnings.extend(failure.map(|error| Warning::JournalFailed(error.to_string())));
}

/// Returns the requested experiments, in the order of [`PASSES`].
fn passes(params: &ProfileParams) -> impl Iterator<Item = (Experiment, Op)> {
    let is_empty = |scope: Scope, op| scope.is_by_kind() && !params.has_kind_of(op);
    PASSES.into_iter().filter(move |&(scope, op)| !is_empty(scope, op)).flat_map(|(scope, op)| {
        let chosen = Experiment::ALL.into_iter().filter(|it| params.experiments.contains(it));
        chosen.filter(move |it| it.scope() == scope).map(move |it| (it, op))
    })
}
