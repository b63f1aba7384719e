// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The interface of a service to its store: a backend that moves clients' data.
//!
//! The same core runs on a device through io_uring ([`super::DeviceStore`]), on a simulated drive
//! in real time (`serve::SimulatedStore`), and on a store that records its operations for tests.

use tidegate_device::{DataRing, IoBuffer, IoError};
use tidegate_host::Backend;

/// A backend that gets the memory of each request's data with the request: the payload's first
/// `size` bytes are the data to write, or the buffer to read into.
pub trait DataBackend: Backend<Payload = IoBuffer, Fault = IoError> {
    /// Returns the ring that transfers the bytes of clients' sockets, on which the backend also
    /// waits; `None` if the service has no server.
    fn ring(&mut self) -> Option<&mut DataRing> {
        None
    }
}

/// A completed request, flush or trim.
pub(crate) type Returned = tidegate_host::Completion<IoBuffer, IoError>;
