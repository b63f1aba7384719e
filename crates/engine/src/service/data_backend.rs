// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The interface of a service to its store: a backend that moves clients' data.
//!
//! The same core runs on a device through io_uring ([`super::DeviceStore`]), on a simulated drive
//! in real time (`serve::SimulatedStore`), and on a test's recorder.

use tidegate_device::{DataRing, IoBuffer, IoError};
use tidegate_host::Backend;

/// A backend whose requests own the memory of their data: the payload's first `size` bytes are the
/// data to write, or the buffer to read into.
pub trait DataBackend: Backend<Payload = IoBuffer, Fault = IoError> {
    /// Returns the ring that moves the bytes of clients' sockets, on which the backend also waits;
    /// `None` if the service has no server.
    fn ring(&mut self) -> Option<&mut DataRing> {
        None
    }
}

/// A completed request, flush or trim.
pub(crate) type Returned = tidegate_host::Completion<IoBuffer, IoError>;
