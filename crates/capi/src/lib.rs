// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The engine for programs in C: open, admit, submit, await, notice.
//!
//! Its manual is the header, `include/tidegate.h`, which is made from the comments here:
//! `TIDEGATE_BLESS=1 cargo test -p tidegate-capi --test header` makes it anew.
//!
//! ```text
//!   engine    open, close, ask: what the control socket answers, as JSON
//!   export    find, free, describe, notice
//!   transfer  read, write, zero, flush; submit, await
//!   fault     what the last call of this thread failed from
//! ```

mod engine;
mod export;
mod fault;
mod transfer;

pub use crate::engine::*;
pub use crate::export::*;
pub use crate::fault::*;
pub use crate::transfer::*;

/// Memory without a lock between threads: the service's thread must not wait for one of a client's
/// that stopped in the middle of an allocation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
