// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Promises of a processor with sporadic servers against its simulation: no response of a task,
//! and none of the work behind a server, exceeds its bound.

mod disturbed;
mod generate;
mod patterns;
mod promises;
