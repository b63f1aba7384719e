// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs one of the experiments that read one block at a time, unless the journal has its result.

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidegate_model::Time;

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::followers::Progress;
use crate::found::Found;
use crate::geometry::{NotSeen, Probing};
use crate::rounds::Grid;
use crate::subject::SubjectError;
use crate::warning::Warning;

/// Returns the facts that experiments with one read at a time share.
pub(super) const fn facts(name: &'static str) -> Facts {
    Facts {
        name,
        symbol: name,
        scope: Scope::Device,
        cell_name: CellName::Number,
        time: "rotation, overhead, zones and seek-curve: one read at a time, from when it is back",
        is_about_maxima: false,
        tail: None,
    }
}

/// Returns the trials of such an experiment: `count` reads.
pub(super) fn reads(count: u64) -> Grid {
    Grid { samples: 1, cells: usize::try_from(count).expect("a count fits"), ways: 1 }
}

/// Runs the experiment, unless the journal has its result; the journal keeps a new result.
///
/// # Errors
/// The inner error says why there is no result; the outer one says that the target failed.
pub(super) fn run<T: Serialize + DeserializeOwned, N>(
    experiment: Experiment,
    context: &mut Context<'_>,
    see: impl FnOnce(&mut Probing<'_>) -> Result<Result<T, N>, SubjectError>,
) -> Result<Result<T, N>, SubjectError> {
    let (name, begun, sizes) =
        (experiment.name(), context.begun, (context.capacity, context.block));
    let followers = &mut context.followers;
    if let Some(found) = followers.journal.as_mut().and_then(|it| it.found(name)) {
        return Ok(Ok(found));
    }
    let progress = &mut *followers.progress;
    let mut told = |done, total, now: Time| {
        progress(Progress { experiment, kind: None, done, total, elapsed: now.since(begun) });
    };
    let random = Pcg64::seed_from_u64(context.params.seed);
    let mut probing = Probing::new(context.subject, sizes, random, followers.cancelled, &mut told);
    let seen = see(&mut probing)?;
    followers.count_this_run();
    if let (Ok(found), Some(journal)) = (&seen, followers.journal.as_mut()) {
        journal.keep_found(name, found);
    }
    Ok(seen)
}

/// Returns the result; without one, notes why.
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
