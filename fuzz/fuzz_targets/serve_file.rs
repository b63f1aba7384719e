// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Any text as a serve file: read, laid out, bound, proved.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidegate_engine::harness::serve_file(bytes));
