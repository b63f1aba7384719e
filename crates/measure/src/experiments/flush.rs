// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the longest flush, with as much dirty data in the cache as writes can leave there.
//!
//! A volatile cache holds the data of earlier writes, and a flush writes all of it out. So each
//! flush is timed alone, on a device that has just completed all its writes, and after different
//! numbers of writes.
//!
//! ```text
//!   flush (not timed) --> writes --> all complete --> flush: this is the time
//! ```
//!
//! Source: our own; that a flush must write out dirty data of any age follows from the definitions
//! of FLUSH CACHE (ACS-3) and SYNCHRONIZE CACHE (SBC-3).

use std::collections::BTreeMap;

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_model::{Op, Time};

use crate::cache_fill::{self, CacheFill, FlushStart};
use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::flow::{Flow, FlowParams};
use crate::flush_times::{self, FlushTimes};
use crate::found::Found;
use crate::kind::{Kind, distinct};
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure};
use crate::rounds::{Grid, Rounds};
use crate::run_control::Progress;
use crate::subject::TrialResult;
use crate::warning::{Skip, Warning};

/// Divides the number of samples, because writes that fill the cache take long.
const PART: u32 = 4;

/// An estimate of the writes before a flush, in multiples of the depth. The number that fills a
/// cache is not known in advance.
const FILLED_DEPTHS: u64 = 4;

/// The name of the part of `[fit]` that holds the times.
const FIT: &str = "flush";

impl Experiment {
    /// The time of a flush when the device's cache is dirty.
    pub const FLUSH: Self = Self::of(&Facts {
        name: "flush",
        scope: Scope::Writes,
        cell_name: CellName::Number,
        time: "a flush runs from its submission to an idle device to its completion, after one \
               write, as many as are outstanding at most, and as many as fill its cache, at \
               random and by turns at either end",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: false,
    });
}

/// Returns the kinds of writes before flushes: one of each size.
pub fn kinds(params: &ProfileParams) -> Vec<Kind> {
    distinct(params.kinds.iter().map(|kind| Kind { op: Op::Write, ..*kind }))
}

/// The procedure of [`Experiment::FLUSH`].
pub(super) struct Flush;

impl Procedure for Flush {
    fn skip(&self, params: &ProfileParams, _has_tags: bool) -> Option<Skip> {
        (!params.may_write()).then_some(Skip::MayNotWrite)
    }

    fn kinds(&self, params: &ProfileParams) -> Vec<Kind> {
        kinds(params)
    }

    fn grid(&self, params: &ProfileParams) -> Grid {
        Grid { samples: params.samples.div_ceil(PART), cells: FlushStart::ALL.len(), ways: 1 }
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        FILLED_DEPTHS * u64::from(params.depth)
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let flows = context.flows(kind);
        let rounds = context.rounds(Experiment::FLUSH, kind, self.grid(context.params));
        let Some(full) = full(&rounds, flows, context)? else {
            found.stop(Experiment::FLUSH);
            return Ok(());
        };
        let measured = context.measure(&rounds, |flow, cell| {
            let start = FlushStart::ALL[cell];
            cache_fill::write(flow, flows, start, start.writes(flows.depth, full))?;
            // Earlier writes are already on the medium, because each trial ends with a flush.
            flow.flush()
        })?;
        found.note(&rounds, &measured);
        if let Some(times) = FlushTimes::of(full, flows.depth, &measured.cells) {
            write(times, kind, context.params, found);
        }
        if !full.is_level {
            found.warnings.push(Warning::FlushGrows { kind, writes: full.writes });
        }
        Ok(())
    }
}

/// Writes the times next to those of other sizes; also writes the longest flush once all sizes are
/// measured.
fn write(times: FlushTimes, kind: Kind, params: &ProfileParams, found: &mut Found) {
    let mut all: BTreeMap<String, FlushTimes> = found.fitted(FIT).unwrap_or_default();
    all.insert(kind.to_string(), times);
    found.fit(FIT, &all);
    found.file.flush_max = flush_times::longest(&kinds(params), &all);
}

/// Returns the number of writes that fill the cache, from the journal if it holds that number.
/// `None` if the caller stopped the search.
fn full(
    rounds: &Rounds,
    flows: FlowParams,
    context: &mut Context<'_>,
) -> TrialResult<Option<CacheFill>> {
    let name = format!("cache filled by {}", flows.places.kind);
    let control = &mut context.control;
    if let Some(full) = control.journal.found(&name) {
        return Ok(Some(full));
    }
    let told = rounds.progress(0);
    let mut go_on = |now: Time| {
        (control.progress)(Progress { elapsed: now.since(rounds.begun), ..told });
        !control.is_cancelled()
    };
    let random = &mut Pcg64::seed_from_u64(!rounds.seed);
    let flow = &mut Flow::on(context.subject, random);
    let full = cache_fill::find(flow, flows, &mut go_on)?;
    if let Some(full) = &full {
        control.journal.keep_found(&name, full);
    }
    Ok(full)
}
