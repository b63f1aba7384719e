// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs an experiment that reads one block at a time, unless the journal already has its result.

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidegate_model::Time;

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::found::Found;
use crate::geometry::{NotSeen, Probing};
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::Procedure;
use crate::rounds::Grid;
use crate::run_control::Progress;
use crate::subject::TrialResult;
use crate::warning::Warning;

/// Returns the common facts of the experiments that define their own reads. The text for `time`
/// describes all experiments with one read at a time.
pub(super) const fn facts(name: &'static str) -> Facts {
    Facts {
        name,
        scope: Scope::Device,
        cell_name: CellName::Number,
        time: "rotation, overhead, zones and seek-curve: one read at a time, from when it is back",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: false,
    }
}

/// An experiment that sends one read at a time.
pub(super) struct Probed {
    /// The number of reads that it sends on a quiet host.
    pub(super) reads: u64,
    /// Runs the experiment and stores its results in `found`.
    pub(super) make: fn(&mut Context<'_>, &mut Found) -> TrialResult,
}

impl Procedure for Probed {
    fn grid(&self, _params: &ProfileParams) -> Grid {
        Grid { samples: 1, cells: usize::try_from(self.reads).expect("a count fits"), ways: 1 }
    }

    fn make(&self, _kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        (self.make)(context, found)
    }
}

/// Runs the experiment and records its result in the journal, unless the journal already has one.
///
/// # Errors
/// The inner error says why there is no result; the outer one says that the target failed.
pub(super) fn run<T: Serialize + DeserializeOwned, N>(
    experiment: Experiment,
    context: &mut Context<'_>,
    see: impl FnOnce(&mut Probing<'_>) -> TrialResult<Result<T, N>>,
) -> TrialResult<Result<T, N>> {
    let (name, begun, sizes) =
        (experiment.name(), context.begun, (context.capacity, context.block));
    let control = &mut context.control;
    if let Some(found) = control.journal.found(name) {
        return Ok(Ok(found));
    }
    let progress = &mut *control.progress;
    let mut told = |done, total, now: Time| {
        progress(Progress { experiment, kind: None, done, total, elapsed: now.since(begun) });
    };
    let random = Pcg64::seed_from_u64(context.params.seed);
    let mut probing = Probing::new(context.subject, sizes, random, control.cancelled, &mut told);
    let seen = see(&mut probing)?;
    control.journal.count_this_run();
    if let Ok(found) = &seen {
        control.journal.keep_found(name, found);
    }
    Ok(seen)
}

/// Returns the result; `None`, with a note in `found`, if the experiment has none.
pub(super) fn seen<T>(
    experiment: Experiment,
    seen: Result<T, NotSeen>,
    found: &mut Found,
) -> Option<T> {
    match seen {
        Ok(seen) => return Some(seen),
        Err(NotSeen::Cancelled) => found.stop(experiment),
        Err(why) => found.warnings.push(Warning::NotSeen { experiment, why: why.to_string() }),
    }
    None
}
