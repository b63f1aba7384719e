// SPDX-License-Identifier: Apache-2.0 OR MIT
//! priority(q): the longest time of q requests with the drive's own priority. They are sent
//! together to a device that has no other request of that priority and that is kept full by
//! requests without priority.
//!
//! ```text
//!   others   K ____      ____________________ K
//!                  \____/  each completed one is replaced by one without priority
//!                  K - q
//!   priority         q sent -----------------> all q back
//! ```

use rand_pcg::Pcg64;
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{Duration, Tag};

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure, flow_requests};
use crate::rounds::Grid;
use crate::subject::{Probe, TrialResult};
use crate::warning::Skip;

impl Experiment {
    /// priority(q): the time of q requests with the drive's own priority, while others keep the
    /// device full.
    pub const PRIORITY: Self = Self::of(&Facts {
        name: "priority",
        scope: Scope::EachKind,
        cell_name: CellName::Count("priority", &[]),
        time: "a time of priority runs from one submission of all requests of priority to their \
               last completion, while random others keep the device full",
        is_about_maxima: true,
        tail: None,
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: true,
    });
}

/// The procedure of [`Experiment::PRIORITY`].
pub(super) struct Priority;

impl Procedure for Priority {
    fn skip(&self, _params: &ProfileParams, has_tags: bool) -> Option<Skip> {
        (!has_tags).then_some(Skip::NoTags)
    }

    fn grid(&self, params: &ProfileParams) -> Grid {
        Grid::counts(params.samples, params.depth)
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        let depth = u64::from(params.depth);
        flow_requests(depth) + depth
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let flows = context.flows(kind);
        let rounds = context.rounds(Experiment::PRIORITY, kind, self.grid(context.params));
        let measured = context.measure(&rounds, |flow, cell| {
            sample(flow, flows, u32::try_from(cell + 1).expect("at most the depth"))
        })?;
        let table = found.table(&rounds, &measured);
        let table = table.map(|it| MeasuredTable { depth: Some(flows.depth), ..it });
        found.file.priority.extend(table);
        Ok(())
    }
}

/// Takes one sample: the time of q high-priority requests on a device of depth `depth`,
/// `1 <= q <= depth`.
fn sample(flow: &mut Flow<'_>, flows: FlowParams, q: u32) -> TrialResult<Duration> {
    let FlowParams { places, depth } = flows;
    let mut anywhere = |random: &mut Pcg64| places.anywhere(random);
    flow.keep_a_while(depth, anywhere)?;
    served(flow, depth, q, &mut anywhere)
}

/// Returns the time of q high-priority requests on a device that other requests keep full, and
/// leaves it idle.
pub(super) fn served(
    flow: &mut Flow<'_>,
    depth: u32,
    q: u32,
    draw: &mut dyn FnMut(&mut Pcg64) -> Probe,
) -> TrialResult<Duration> {
    flow.recede_to(depth - q)?;
    // Several requests can have completed at the same time, so fill up the device before the
    // high-priority requests.
    flow.fill(depth - q, &mut *draw)?;
    let begun = flow.now();
    let mut awaited: Vec<Probe> = flow.send(q, Tag::Priority, &mut *draw)?.to_vec();
    while !awaited.is_empty() {
        let returned = flow.wait()?;
        awaited.retain(|probe| !returned.contains(&probe.start));
        if !awaited.is_empty() {
            flow.fill(depth, &mut *draw)?;
        }
    }
    let took = flow.now().since(begun);
    flow.drain()?;
    Ok(took)
}
