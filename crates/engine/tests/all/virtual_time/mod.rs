// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a run behaves as specified in virtual time. Method: one test crate, which shares
//! `common.rs`.

mod common;
mod refusals;
mod watch;
