// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Feeds arbitrary bytes to the control socket's protocol.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidegate_engine::harness::control(bytes));
