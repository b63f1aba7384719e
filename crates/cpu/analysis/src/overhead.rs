// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of context switches, charged to the thread that causes them.
//!
//! Each time a thread takes the processor, it spends one switch. A job takes the processor once to
//! start, and once more after each job that preempted it; the preempting job is charged for that
//! second switch. So a job costs others its execution and two switches, and costs itself only one
//! switch (docs/theory/processors.md section 18).

use tidegate_model::Duration;

/// Returns a task's execution as its own response time counts it; `None` on overflow.
pub(super) fn own(execution: Duration, switch: Duration) -> Option<Duration> {
    execution.checked_add(switch)
}

/// Returns a task's execution as it delays others; `None` on overflow.
pub(super) fn to_others(execution: Duration, switch: Duration) -> Option<Duration> {
    execution.checked_add(switch.checked_mul(2)?)
}

/// Returns the processor time that one activation of a server takes from other threads in addition
/// to its budget, if preemptions are charged to the budget; `None` on overflow.
///
/// An activation that preempts pays `charge` of its two switches. One that does not preempt costs
/// its own switch, like any thread that starts or resumes after a preemption.
pub(super) fn of_activation(switch: Duration, charge: Duration) -> Option<Duration> {
    let two = switch.checked_mul(2)?;
    // A charge of more than two switches is lost to the server; no other thread gains it.
    let unpaid = two.checked_sub(charge).unwrap_or_default();
    Some(unpaid.max(switch))
}
