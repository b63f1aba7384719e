// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Drives from DiskSim's parameter files: which files are used, what becomes of their
//! figures, real files where there are any, and texts that nobody should have written.

mod common;
mod figures;
mod hostile;
mod layouts;
mod real;
mod resolution;
mod seeks;
