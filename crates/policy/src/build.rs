// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Builds a policy with its regulators from a name and a plan: the only place that maps the names
//! in files and scripts to this crate's policies. If a policy needs drive data that is unknown, the
//! result is an error, never another policy.

use tidegate_model::{AccessTime, Knowledge, Plan, PolicyName, RegulatorName};

use crate::{
    AdaptiveDrain, BfqStrict, ByPosition, Cfq, CfqGrouped, Das, Deadline, DqEdf, Dqf, DqfElastic,
    Edf, Fifo, GatedDrain, GroupEdf, MqDeadline, Noop, Policy, Rtio, RtioSlots, Rule, Satf,
    ScanEdf, regulators,
};

/// The reason why a policy cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The policy orders by access time, which is unknown for the drive.
    #[error(
        "`{policy}` orders requests by access time, which is unknown for this drive; name a \
         drive file with [mechanics], or choose another policy"
    )]
    AccessTimeUnknown {
        /// The policy.
        policy: PolicyName,
    },
    /// The policy relies on drain times, and the drive has none.
    #[error(
        "`{policy}` decides by drain times, and the drive has no [[drain]] table for these \
         requests; measure it with `tidegate profile`, or choose another policy"
    )]
    DrainUnknown {
        /// The policy.
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
    build_watched(name, plan, access, |policy| policy)
}

/// Like [`build`], but with `watch` wrapped around the policy itself, below all regulators. It sees
/// the same events as the policy, in the order and class in which regulators pass them on.
///
/// # Errors
/// As [`build`].
pub fn build_watched(
    name: PolicyName,
    plan: &Plan,
    access: Option<Box<dyn AccessTime>>,
    watch: impl FnOnce(Box<dyn Policy>) -> Box<dyn Policy>,
) -> Result<Box<dyn Policy>, BuildError> {
    let (name, shaper) = parts(name);
    let mut policy = watch(build_bare(name, plan, access)?);
    for regulator in shaper.into_iter().chain(plan.regulators.iter().rev().copied()) {
        policy = regulators::wrap(regulator, policy, plan);
    }
    Ok(policy)
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
    let by_position =
        |rule, access| Box::new(ByPosition::new(rule, access, queued_max)) as Box<dyn Policy>;
    Ok(match name {
        PolicyName::Noop | PolicyName::TokenBucket | PolicyName::Mdn | PolicyName::MdnExtended => {
            Box::new(Noop::new(depth, queued_max))
        }
        PolicyName::Fifo => Box::new(Fifo::new(queued_max)),
        PolicyName::Sstf => by_position(Rule::Nearest, access),
        PolicyName::Scan => by_position(Rule::BothWays, access),
        PolicyName::CLook => by_position(Rule::OneWay, access),
        PolicyName::Satf => Box::new(Satf::new(access.expect(KNOWN), queued_max)),
        PolicyName::Das => Box::new(Das::new(plan, access.expect(KNOWN))),
        PolicyName::Edf => Box::new(Edf::new(queued_max)),
        PolicyName::ScanEdf => Box::new(ScanEdf::new(queued_max)),
        PolicyName::GroupEdf => {
            Box::new(GroupEdf::new(plan.parameters.group_edf.group_ppm, &plan.tasks, queued_max))
        }
        PolicyName::DqEdf => Box::new(DqEdf::of(plan)),
        PolicyName::Rtio => Box::new(Rtio::at_once(plan)),
        PolicyName::RtioDrain | PolicyName::RtioLimit => Box::new(Rtio::draining(plan)),
        PolicyName::RtioPriority => Box::new(Rtio::by_priority(plan)),
        PolicyName::RtioSlots => Box::new(RtioSlots::new(plan)),
        PolicyName::AdaptiveDrain => Box::new(AdaptiveDrain::new(plan)),
        PolicyName::GatedDrain => Box::new(GatedDrain::new(plan)),
        PolicyName::Dqf => Box::new(Dqf::of(plan)),
        PolicyName::DqfElastic => Box::new(DqfElastic::new(plan)),
        PolicyName::Deadline => Box::new(Deadline::new(depth, queued_max)),
        PolicyName::Cfq => Box::new(Cfq::new(depth, queued_max)),
        PolicyName::CfqGrouped => Box::new(CfqGrouped::new(depth, queued_max)),
        PolicyName::MqDeadline => Box::new(MqDeadline::new(depth, queued_max)),
        PolicyName::BfqStrict => Box::new(BfqStrict::new(queued_max)),
    })
}

const KNOWN: &str = "the policy's row of facts says that it needs this";

/// Refuses a policy whose row of facts names data that is unknown for the drive.
fn check_knowledge(
    policy: PolicyName,
    plan: &Plan,
    has_access_times: bool,
) -> Result<(), BuildError> {
    match policy.facts().needs {
        Knowledge::AccessTimes if !has_access_times => {
            Err(BuildError::AccessTimeUnknown { policy })
        }
        Knowledge::DrainTimes if plan.contracts.drain.is_none() => {
            Err(BuildError::DrainUnknown { policy })
        }
        Knowledge::Nothing | Knowledge::AccessTimes | Knowledge::DrainTimes => Ok(()),
    }
}
