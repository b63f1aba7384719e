// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The events of a run that an observer receives.

use tidegate_cpu_servers::{Server, ServerEvent, ServerStatus};
use tidegate_model::{Duration, Time};

/// A thread of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    /// A task, by its index in the workload.
    Task(usize),
    /// A server, by its index in the workload.
    Server(usize),
}

/// Observes a run; every method does nothing by default.
pub trait CpuObserver {
    /// Reports uninterrupted execution of a thread; `in_budget` is false for a server in the
    /// background.
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        let _ = (thread, from, to, in_budget);
    }

    /// Reports a completed job.
    fn completed(&mut self, thread: Thread, arrival: Time, now: Time) {
        let _ = (thread, arrival, now);
    }

    /// Reports stolen time.
    fn stolen(&mut self, from: Time, to: Time) {
        let _ = (from, to);
    }

    /// Reports an event of a server, and its status afterwards.
    fn observed(&mut self, call: &ServerCall<'_>) {
        let _ = call;
    }
}

/// An event that was passed to a server.
pub struct ServerCall<'a> {
    /// The server's index.
    pub index: usize,
    /// The instant.
    pub now: Time,
    /// The server's execution since the last call.
    pub executed: Duration,
    /// The event.
    pub event: ServerEvent,
    /// The server's status afterwards.
    pub status: ServerStatus,
    /// The server itself.
    pub server: &'a dyn Server,
}

impl CpuObserver for () {}

impl<A: CpuObserver, B: CpuObserver> CpuObserver for (A, B) {
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        self.0.executed(thread, from, to, in_budget);
        self.1.executed(thread, from, to, in_budget);
    }
    fn completed(&mut self, thread: Thread, arrival: Time, now: Time) {
        self.0.completed(thread, arrival, now);
        self.1.completed(thread, arrival, now);
    }
    fn stolen(&mut self, from: Time, to: Time) {
        self.0.stolen(from, to);
        self.1.stolen(from, to);
    }
    fn observed(&mut self, call: &ServerCall<'_>) {
        self.0.observed(call);
        self.1.observed(call);
    }
}

impl<O: CpuObserver + ?Sized> CpuObserver for &mut O {
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        (**self).executed(thread, from, to, in_budget);
    }
    fn completed(&mut self, thread: Thread, arrival: Time, now: Time) {
        (**self).completed(thread, arrival, now);
    }
    fn stolen(&mut self, from: Time, to: Time) {
        (**self).stolen(from, to);
    }
    fn observed(&mut self, call: &ServerCall<'_>) {
        (**self).observed(call);
    }
}
