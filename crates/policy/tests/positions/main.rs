// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Policies that know positions, driven by hand.

mod by_position;
#[path = "../common/plain.rs"]
mod common;
mod das;
