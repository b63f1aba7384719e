// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scheduling policies as pure decisions: no clock, no I/O, no randomness, bounded memory.
//!
//! A host (simulator, run-time engine, trace replay, test) tells a policy what happened and
//! asks it what to do; see [`Policy`] for the protocol. One file per policy.

#![warn(clippy::float_arithmetic)]

mod by_position;
mod class_queues;
mod das;
mod dqf;
mod fifo;
mod in_flight;
mod noop;
mod placed_queue;
mod queue;
mod regulators;
mod satf;

use model::{
    AccessTime, Outcome, Plan, PolicyName, RegulatorName, Request, RequestId, TaskIndex, Time,
};

pub use model::Tag;

pub use by_position::{ByPosition, Rule};
pub use das::Das;
pub use dqf::Dqf;
pub use fifo::Fifo;
pub use noop::Noop;
pub use satf::Satf;

/// Something that happened and that a policy must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A request became ready. All requests of one job are observed before the next `decide`.
    Release(Request),
    /// The device returned a request.
    Complete {
        /// Which one.
        id: RequestId,
        /// How it ended.
        outcome: Outcome,
    },
    /// A queued request is no longer wanted. One that is on the device cannot be recalled:
    /// for it, and for one that is unknown, nothing changes.
    Cancel(RequestId),
    /// A task reports something about its own service.
    Notice {
        /// The reporting task.
        task: TaskIndex,
        /// What it reports.
        kind: NoticeKind,
    },
    /// From now on decide by this plan. Nothing that is queued or in flight is lost.
    Reconfigure(Box<Plan>),
}

/// What a task may report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoticeKind {
    /// A deadline of its own was missed.
    DeadlineMissed,
    /// The stream that it read or wrote came to its end.
    StreamEnded,
}

/// What the host is to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Put this request into the batch that is being formed, and ask again.
    Dispatch {
        /// Which one.
        id: RequestId,
        /// How the device may order it.
        tag: Tag,
    },
    /// Forget this queued request, which its contract allows ([`Request::optional`]), and ask
    /// again. The policy has forgotten it already.
    Drop(RequestId),
    /// The batch, if any, is complete; ask again at this instant or at the next event.
    NotBefore(Time),
    /// The batch, if any, is complete; ask again after the next event.
    AwaitEvent,
}

/// The policy holds as many requests as it was told to. It forgot nothing and learned
/// nothing: the host holds the request, keeps its `released`, and offers it again later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// A scheduling decision, apart from everything that carries it out.
///
/// # The protocol
/// - At one instant the host observes everything that happened (completions first, then
///   releases), then calls `decide` until it stops answering `Dispatch` and `Drop`.
/// - All that one such round dispatched goes to the device as one batch, atomically.
/// - `observe` answers `Full` to `Release` only.
/// - `now` never decreases.
///
/// # Example
/// ```
/// use model::{Class, Op, Request, RequestId, TaskIndex, Time, Bytes, Lba};
/// use policy::{Decision, Event, Fifo, Policy};
///
/// let mut policy = Fifo::new(8);
/// let request = Request {
///     id: RequestId(1), task: TaskIndex(0), class: Class::Hard, released: Time::ZERO,
///     eligible: Time::ZERO, due: None, op: Op::Read, start: Lba::new(0),
///     size: Bytes::from_kib(4), fua: false, optional: false, tag: model::Tag::Simple,
/// };
/// policy.observe(Time::ZERO, Event::Release(request)).unwrap();
/// assert!(matches!(policy.decide(Time::ZERO), Decision::Dispatch { id: RequestId(1), .. }));
/// assert_eq!(policy.decide(Time::ZERO), Decision::AwaitEvent);
/// ```
pub trait Policy {
    /// Takes note of an event.
    ///
    /// # Errors
    /// [`Full`] on `Release` when the queue of the request's class is full.
    ///
    /// # Panics
    /// When the host breaks the protocol: a completion of what is not in flight.
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full>;

    /// What to do now.
    fn decide(&mut self, now: Time) -> Decision;
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        (**self).observe(now, event)
    }
    fn decide(&mut self, now: Time) -> Decision {
        (**self).decide(now)
    }
}

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
    /// This version has no such regulator.
    #[error("`{regulator}` is not part of this version")]
    RegulatorMissing {
        /// The regulator.
        regulator: RegulatorName,
    },
    /// This version has no such policy.
    #[error("`{policy}` is not part of this version")]
    Missing {
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
    let mut policy = build_bare(name, plan, access)?;
    for &regulator in plan.regulators.iter().rev() {
        policy = regulators::wrap(regulator, policy, plan)?;
    }
    Ok(policy)
}

/// The policy of that name without what the plan wraps round it.
fn build_bare(
    name: PolicyName,
    plan: &Plan,
    access: Option<Box<dyn AccessTime>>,
) -> Result<Box<dyn Policy>, BuildError> {
    let known = |access: Option<_>| access.ok_or(BuildError::AccessTimeUnknown { policy: name });
    let by_position =
        |rule, access| Box::new(ByPosition::new(rule, access, plan.queued_max)) as Box<dyn Policy>;
    Ok(match name {
        PolicyName::Noop => Box::new(Noop::new(plan.depth, plan.queued_max)),
        PolicyName::Fifo => Box::new(Fifo::new(plan.queued_max)),
        PolicyName::Sstf => by_position(Rule::Nearest, access),
        PolicyName::Scan => by_position(Rule::BothWays, access),
        PolicyName::CLook => by_position(Rule::OneWay, access),
        PolicyName::Satf => Box::new(Satf::new(known(access)?, plan.queued_max)),
        PolicyName::Das => Box::new(Das::new(plan, known(access)?)),
        PolicyName::Dqf => {
            Box::new(Dqf::new(plan.batch_max, plan.best_effort_fill, plan.queued_max))
        }
        policy => return Err(BuildError::Missing { policy }),
    })
}
