// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of a run in virtual time. One test crate, so that they share `common.rs`.

mod common;
mod refusals;
mod watch;
