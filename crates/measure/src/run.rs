// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs the requested experiments, one after the other.
//!
//! A stop keeps what was measured before: the experiments that are done, and the samples of the one
//! that was stopped.

use tidegate_model::Op;

use crate::context::Context;
use crate::experiment::{Experiment, Scope};
use crate::experiments::procedure;
use crate::found::Found;
use crate::journal::Journal;
use crate::kind::Kind;
use crate::load::Load;
use crate::params::ProfileParams;
use crate::run_record::{RunRecord, Runs};
use crate::subject::SubjectError;
use crate::warning::Warning;

/// The experiments in their order, by scope: everything that only reads comes before the first
/// write, because writes change a device.
const PASSES: [(Scope, Op); 5] = [
    (Scope::EachKind, Op::Read),
    (Scope::Device, Op::Read),
    (Scope::EachKind, Op::Write),
    (Scope::AllKinds, Op::Write),
    (Scope::Writes, Op::Write),
];

/// One run of a measurement.
pub(crate) struct Run<'a> {
    /// The common inputs of every experiment.
    pub(crate) context: Context<'a>,
    /// Whether requests carry their priority to the device.
    pub(crate) has_tags: bool,
    /// Its options, date and host.
    pub(crate) record: RunRecord,
}

impl Run<'_> {
    /// Runs all experiments.
    pub(crate) fn make(&mut self) -> Result<Found, SubjectError> {
        let params = self.context.params;
        let mut found = Found::new(params);
        if let Some(journal) = self.context.followers.journal.as_mut() {
            journal.begin(&self.record);
        }
        for (experiment, op) in passes(params) {
            if found.is_cancelled {
                found.warn_once(Warning::NotBegun { experiments: vec![experiment] });
            } else if let Some(skip) = procedure(experiment).skip(params, self.has_tags) {
                found.warn_once(Warning::Skipped { experiment, skip });
            } else {
                self.make_one(experiment, op, &mut found)?;
            }
        }
        self.warn_of_journal(&mut found);
        Ok(found)
    }

    /// Runs an experiment with each of its kinds of this operation, or once.
    fn make_one(
        &mut self,
        experiment: Experiment,
        op: Op,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        let (procedure, params) = (procedure(experiment), self.context.params);
        let kinds: Vec<Kind> = match experiment.scope() {
            Scope::EachKind | Scope::Writes => {
                procedure.kinds(params).into_iter().filter(|kind| kind.op == op).collect()
            }
            Scope::Device | Scope::AllKinds => params.kinds.first().copied().into_iter().collect(),
        };
        for kind in kinds {
            if !found.is_cancelled {
                procedure.make(kind, &mut self.context, found)?;
            }
        }
        Ok(())
    }

    /// Warns of rounds in the journal that were not requested, and of samples that are not in it.
    fn warn_of_journal(&mut self, found: &mut Found) {
        let Some(journal) = self.context.followers.journal.as_mut() else { return };
        let of = journal.left();
        if !of.is_empty() && !found.is_cancelled {
            found.warnings.push(Warning::RoundsLeft { of });
        }
        let failure = journal.take_failure();
        found.warnings.extend(failure.map(|error| Warning::JournalFailed(error.to_string())));
    }

    /// Records what other programs did until the end.
    pub(crate) fn end(&mut self, load: Load) {
        self.record.load = load;
        if let Some(journal) = self.context.followers.journal.as_mut() {
            journal.keep_load(load);
        }
    }

    /// Returns the runs from which the drive file has figures.
    pub(crate) fn runs(&self) -> Runs {
        let alone = || Runs::new(vec![self.record.clone()]);
        self.context.followers.journal.as_deref().map_or_else(alone, Journal::runs_in_file)
    }
}

/// Returns the requested experiments, in the order of [`PASSES`].
fn passes(params: &ProfileParams) -> impl Iterator<Item = (Experiment, Op)> {
    let is_empty = |scope, op| scope == Scope::EachKind && !params.has_kind_of(op);
    PASSES.into_iter().filter(move |&(scope, op)| !is_empty(scope, op)).flat_map(|(scope, op)| {
        let chosen = Experiment::ALL.into_iter().filter(|it| params.experiments.contains(it));
        chosen.filter(move |it| it.scope() == scope).map(move |it| (it, op))
    })
}
