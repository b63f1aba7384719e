// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers to drive a policy by hand: short names, and scripts.

pub(crate) mod plain;
pub(crate) mod script;
pub(crate) mod task;
