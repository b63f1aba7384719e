// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What fuzzers call with any bytes (`fuzz/`). The tests call the same with the committed seeds,
//! and with what once broke, so that a later break is seen without a fuzzer.

#[cfg(test)]
mod tests;

use crate::service::harness::requests;

/// A serve file.
///
/// # Panics
/// When something is not as it must be; so do the others.
pub fn serve_file(bytes: &[u8]) {
    crate::serve::harness::run(bytes).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Bytes of a peer on the control socket.
pub fn control(bytes: &[u8]) {
    crate::control::harness::run(bytes).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Calls, faults and departures of a service's clients.
pub fn requests(bytes: &[u8]) {
    requests::run(bytes, requests::Sabotage::default()).unwrap_or_else(|fault| panic!("{fault}"));
}
