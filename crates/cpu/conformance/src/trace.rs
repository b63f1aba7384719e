// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a server was told and how it stood then: the lines of a stream's expectation.

use serde::{Deserialize, Serialize};
use tidegate_cpu_servers::{Replenishment, ServerEvent};
use tidegate_cpu_sim::ServerCall;
use tidegate_model::{Duration, Time};

/// An event, by the name that streams and the line protocol use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventName {
    /// [`ServerEvent::Unblock`].
    Unblock,
    /// [`ServerEvent::Dispatch`].
    Dispatch,
    /// [`ServerEvent::Preempt`].
    Preempt,
    /// [`ServerEvent::Block`].
    Block,
    /// [`ServerEvent::Alarm`].
    Alarm,
}

impl EventName {
    /// The event of that name; `preempts` is for `dispatch`.
    pub(crate) const fn event(self, preempts: bool) -> ServerEvent {
        match self {
            Self::Unblock => ServerEvent::Unblock,
            Self::Dispatch => ServerEvent::Dispatch { preempts },
            Self::Preempt => ServerEvent::Preempt,
            Self::Block => ServerEvent::Block,
            Self::Alarm => ServerEvent::Alarm,
        }
    }
}

impl From<ServerEvent> for EventName {
    fn from(event: ServerEvent) -> Self {
        match event {
            ServerEvent::Unblock => Self::Unblock,
            ServerEvent::Dispatch { .. } => Self::Dispatch,
            ServerEvent::Preempt => Self::Preempt,
            ServerEvent::Block => Self::Block,
            ServerEvent::Alarm => Self::Alarm,
        }
    }
}

/// One call, and the standing after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceLine {
    /// When.
    pub now_ns: u64,
    /// Executed in the budget since the last call.
    pub executed_ns: u64,
    /// What happened.
    pub event: EventName,
    /// For `dispatch`: from somebody who would have gone on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preempts: bool,
    /// How long it may execute from now.
    pub budget_ns: u64,
    /// When it wants to be told again.
    pub alarm_ns: Option<u64>,
    /// All its budget: from when on, and how much.
    pub replenishments_ns: Vec<(u64, u64)>,
}

impl TraceLine {
    /// The line of a call.
    pub(crate) fn of(call: &ServerCall<'_>) -> Self {
        let mut replenishments = Vec::new();
        call.server.replenishments(&mut replenishments);
        Self {
            now_ns: call.now.ns(),
            executed_ns: call.executed.ns(),
            event: call.event.into(),
            preempts: call.event == ServerEvent::Dispatch { preempts: true },
            budget_ns: call.standing.budget.ns(),
            alarm_ns: call.standing.alarm.map(Time::ns),
            replenishments_ns: replenishments.iter().map(pair).collect(),
        }
    }

    /// Whether the server stands as the other one says; replenishments that nobody told are not
    /// compared, nor is the alarm of a server without work, which nobody rings.
    pub(crate) fn is_as_expected(&self, expected: &Self) -> bool {
        let told = !self.replenishments_ns.is_empty();
        let replenishments_ns =
            if told { self.replenishments_ns.clone() } else { expected.replenishments_ns.clone() };
        let has_work = self.event != EventName::Block;
        let alarm_ns = if has_work { self.alarm_ns } else { expected.alarm_ns };
        Self { alarm_ns, replenishments_ns, ..self.clone() } == *expected
    }
}

fn pair(replenishment: &Replenishment) -> (u64, u64) {
    (replenishment.at.ns(), replenishment.amount.ns())
}

/// The replenishments of a line.
pub(crate) fn replenishments(pairs: &[(u64, u64)]) -> impl Iterator<Item = Replenishment> {
    pairs.iter().map(|&(at, amount)| Replenishment {
        at: Time::from_ns(at),
        amount: Duration::from_ns(amount),
    })
}
