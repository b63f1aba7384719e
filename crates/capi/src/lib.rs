// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The engine for C programs: open, admit, submit, await, notice.
//!
//! The header `include/tidegate.h` is the manual. It is generated from the comments of this crate:
//! `TIDEGATE_BLESS=1 cargo test -p tidegate-capi --test header` regenerates it.
//!
//! ```text
//!   engine    open, close, ask: requests of the control socket, as JSON
//!   export    find, free, describe, notice
//!   transfer  read, write, zero, flush; submit, await
//!   fault     why this thread's last failed call failed
//! ```

mod engine;
mod export;
mod fault;
mod transfer;

pub use crate::engine::*;
pub use crate::export::*;
pub use crate::fault::*;
pub use crate::transfer::*;

/// An allocator without a lock that threads share: the service's thread must never wait for a
/// client's thread that was preempted during an allocation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
