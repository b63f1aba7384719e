// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate serve`, `ctl` and `top` serve clients of NBD, refuse wrong input, and survive
//! faults. Method: the binary with real clients.
//!
//! Some tests need clients' tools: such a test prints the reason and passes if one is missing
//! (`scripts/tools.sh` installs them).

mod at_socket;
mod attacks;
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
mod requests;
mod server;
mod stores;
