// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Aperiodic servers as pure state machines: who is told what executed, and says how much more
//! may.
//!
//! A server bounds the processor time of work that comes when it likes. It does not know the
//! work: its host (a simulator, a manager of threads, a kernel) tells it when there is some, how
//! long it executed, and asks [`Server::standing`] whether it may execute at its priority now.
//! Time is passed in; there is no clock, no timer, and no allocation after construction.
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
//! Rules and corrections are those of the dissertation's chapter 6; see each kind.

mod coalescing;
mod per_period;
mod posix;
mod replenishments;
mod sporadic;

use tidegate_cpu_model::{ServerKind, ServerParams};
use tidegate_model::{Duration, Time};

pub use per_period::{PerPeriod, WithoutWork};
pub use posix::{AtExhaustion, Posix};
pub use replenishments::Replenishment;
pub use sporadic::{Coalescing, Sporadic};

/// Something that happened to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEvent {
    /// There is work, where there was none.
    Unblock,
    /// It takes the processor, within its budget.
    Dispatch {
        /// From somebody who would have gone on.
        preempts: bool,
    },
    /// It loses the processor to somebody more urgent; there is work left.
    Preempt,
    /// There is no more work.
    Block,
    /// Its budget ran out or the instant of its alarm has come; or nothing happened, and
    /// somebody wants it to look. There is work left.
    Alarm,
}

/// Whether a server may execute at its priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// How long, from now, if it executes without a break; zero: not at all.
    pub budget: Duration,
    /// When it wants to be told [`ServerEvent::Alarm`] if nothing else happens before: its
    /// budget changes then. None while it has no work.
    pub alarm: Option<Time>,
    /// Its deadline where the earliest goes first: a period after the activation.
    pub due: Time,
}

/// An aperiodic server.
///
/// # The protocol
/// - `now` never decreases, and a new server has no work.
/// - `executed` is how long it executed within its budget since the last call. Execution in the
///   background, out of budget, is not reported.
/// - When it executed for [`Standing::budget`], `Alarm` follows as soon as the host can. What it
///   executed beyond is an overrun, reported like the rest.
/// - After every event the host asks `standing` again.
///
/// # Example
/// ```
/// use tidegate_cpu_model::{ServerKind, ServerParams};
/// use tidegate_cpu_servers::ServerEvent;
/// use tidegate_model::{Duration, Time};
///
/// let ms = Duration::from_ms;
/// let mut server = tidegate_cpu_servers::build(&ServerParams::new(ServerKind::Sporadic, ms(2), ms(10)));
/// let now = Time::from_ns(5_000_000);
/// server.observe(now, Duration::ZERO, ServerEvent::Unblock);
/// assert_eq!(server.standing(now).budget, ms(2));
/// server.observe(now, Duration::ZERO, ServerEvent::Dispatch { preempts: false });
/// // Its budget is used up: it is replenished a period after it was activated.
/// server.observe(now + ms(2), ms(2), ServerEvent::Alarm);
/// assert_eq!(server.standing(now + ms(2)).budget, Duration::ZERO);
/// assert_eq!(server.standing(now + ms(2)).alarm, Some(now + ms(10)));
/// ```
pub trait Server {
    /// Takes note of an event, and of what was executed since the last.
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent);

    /// Whether it may execute now.
    fn standing(&self, now: Time) -> Standing;

    /// Writes all its budget into `out`, as replenishments in order of time; what is available is
    /// one whose time has come. Nothing where the server keeps no such thing.
    ///
    /// For those who check invariants; not on any hot path.
    fn replenishments(&self, out: &mut Vec<Replenishment>);
}

impl<S: Server + ?Sized> Server for Box<S> {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        (**self).observe(now, executed, event);
    }
    fn standing(&self, now: Time) -> Standing {
        (**self).standing(now)
    }
    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        (**self).replenishments(out);
    }
}

/// The server with these parameters.
///
/// # Panics
/// When there is no such server ([`ServerParams::checked`]).
pub fn build(params: &ServerParams) -> Box<dyn Server + Send> {
    let params = params.checked().unwrap_or_else(|error| panic!("{error}"));
    match params.kind {
        ServerKind::Polling => Box::new(PerPeriod::new(params, WithoutWork::Lost)),
        ServerKind::Deferrable => Box::new(PerPeriod::new(params, WithoutWork::Kept)),
        ServerKind::PosixSporadic => Box::new(Posix::new(params, AtExhaustion::KeepActivation)),
        ServerKind::PosixSporadicStrict => {
            Box::new(Posix::new(params, AtExhaustion::PostActivation))
        }
        ServerKind::Sporadic => Box::new(Sporadic::new(params, Coalescing::Never)),
        ServerKind::HybridImmediate => Box::new(Sporadic::new(params, Coalescing::Immediate)),
        ServerKind::HybridGradual => Box::new(Sporadic::new(params, Coalescing::Gradual)),
    }
}
