// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Imports drives from DiskSim's parameter files: which files are used, how their figures are
//! converted, real files if present, and invalid texts.

mod common;
mod figures;
mod hostile;
#[path = "../../../drive/tests/all/mechanical/layout_checks.rs"]
mod layout_checks;
mod layouts;
mod real;
mod real_layouts;
mod resolution;
mod seeks;
