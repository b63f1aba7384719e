// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All integration tests, in one program.

mod conformance;
mod plans;
mod portable;
mod signs;
mod simulated;
