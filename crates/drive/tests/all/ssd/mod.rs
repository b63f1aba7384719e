// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the solid-state drive, in one test crate, so that they share `common.rs` and
//! `host.rs`.

mod collecting;
mod common;
mod host;
mod prefill;
mod properties;
mod protocol;
mod published;
mod reads;
mod suspending;
mod writes;
