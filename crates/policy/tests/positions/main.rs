// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the policies that know positions.

mod by_position;
#[path = "../common/mod.rs"]
mod common;
mod das;
#[path = "../common/task.rs"]
mod task;
