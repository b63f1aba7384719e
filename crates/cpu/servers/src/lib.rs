// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Aperiodic servers as pure state machines: the host reports execution, and the server returns
//! how much more is allowed.
//!
//! A server bounds the processor time of aperiodic work. It does not see the work itself: its host
//! (a simulator, a manager of threads, a kernel) reports when there is work and how long the server
//! executed, and calls [`Server::status`] to find out whether the server may execute at its
//! priority now. Time is passed in; there is no clock, no timer, and no allocation after
//! construction.
//!
//! ```text
//!             Unblock                     Dispatch
//!  blocked ------------> ready, eligible ---------> executing --Block--> blocked
//!                          ^   |    ^                  |   |
//!                    alarm |   |    +-----Preempt------+   | Alarm, budget 0
//!                          |   v                           v
//!                       ready, out of budget <-------------+
//! ```
//!
//! The rules and corrections are those of the dissertation's chapter 6; each kind lists its own.

mod coalescing;
mod fixed_priority;
mod per_period;
mod posix;
mod replenishments;
mod sporadic;

use tidegate_cpu_model::{ServerKind, ServerParams};
use tidegate_model::{Duration, Time};

pub use fixed_priority::FixedPriority;
pub use per_period::{PerPeriod, WithoutWork};
pub use posix::{AtExhaustion, Posix};
pub use replenishments::Replenishment;
pub use sporadic::{Coalescing, Sporadic};

/// An event of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEvent {
    /// Work arrived where there was none.
    Unblock,
    /// The server takes the processor, within its budget.
    Dispatch {
        /// Whether the server takes the processor from a thread that would have continued.
        preempts: bool,
    },
    /// The server loses the processor to a more urgent thread; work is left.
    Preempt,
    /// No work is left.
    Block,
    /// The budget ran out, the alarm's instant has come, or the host requests a check for another
    /// reason. Work is left.
    Alarm,
}

/// Whether a server may execute at its priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerStatus {
    /// The time for which the server may execute without interruption from now on; zero if it may
    /// not.
    pub budget: Duration,
    /// The instant at which to send [`ServerEvent::Alarm`] unless another event comes first: the
    /// budget changes then. `None` if the budget does not change by itself, for example without
    /// work.
    pub alarm: Option<Time>,
    /// The server's deadline under EDF: one period after the activation.
    pub due: Time,
}

/// An aperiodic server.
///
/// # The protocol
/// - `now` never decreases, and a new server has no work.
/// - `executed` is how long the server executed within its budget since the last call. Background
///   execution, out of budget, is not reported.
/// - After it has executed for [`ServerStatus::budget`], the host sends `Alarm` as soon as
///   possible. Execution beyond the budget is an overrun and reported in the same way.
/// - After every event the host calls `status` again.
///
/// # Example
/// ```
/// use tidegate_cpu_model::{ServerKind, ServerParams};
/// use tidegate_cpu_servers::{Server, ServerEvent, build};
/// use tidegate_model::{Duration, Time};
///
/// let ms = Duration::from_ms;
/// let mut server = build(&ServerParams::new(ServerKind::Sporadic, ms(2), ms(10)));
/// let now = Time::from_ns(5_000_000);
/// server.observe(now, Duration::ZERO, ServerEvent::Unblock);
/// assert_eq!(server.status(now).budget, ms(2));
/// server.observe(now, Duration::ZERO, ServerEvent::Dispatch { preempts: false });
/// // Its budget is used up; it is replenished one period after its activation.
/// server.observe(now + ms(2), ms(2), ServerEvent::Alarm);
/// assert_eq!(server.status(now + ms(2)).budget, Duration::ZERO);
/// assert_eq!(server.status(now + ms(2)).alarm, Some(now + ms(10)));
/// ```
pub trait Server {
    /// Processes an event, and the execution since the last one.
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent);

    /// Reports that the server's priority level became active or idle. It is active while a thread
    /// of the server's priority or above executes. Only the original sporadic server uses this. A
    /// host that cannot observe levels never calls it.
    fn level(&mut self, _now: Time, _is_active: bool) {}

    /// Returns the time for which the server may execute now, and the next instant at which that
    /// changes.
    fn status(&self, now: Time) -> ServerStatus;

    /// Writes the server's whole budget into `out`, as replenishments in order of time; a
    /// replenishment whose time has come is available. Writes nothing for a server without
    /// replenishments.
    ///
    /// This serves checks of invariants, and is not called on any hot path.
    fn replenishments(&self, out: &mut Vec<Replenishment>);
}

impl<S: Server + ?Sized> Server for Box<S> {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        (**self).observe(now, executed, event);
    }
    fn level(&mut self, now: Time, is_active: bool) {
        (**self).level(now, is_active);
    }
    fn status(&self, now: Time) -> ServerStatus {
        (**self).status(now)
    }
    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        (**self).replenishments(out);
    }
}

/// Creates the server with these parameters.
///
/// # Panics
/// If the parameters are invalid ([`ServerParams::checked`]).
pub fn build(params: &ServerParams) -> Box<dyn Server + Send> {
    let params = params.checked().unwrap_or_else(|error| panic!("{error}"));
    match params.kind {
        ServerKind::FixedPriority => Box::new(FixedPriority::new()),
        ServerKind::Polling => Box::new(PerPeriod::new(params, WithoutWork::Lost)),
        ServerKind::Deferrable => Box::new(PerPeriod::new(params, WithoutWork::Kept)),
        ServerKind::Spsl => Box::new(Posix::original(params)),
        ServerKind::PosixSporadic => Box::new(Posix::new(params, AtExhaustion::KeepActivation)),
        ServerKind::PosixSporadicStrict => {
            Box::new(Posix::new(params, AtExhaustion::PostActivation))
        }
        ServerKind::Sporadic => Box::new(Sporadic::new(params, Coalescing::Never)),
        ServerKind::HybridImmediate => Box::new(Sporadic::new(params, Coalescing::Immediate)),
        ServerKind::HybridGradual => Box::new(Sporadic::new(params, Coalescing::Gradual)),
    }
}
