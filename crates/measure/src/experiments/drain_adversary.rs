// SPDX-License-Identifier: Apache-2.0 OR MIT
//! drain(q) again, from starts with places that make drains long. The table of drains is raised
//! wherever these take longer.
//!
//! Source: our own.

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::Tag;
use tidegate_model::drive_file::MeasuredTable;

use super::drain::{self, Begin};
use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::{FIFTH, TWENTIETH};
use crate::procedure::{Pace, Procedure, flow_requests};
use crate::rounds::Grid;
use crate::start::Start;
use crate::subject::TrialResult;
use crate::table;

/// Divides the number of samples, because the flows before these drains are long.
const SAMPLES_PART: u32 = 4;

/// The longest flow while one request is stranded: long enough for that request to reach the
/// greatest age that a drive allows, which is some seconds on a hard disk.
const STRANDED_LENGTH_MAX: u32 = 512;

/// The mean length of the flow while one request is stranded.
const STRANDED_LENGTH: u64 = 256;

impl Experiment {
    /// Drains from starts that make them long; they raise the table wherever they take longer.
    pub const DRAIN_ADVERSARY: Self = Self::of(&Facts {
        name: "drain-adversary",
        scope: Scope::EachKind,
        cell_name: CellName::Count("drain", &[Start::Stranded.name(), Start::Ends.name()]),
        time: "drains after requests far apart raise the table where they are longer",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: true,
        places_of: None,
        needs_priority: false,
    });
}

/// The procedure of [`Experiment::DRAIN_ADVERSARY`].
pub(super) struct DrainAdversary;

impl Procedure for DrainAdversary {
    fn grid(&self, params: &ProfileParams) -> Grid {
        drain::grid(params.samples.div_ceil(SAMPLES_PART), params.depth, STARTS.len())
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        let half = u64::from(params.depth.div_ceil(2));
        (STRANDED_LENGTH + flow_requests(half)) / u64::try_from(STARTS.len()).expect("a few")
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let rounds = context.rounds(Experiment::DRAIN_ADVERSARY, kind, self.grid(context.params));
        if let Some(longer) = drain::drains(&STARTS, &rounds, context, found)? {
            // The quantiles in the table remain those of random places.
            let is_it =
                |known: &&mut MeasuredTable| (known.op, known.size) == (longer.op, longer.size);
            if let Some(known) = found.file.drain.iter_mut().find(is_it) {
                table::raise(known, longer.ns_max);
            }
        }
        Ok(())
    }
}

/// The starts of [`Start::ADVERSARIES`], each with the function that establishes it.
const STARTS: [(Start, Begin); 2] = [(Start::Stranded, strand), (Start::Ends, keep_at_ends)];

/// Keeps a steady flow of `q - 1` requests in the lowest fifth while one request is in the highest.
fn strand(flows: FlowParams, flow: &mut Flow<'_>, q: u32) -> TrialResult {
    let (places, [near, far]) = (flows.places, flows.ends(FIFTH));
    let beside = |random: &mut Pcg64| places.within(near.clone(), random);
    let alone = |random: &mut Pcg64| places.within(far.clone(), random);
    flow.fill(q - 1, beside)?;
    let mut stranded = flow.send(1, Tag::Simple, alone)?[0];
    for _ in 0..flow.random.random_range(0..STRANDED_LENGTH_MAX) {
        if flow.wait()?.contains(&stranded.start) {
            flow.fill(q - 1, beside)?;
            stranded = flow.send(1, Tag::Simple, alone)?[0];
        } else {
            flow.fill(q, beside)?;
        }
    }
    Ok(())
}

/// Keeps a steady flow whose places alternate between the two ends of the target.
fn keep_at_ends(flows: FlowParams, flow: &mut Flow<'_>, q: u32) -> TrialResult {
    let is_low = flow.random.random();
    flow.keep_a_while(q, flows.by_turns(TWENTIETH, is_low))
}
