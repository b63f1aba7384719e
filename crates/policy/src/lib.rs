// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scheduling policies as pure decisions: no clock, no I/O, no randomness, bounded memory.
//!
//! A host (simulator, run-time engine, trace replay, test) tells a policy what happened and
//! asks it what to do; see [`Policy`] for the protocol. One file per policy.

#![warn(clippy::float_arithmetic)]
#![deny(clippy::wildcard_enum_match_arm)]

mod adaptive_drain;
mod build;
mod by_position;
mod class_queues;
mod das;
mod dq_edf;
mod dqf;
mod dqf_elastic;
mod drain_times;
mod dual_queue;
mod edf;
mod fifo;
mod gated_drain;
mod in_flight;
mod kind_queue;
mod linux;
mod noop;
mod overrun;
mod placed_queue;
mod queue;
mod regulators;
mod rtio;
mod rtio_slots;
mod satf;
mod tournament;

use tidegate_model::{Outcome, Plan, Request, RequestId, TaskIndex, Time};

pub use tidegate_model::Tag;

pub use adaptive_drain::AdaptiveDrain;
pub use build::{BuildError, available, build, build_watched, parts};
pub use by_position::{ByPosition, Rule};
pub use das::Das;
pub use dq_edf::DqEdf;
pub use dqf::Dqf;
pub use dqf_elastic::DqfElastic;
pub use edf::{Edf, GroupEdf, ScanEdf};
pub use fifo::Fifo;
pub use gated_drain::GatedDrain;
pub use linux::{BfqStrict, Cfq, CfqGrouped, Deadline, MqDeadline};
pub use noop::Noop;
pub use regulators::{DepthLimit, TokensPerTask};
pub use rtio::Rtio;
pub use rtio_slots::RtioSlots;
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
/// use tidegate_model::{Class, Op, Request, RequestId, TaskIndex, Time, Bytes, Lba};
/// use tidegate_policy::{Decision, Event, Fifo, Policy};
///
/// let mut policy = Fifo::new(8);
/// let request = Request {
///     id: RequestId(1), task: TaskIndex(0), class: Class::Hard, released: Time::ZERO,
///     eligible: Time::ZERO, due: None, op: Op::Read, start: Lba::new(0),
///     size: Bytes::from_kib(4), fua: false, optional: false, tag: tidegate_model::Tag::Simple,
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
