// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scheduling policies as pure decisions: no clock, no I/O, no randomness, bounded memory.
//!
//! A host (simulator, run-time engine, trace replay, test) reports events to a policy and asks it
//! for decisions; see [`Policy`] for the protocol. One file per policy.

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
mod order;
mod overrun;
mod placed_queue;
mod queue;
mod regulators;
mod rtio;
mod rtio_slots;
mod tournament;

use tidegate_model::parameters::TokenRate;
use tidegate_model::{Outcome, Plan, Request, RequestId, TaskIndex, Time};

pub use tidegate_model::Tag;

pub use adaptive_drain::AdaptiveDrain;
pub use build::{BuildError, available, build, build_watched, parts};
pub use by_position::{ByPosition, Rule, Satf};
pub use das::Das;
pub use dq_edf::DqEdf;
pub use dqf::Dqf;
pub use dqf_elastic::DqfElastic;
pub use edf::{Edf, GroupEdf, ScanEdf};
pub use fifo::Fifo;
pub use gated_drain::GatedDrain;
pub use linux::{BfqStrict, Cfq, CfqGrouped, Deadline, DeadlineDrain, MqDeadline, MqDeadlineTuned};
pub use noop::Noop;
pub use regulators::{DepthLimit, TokensPerTask};
pub use rtio::Rtio;
pub use rtio_slots::RtioSlots;

/// An event that a policy must know about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A request became ready. All requests of one job are observed before the next `decide`.
    Release(Request),
    /// The device completed a request.
    Complete {
        /// The completed request.
        id: RequestId,
        /// The outcome of the request.
        outcome: Outcome,
    },
    /// A queued request is cancelled. A request on the device cannot be recalled; for it, or for an
    /// unknown request, the event has no effect.
    Cancel(RequestId),
    /// A task reports on its own service.
    Notice {
        /// The reporting task.
        task: TaskIndex,
        /// The kind of report.
        kind: NoticeKind,
    },
    /// The policy must decide by this plan from now on, and keep all requests that are queued or in
    /// flight.
    Reconfigure(Box<Plan>),
}

/// The kinds of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoticeKind {
    /// The task missed one of its deadlines.
    DeadlineMissed,
    /// The stream that the task read or wrote has ended.
    StreamEnded,
}

/// The host's next action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Add this request to the batch that is being formed, and call `decide` again.
    Dispatch {
        /// The request to add.
        id: RequestId,
        /// The tag that says how the device may order the request.
        tag: Tag,
    },
    /// Drop this queued request, which its contract allows ([`Request::optional`]), and call
    /// `decide` again. The policy has already forgotten it.
    Drop(RequestId),
    /// The batch, if any, is complete; call `decide` again at this instant or at the next event.
    NotBefore(Time),
    /// The batch, if any, is complete; call `decide` again after the next event.
    AwaitEvent,
}

/// The policy's queue is full. The policy's state is unchanged: the host holds the request, keeps
/// its `released`, and offers it again later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// A scheduling policy, separate from the code that carries out its decisions.
///
/// # The protocol
/// - At one instant the host observes all events (completions first, then releases), then calls
///   `decide` until it returns neither `Dispatch` nor `Drop`.
/// - All dispatches of one such round go to the device as one batch, atomically.
/// - `observe` returns `Full` only for `Release`.
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
    /// Records an event.
    ///
    /// # Errors
    /// [`Full`] for a `Release` while the queue of the request's class is full.
    ///
    /// # Panics
    /// If the host breaks the protocol, for example by completing a request that is not in flight.
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full>;

    /// Returns the decision at `now`.
    fn decide(&mut self, now: Time) -> Decision;

    /// Returns the tokens that best effort gets per second; `None` if tokens do not limit it. Only
    /// reports need it.
    fn tokens_per_s(&self) -> Option<TokenRate> {
        None
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        (**self).observe(now, event)
    }
    fn decide(&mut self, now: Time) -> Decision {
        (**self).decide(now)
    }
    fn tokens_per_s(&self) -> Option<TokenRate> {
        (**self).tokens_per_s()
    }
}
