// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Imports drives from DiskSim's parameter files: which files are used, what becomes of their
//! figures, real files if present, and invalid texts.

mod common;
mod figures;
mod hostile;
mod layouts;
mod real;
mod resolution;
mod seeks;
