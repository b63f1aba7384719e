// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads arbitrary text as a serve file, then lays it out, binds and proves it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidegate_engine::harness::serve_file(bytes));
