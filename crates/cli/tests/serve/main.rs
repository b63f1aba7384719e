// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate serve`, `ctl` and `top` through the binary: what they refuse, what clients of NBD find,
//! and what becomes of them when something breaks.
//!
//! The tests that serve need nbdkit and the plugin beside the binary, others the tools of a client:
//! they say so and pass where one is missing (`scripts/tools.sh` installs them).

mod clients;
#[path = "../common/mod.rs"]
mod common;
mod crash;
mod ctl;
mod exports;
mod faults;
mod file_system;
mod limits;
mod nbd;
mod server;
mod supervisor;
