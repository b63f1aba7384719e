// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Any sequence of calls, faults and departures on a service in virtual time.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidegate_engine::harness::requests(bytes));
