// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A server for a thread of the running system, from user space: the thread has a
//! real-time priority while it is within its budget, and none otherwise.
//!
//! ```text
//!   raised, SCHED_FIFO --- budget used up ---> lowered, SCHED_OTHER or SCHED_IDLE
//!           ^                                           |
//!           +------------- replenishment ---------------+
//! ```
//!
//! The manager runs on the thread's processor, one priority above it. So whenever it checks, the
//! thread is not executing, and the kernel's account of its time is exact. The manager cannot see
//! when the thread unblocks. It checks again at the earliest time at which the budget could be used
//! up, and the thread cannot execute more than that in between. The execution until the budget is
//! used up, or until the thread has no work, counts as one interval that ends at that check. No ns
//! of it was executed later, so no budget is replenished too early.
//!
//! A polling server is simpler: the manager raises a thread that has work when a period begins, and
//! lowers it until the next one as soon as a check shows that it does not use its budget.
//!
//! [`Keeper`] and [`PollingKeeper`] contain the rules, with time passed in; [`serve()`] is the
//! thread that applies them.
//!
//! # Source
//! Stanovich, dissertation, chapter 6, which changes the kernel's scheduler instead.

mod keeper;
mod polling;
mod serve;
mod thread_keeper;
mod window;

pub use keeper::{Keeper, KeeperCounts, KeeperLimits, Order, Sample};
pub use polling::PollingKeeper;
pub use serve::{
    Background, NotPutBack, ThreadServerEnd, ThreadServerError, ThreadServerParams,
    ThreadServerReport, serve,
};
pub use thread_keeper::ThreadKeeper;
