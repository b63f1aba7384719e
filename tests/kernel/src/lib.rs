// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the decisions of the kernel target, in C, with those of the policies, in Rust.
//!
//! Both sides get the same events and must make the same decision each time, whatever a device or
//! its users do. The tests use random streams and those of simulated workloads. Faults that are
//! planted in the C sources show that the tests can fail.

pub mod duel;
pub mod faults;
pub mod kernel_policy;
pub mod library;
pub mod random;
pub mod signs;
