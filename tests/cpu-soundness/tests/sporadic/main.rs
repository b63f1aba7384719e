// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the bounds for a processor with sporadic servers with its simulation: no response of a
//! task, or of the work behind a server, may exceed its bound.

mod compare;
mod disturbed;
mod generate;
mod patterns;
mod promises;
