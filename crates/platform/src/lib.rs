// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Facts about the machine from Linux: the clock, threads and their scheduling, interrupts, and the
//! time that hypervisors and other threads take.
//!
//! This crate is separate from the code for block devices, so that processor servers need no disk
//! code.

pub mod affinity;
pub mod clock;
pub mod identity;
pub mod interrupts;
pub mod new_file;
pub mod privileges;
pub mod realtime;
pub mod run_delay;
pub mod scheduling;
pub mod steal;
pub mod terminal;
pub mod text_file;
pub mod threads;

pub use clock::Clock;
pub use new_file::{FileFault, NewFile};
pub use run_delay::RunDelay;
pub use scheduling::Scheduling;
pub use threads::ThreadId;
