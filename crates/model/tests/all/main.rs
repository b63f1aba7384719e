// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All tests of this crate, as one program: it is linked once, and its tests share the cores.

mod arrivals;
mod batch_cost;
mod common;
mod contracts;
mod cost;
mod drive_file;
mod mechanics;
mod parameters;
mod places;
mod premises;
mod serve_file;
mod sources;
mod ssd;
mod workload_file;
