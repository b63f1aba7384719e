// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the simulated drives, with one file for each source file, in one test crate, so that
//! they share `common.rs`.

mod amortised;
mod build;
mod builtin;
mod common;
mod data_sheet;
mod pseudo;
mod recorded;
mod stale;
