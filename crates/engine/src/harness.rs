// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Functions that fuzzers call with arbitrary bytes (`fuzz/`). The tests call them with the
//! committed seeds and with inputs that once failed, so that a regression shows without a fuzzer.

#[cfg(test)]
mod tests;

use crate::service::harness::requests;

/// Treats the bytes as a serve file.
///
/// # Panics
/// If a check fails; the other functions panic likewise.
pub fn serve_file(bytes: &[u8]) {
    crate::serve::harness::run(bytes).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Sends the bytes to the control socket.
pub fn control(bytes: &[u8]) {
    crate::control::harness::run(bytes).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Reads the bytes as a scenario: calls, faults and disconnections of a service's clients.
pub fn requests(bytes: &[u8]) {
    requests::run(bytes, requests::InjectedFaults::default())
        .unwrap_or_else(|fault| panic!("{fault}"));
}
