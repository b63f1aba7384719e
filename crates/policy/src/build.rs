// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Builds a policy with its regulators from a name and a plan: the only place that maps the names
//! in files and scripts to this crate's policies. If a policy needs drive data that is unknown, the
//! result is an error, never another policy.

use tidegate_model::{
    AccessTime, BestEffortOrder, Knowledge, Measurement, Plan, PolicyName, RegulatorName,
};

use crate::order::{Heads, OrderedQueue, OrdersBestEffort, Tracked};
use crate::{
    AdaptiveDrain, BfqStrict, ByPosition, Cfq, CfqGrouped, Das, Deadline, DeadlineDrain, DqEdf,
    Dqf, DqfElastic, Edf, Fifo, GatedDrain, GroupEdf, MqDeadline, MqDeadlineTuned, Noop, Policy,
    Rtio, RtioSlots, Rule, Satf, ScanEdf, regulators,
};

/// The reason why a policy cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The policy orders by access time, which is unknown for the drive.
    #[error(
        "`{policy}` orders requests by access time, which is unknown for this drive; name a \
         drive file with [mechanics] (of the built-in drives, those that `tidegate drive list` \
         calls mechanical), or choose another policy"
    )]
    AccessTimeUnknown {
        /// The policy that cannot be built.
        policy: PolicyName,
    },
    /// The order of best effort needs access times, which are unknown for the drive.
    #[error(
        "best_effort_order = \"{order}\" orders requests by access time, which is unknown for this \
         drive; name a drive file with [mechanics], or write best_effort_order = \"elevator\""
    )]
    OrderUnknown {
        /// The order that needs access times.
        order: BestEffortOrder,
    },
    /// The policy relies on drain times, and the drive has none.
    #[error(
        "`{policy}` decides by drain times, and the drive has no [[drain]] table for these \
         requests; measure it with `{}`, or choose another policy",
        Measurement::of("drain")
    )]
    DrainUnknown {
        /// The policy that cannot be built.
        policy: PolicyName,
    },
}

/// Returns the policies that can run `plan` on a drive without known access times.
pub fn available(plan: &Plan) -> Vec<PolicyName> {
    PolicyName::ALL.into_iter().filter(|&name| build(name, plan, None).is_ok()).collect()
}

/// Returns the policy with this name for `plan`, with its regulators; `access` models the drive's
/// access times if they are known.
///
/// # Errors
/// [`BuildError`] if the policy needs drive data that is unknown.
pub fn build(
    name: PolicyName,
    plan: &Plan,
    access: Option<Box<dyn AccessTime>>,
) -> Result<Box<dyn Policy>, BuildError> {
    build_watched(name, plan, access, |_, policy| policy)
}

/// Like [`build`], but each layer, from the policy itself outwards, is wrapped by `watch`, which
/// also gets the name of the regulator around the layer (`None` for the outermost). The wrapper
/// sees the same events as the layer, in the order and class in which that regulator passes them
/// on.
///
/// # Errors
/// As [`build`].
pub fn build_watched(
    name: PolicyName,
    plan: &Plan,
    access: Option<Box<dyn AccessTime>>,
    mut watch: impl FnMut(Option<RegulatorName>, Box<dyn Policy>) -> Box<dyn Policy>,
) -> Result<Box<dyn Policy>, BuildError> {
    let (name, shaper) = parts(name);
    let mut policy = build_bare(name, plan, access)?;
    for regulator in shaper.into_iter().chain(plan.regulators.iter().rev().copied()) {
        policy = regulators::wrap(regulator, watch(Some(regulator), policy), plan);
    }
    Ok(watch(None, policy))
}

/// Returns the parts of a name: `token-bucket`, `mdn` and `mdn-extended` are regulators of `noop`,
/// the drive's own order, as in Wu and Brandt; every other name is a policy itself.
pub const fn parts(name: PolicyName) -> (PolicyName, Option<RegulatorName>) {
    match name.facts().shaper {
        Some(shaper) => (PolicyName::Noop, Some(shaper)),
        None => (name, None),
    }
}

/// Returns the policy with this name, without the plan's regulators.
fn build_bare(
    name: PolicyName,
    plan: &Plan,
    access: Option<Box<dyn AccessTime>>,
) -> Result<Box<dyn Policy>, BuildError> {
    check_knowledge(name, plan, access.is_some())?;
    let (depth, queued_max) = (plan.depth, plan.queued_max);
    Ok(match name {
        PolicyName::Noop | PolicyName::TokenBucket | PolicyName::Mdn | PolicyName::MdnExtended => {
            Box::new(Noop::new(depth, queued_max))
        }
        PolicyName::Fifo => Box::new(Fifo::new(queued_max)),
        PolicyName::Sstf => Box::new(ByPosition::new(Rule::Nearest, access, queued_max)),
        PolicyName::Scan => Box::new(ByPosition::new(Rule::BothWays, access, queued_max)),
        PolicyName::CLook => Box::new(ByPosition::new(Rule::OneWay, access, queued_max)),
        PolicyName::Satf => Box::new(Satf::new(access.expect(KNOWN), queued_max)),
        PolicyName::Das => Box::new(Das::new(plan, access.expect(KNOWN))),
        PolicyName::Edf => ordered(Edf::new(queued_max), plan, access),
        PolicyName::ScanEdf => {
            ordered(ScanEdf::new(plan.parameters.scan_edf, queued_max), plan, access)
        }
        PolicyName::GroupEdf => {
            ordered(GroupEdf::new(plan.parameters.group_edf, &plan.tasks, queued_max), plan, access)
        }
        PolicyName::DqEdf => ordered(DqEdf::of(plan), plan, access),
        PolicyName::Rtio => ordered(Rtio::at_once(plan), plan, access),
        PolicyName::RtioDrain | PolicyName::RtioLimit => {
            ordered(Rtio::draining(plan), plan, access)
        }
        PolicyName::RtioPriority => ordered(Rtio::by_priority(plan), plan, access),
        PolicyName::RtioSlots => ordered(RtioSlots::new(plan), plan, access),
        PolicyName::AdaptiveDrain => ordered(AdaptiveDrain::new(plan), plan, access),
        PolicyName::GatedDrain => ordered(GatedDrain::new(plan), plan, access),
        PolicyName::Dqf => ordered(Dqf::of(plan), plan, access),
        PolicyName::DqfElastic => ordered(DqfElastic::new(plan), plan, access),
        PolicyName::Deadline => Box::new(Deadline::new(depth, queued_max)),
        PolicyName::DeadlineDrain => {
            Box::new(DeadlineDrain::new(plan.parameters.deadline_drain, depth, queued_max))
        }
        PolicyName::Cfq => Box::new(Cfq::new(depth, queued_max)),
        PolicyName::CfqGrouped => Box::new(CfqGrouped::new(depth, queued_max)),
        PolicyName::MqDeadline => Box::new(MqDeadline::new(depth, queued_max)),
        PolicyName::MqDeadlineTuned => Box::new(MqDeadlineTuned::new(plan)),
        PolicyName::BfqStrict => Box::new(BfqStrict::new(queued_max)),
    })
}

/// Returns a new policy that serves best effort in the plan's order.
fn ordered<P: Policy + OrdersBestEffort + 'static>(
    mut policy: P,
    plan: &Plan,
    access: Option<Box<dyn AccessTime>>,
) -> Box<dyn Policy> {
    let order = plan.best_effort_order;
    let heads = access.filter(|_| order.needs_access_times()).map(Heads::new);
    *policy.best_effort_mut() = OrderedQueue::in_order(order, heads.as_ref(), plan.queued_max);
    match heads {
        Some(heads) => Box::new(Tracked::new(policy, heads)),
        None => Box::new(policy),
    }
}

const KNOWN: &str = "the policy's row of facts says that it needs this";

/// Refuses a policy whose row of facts names data that is unknown for the drive.
fn check_knowledge(
    policy: PolicyName,
    plan: &Plan,
    has_access_times: bool,
) -> Result<(), BuildError> {
    let order = plan.best_effort_order;
    let facts = policy.facts();
    if facts.best_effort.has_order() && order.needs_access_times() && !has_access_times {
        return Err(BuildError::OrderUnknown { order });
    }
    match facts.needs {
        Knowledge::AccessTimes if !has_access_times => {
            Err(BuildError::AccessTimeUnknown { policy })
        }
        Knowledge::DrainTimes if plan.contracts.drain.is_none() => {
            Err(BuildError::DrainUnknown { policy })
        }
        Knowledge::Nothing | Knowledge::AccessTimes | Knowledge::DrainTimes => Ok(()),
    }
}
