// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The calls of a server and its status after each call, as in the expected lines of a stream.

use serde::{Deserialize, Serialize};
use tidegate_cpu_servers::{Replenishment, ServerEvent};
use tidegate_cpu_sim::ServerCall;
use tidegate_model::{Duration, Time};

/// An event, with the name that streams and the line protocol use.
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
    /// Returns the event with this name; `preempts` applies to `dispatch`.
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

/// One call, and the server's status after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceLine {
    /// The instant of the call.
    pub now_ns: u64,
    /// The execution within the budget since the last call.
    pub executed_ns: u64,
    /// The event.
    pub event: EventName,
    /// For `dispatch`: whether it takes the processor from a thread that would have continued.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preempts: bool,
    /// How long the server may execute from now on.
    pub budget_ns: u64,
    /// The instant of the alarm that the server requests; `None` for no alarm.
    pub alarm_ns: Option<u64>,
    /// The server's whole budget: pairs of the instant from which a part may be used, and its
    /// amount.
    pub replenishments_ns: Vec<(u64, u64)>,
}

impl TraceLine {
    /// Returns the line of a call.
    pub(crate) fn of(call: &ServerCall<'_>) -> Self {
        let mut replenishments = Vec::new();
        call.server.replenishments(&mut replenishments);
        Self {
            now_ns: call.now.ns(),
            executed_ns: call.executed.ns(),
            event: call.event.into(),
            preempts: call.event == ServerEvent::Dispatch { preempts: true },
            budget_ns: call.status.budget.ns(),
            alarm_ns: call.status.alarm.map(Time::ns),
            replenishments_ns: replenishments.iter().map(pair).collect(),
        }
    }

    /// Returns the line with all times multiplied by `factor`.
    pub(crate) fn lengthened(mut self, factor: u64) -> Self {
        self.now_ns *= factor;
        self.executed_ns *= factor;
        self.budget_ns *= factor;
        self.alarm_ns = self.alarm_ns.map(|alarm| alarm * factor);
        for (at, amount) in &mut self.replenishments_ns {
            *at *= factor;
            *amount *= factor;
        }
        self
    }

    /// Returns whether the call, and the server's status after it, are as expected. Replenishments
    /// are not compared if they are omitted. The alarm of a server without work is not compared
    /// either, because it is never delivered.
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

/// Returns the replenishments of a line.
pub(crate) fn replenishments(pairs: &[(u64, u64)]) -> impl Iterator<Item = Replenishment> {
    pairs.iter().map(|&(at, amount)| Replenishment {
        at: Time::from_ns(at),
        amount: Duration::from_ns(amount),
    })
}
