// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Opens real block devices and files so that requests reach the medium, identifies them, and
//! executes requests with io_uring.
//!
//! [`Target`] refuses a device or file that would be served from memory or could lose data, and
//! says why. [`Ring`] submits batches, each with one system call. Other modules read the device's
//! temperature, its other users and the load of other programs.
//!
//! The workspace keeps its unsafe code here, in `tidegate_platform` and in the C interface; each
//! unsafe block states why it is sound.

mod buffers;
pub mod create;
mod data_ring;
mod direct_io;
pub mod facts;
mod file_system;
pub mod in_use;
mod io_buffer;
pub mod io_priority;
pub mod layer;
mod lease;
pub mod load;
mod loops;
mod memory_file;
mod mounts;
mod mpsc_stack;
mod note;
mod open_error;

pub mod ring;
mod ring_core;
mod ring_error;
mod ring_limits;
mod socket;
mod store;
mod sysfs;
pub mod target;
pub mod temperature;
mod uring;
mod waker;
mod zeroes;

pub use data_ring::{DataRing, Moved, Transfer};
pub use facts::{DeviceFacts, Splitting, WriteCache};
pub use io_buffer::IoBuffer;
pub use layer::{Layer, Nature};
pub use memory_file::memory_file;
pub use mounts::Mount;
pub use mpsc_stack::MpscStack;
pub use note::Note;
pub use open_error::OpenError;
pub use ring::{Completion, Io, IoClass, Ring, RingSetup, Wake};
pub use ring_error::{IoError, RingError};
pub use socket::{Delivered, Message, Pace, Receive, Send, Socket};
pub use store::open_store;
pub use sysfs::DeviceNumber;
pub use target::{Access, Target};
pub use temperature::Temperature;
pub use waker::Waker;
pub use zeroes::read_with_zeroes;
