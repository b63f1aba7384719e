// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Any bytes of a peer on the control socket.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidegate_engine::harness::control(bytes));
