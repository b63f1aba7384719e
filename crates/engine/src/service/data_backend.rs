// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a service needs of the store under it: a back end that moves clients' data.
//!
//! A device on io_uring ([`super::DeviceStore`]), a simulated drive in real time
//! (`serve::SimulatedStore`) or a recorder of a test: the same core runs on each.

use tidegate_device::{IoBuffer, IoError};
use tidegate_host::Backend;

/// A back end whose requests bring the memory of their data: the first `size` bytes of the payload
/// are what is written, or where to what is read goes.
pub trait DataBackend: Backend<Payload = IoBuffer, Fault = IoError> {}

impl<B: Backend<Payload = IoBuffer, Fault = IoError>> DataBackend for B {}

/// A request, flush or trim that a store is done with.
pub(crate) type Returned = tidegate_host::Completion<IoBuffer, IoError>;
