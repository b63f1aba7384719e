// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Models of Linux I/O schedulers, for comparison with the proven policies.
//!
//! Each model follows the scheduler's documentation and the reports of RTAS'08 section 4 and the
//! dissertation (8.4, 9.3.4), and lists its omissions. None merges requests: a source here asks for
//! its data in one request. Only `mq-deadline-tuned` has a bound.

mod bfq_strict;
mod cfq;
mod cfq_grouped;
mod deadline;
mod deadline_drain;
mod expiring;
mod filling;
mod mq_deadline;
mod mq_deadline_tuned;
mod room;
mod sorted;

pub use bfq_strict::BfqStrict;
pub use cfq::Cfq;
pub use cfq_grouped::CfqGrouped;
pub use deadline::Deadline;
pub use deadline_drain::DeadlineDrain;
pub use mq_deadline::MqDeadline;
pub use mq_deadline_tuned::MqDeadlineTuned;
