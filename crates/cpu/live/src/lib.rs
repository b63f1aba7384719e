// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A sporadic server for a thread of the running system, from user space: the thread has a real-time
//! priority while it is within its budget, and none while it is not.
//!
//! ```text
//!   raised, SCHED_FIFO --- budget used up ---> lowered, SCHED_OTHER or SCHED_IDLE
//!           ^                                           |
//!           +------------- replenishment ---------------+
//! ```
//!
//! The manager runs on the processor of the thread, one priority above it. So whenever it looks, the
//! thread does not execute, and the kernel's account of its time is exact. It cannot see when the thread
//! unblocks; it looks again when the budget could be used up at the earliest, and no thread
//! executes more than that in between. What was executed until the budget is used up, or until the
//! thread has no work, counts as one stretch that ends at that look. No ns of it was executed later
//! than that, and so none comes back too early.
//!
//! [`Keeper`] is the rules, with time passed in; [`serve()`] is the thread that carries them out.
//!
//! # Source
//! Stanovich, dissertation, chapter 6: there the scheduler of the kernel is changed.

mod keeper;
mod serve;
mod window;

pub use keeper::{Keeper, KeeperCounts, KeeperLimits, Order, Sample};
pub use serve::{
    Background, NotPutBack, ThreadServerEnd, ThreadServerError, ThreadServerParams,
    ThreadServerReport, serve,
};
