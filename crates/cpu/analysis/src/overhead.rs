// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What context switches cost, charged to whoever causes them.
//!
//! Whoever takes the processor spends one switch. A job takes it once by itself, and once more for
//! each job that preempted it: the second is charged to the job that preempts. So a job costs
//! others its execution and two switches, and itself one (docs/theory/processors.md section 18).

use tidegate_model::Duration;

/// A task's execution as its own response time counts it; none on overflow.
pub(super) fn own(execution: Duration, switch: Duration) -> Option<Duration> {
    execution.checked_add(switch)
}

/// A task's execution as it delays others; none on overflow.
pub(super) fn to_others(execution: Duration, switch: Duration) -> Option<Duration> {
    execution.checked_add(switch.checked_mul(2)?)
}

/// What one activation of a server costs others beside its budget, if preemptions are charged to
/// the budget; none on overflow.
///
/// An activation that preempts pays `charge` of its two switches; one that does not costs its own
/// switch, as who executes after it was preempted by others or starts.
pub(super) fn of_activation(switch: Duration, charge: Duration) -> Option<Duration> {
    let two = switch.checked_mul(2)?;
    // What a charge exceeds two switches by is the server's loss and nobody's gain.
    let unpaid = two.checked_sub(charge).unwrap_or_default();
    Some(unpaid.max(switch))
}
