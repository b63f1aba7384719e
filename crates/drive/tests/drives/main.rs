// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the simulated drives, one file for each source file. One test crate, so that
//! they share `common.rs`.

mod amortised;
mod build;
mod builtin;
mod common;
mod pseudo;
mod recorded;
