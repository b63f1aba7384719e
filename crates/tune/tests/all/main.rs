// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the tuning of machines that are laid out in folders.

mod file_systems;
mod machine;
mod plans;
mod rules;
mod services;
mod tune;
