// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Feeds an arbitrary sequence of calls, faults and disconnections to a service in virtual time.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidegate_engine::harness::requests(bytes));
