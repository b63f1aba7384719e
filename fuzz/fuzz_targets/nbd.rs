// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Feeds arbitrary bytes to the server half of the NBD protocol, cut anywhere.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = tidegate_nbd::harness::run(bytes) {
        panic!("{wrong}");
    }
});
