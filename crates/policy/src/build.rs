// SPDX-License-Identifier: Apache-2.0 OR MIT
//! From a name and a plan to a policy with its regulators: the one place where names of files
//! and scripts meet the policies of this crate. What a policy needs and nobody knows is an
//! error, never another policy.

use tidegate_model::{AccessTime, Knowledge, Plan, PolicyName, RegulatorName};

use crate::{
    AdaptiveDrain, BfqStrict, ByPosition, Cfq, CfqGrouped, Das, Deadline, DqEdf, Dqf, DqfElastic,
    Edf, Fifo, GatedDrain, GroupEdf, MqDeadline, Noop, Policy, Rtio, RtioSlots, Rule, Satf,
    ScanEdf, regulators,
};

/// Why a policy cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// It orders by access time, and nothing is known of the drive's.
    #[error(
        "`{policy}` orders requests by access time, which nothing tells of this drive; name a \
         drive file with [mechanics], or another policy"
    )]
    AccessTimeUnknown {
        /// The policy.
        policy: PolicyName,
    },
    /// It rests on drain times, and the drive has none.
    #[error(
        "`{policy}` decides by drain times, and the drive has no [[drain]] table for these \
         requests; measure it with `tidegate profile`, or name another policy"
    )]
    DrainUnknown {
        /// The policy.
        policy: PolicyName,
    },
}

/// The policies that can carry out `plan` on a drive of which nothing else is known.
pub fn available(plan: &Plan) -> Vec<PolicyName> {
    PolicyName::ALL.into_iter().filter(|&name| build(name, plan, None).is_ok()).collect()
}

/// The policy of that name with its regulators, carrying out `plan`; `access` is what is known
/// of the drive's positions.
///
/// # Errors
/// [`BuildError`] where the policy needs what is not known of the drive.
pub fn build(
    name: PolicyName,
    plan: &Plan,
    access: Option<Box<dyn AccessTime>>,
) -> Result<Box<dyn Policy>, BuildError> {
    build_watched(name, plan, access, |policy| policy)
}

/// As [`build`], with `watch` put round the policy itself, below all regulators: what it sees is
/// what the policy sees, in the order and of the class in which regulators hand it on.
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

/// What stands behind a name: `token-bucket`, `mdn` and `mdn-extended` are regulators of
/// `noop`, the drive's own order, as in Wu and Brandt; every other name is a policy itself.
pub const fn parts(name: PolicyName) -> (PolicyName, Option<RegulatorName>) {
    match name.facts().shaper {
        Some(shaper) => (PolicyName::Noop, Some(shaper)),
        None => (name, None),
    }
}

/// The policy of that name without what the plan wraps round it.
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

const KNOWN: &str = "the row of the policy says that it needs this";

/// Refuses a policy whose row names what is not known of the drive.
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
