// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of commands on devices and files, as one program: it is linked once, and its tests share
//! the processors.

mod attach;
#[path = "../common/mod.rs"]
mod common;
mod cpu_profile;
mod device;
mod interrupted;
mod profile;
mod profile_added;
mod profile_json;
mod python;
